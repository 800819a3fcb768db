"""Reads a request body within limits of size, time and memory.

At most 256 bodies are read at once. One of more than 256 KiB holds one of eight places, so that all
bodies together never take more than 136 MiB: small requests, nearly all there are, go on when
somebody sends large ones.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from starlette.types import Receive

MAX_BODY_BYTES = 9 * 1024 * 1024
"""Three objects (new, old, options) of 3 MiB, the API server's own limit for a request body."""
LARGE_BODY_BYTES = 256 * 1024
MAX_LARGE_BODIES = 8
MAX_BODIES = 256
BODY_SECONDS = 8.0
"""Below the time that a stopping server waits for requests, so that a slow one still gets its answer."""


class BodyRefusedError(Exception):
    """A body that is not taken: the status, a short reason for the metric and a line for the sender.

    `is_read` says that nothing more of the body will come.
    """

    def __init__(
        self, status: HTTPStatus, reason: str, line: str, *, is_read: bool = False
    ) -> None:
        super().__init__(line)
        self.status = status
        self.reason = reason
        self.is_read = is_read


class ClientDisconnectedError(Exception):
    """The client went away before the body was complete; nobody waits for an answer."""


class Intake:
    """How many bodies are being read by this process."""

    def __init__(
        self,
        *,
        max_bodies: int = MAX_BODIES,
        max_large: int = MAX_LARGE_BODIES,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._places = max_bodies
        self._large_places = max_large
        self._body_seconds = body_seconds

    async def read(self, receive: Receive) -> bytes:
        """The whole body. Raises BodyRefusedError and ClientDisconnectedError."""
        with self._place():
            try:
                async with asyncio.timeout(self._body_seconds):
                    return await self._read(receive)
            except TimeoutError as error:
                raise BodyRefusedError(
                    HTTPStatus.REQUEST_TIMEOUT,
                    "timeout",
                    f"the body did not arrive within {self._body_seconds:g} seconds",
                ) from error

    async def _read(self, receive: Receive) -> bytes:
        first, has_more = await _next(receive)
        if not has_more:
            return _whole(first)
        chunks, size = [first], len(first)
        while has_more and size <= LARGE_BODY_BYTES:
            chunk, has_more = await _next(receive)
            chunks.append(chunk)
            size += len(chunk)
        if not has_more:
            return b"".join(chunks)
        with self._large_place():
            while has_more and size <= MAX_BODY_BYTES:
                chunk, has_more = await _next(receive)
                chunks.append(chunk)
                size += len(chunk)
            check_size(size, is_read=not has_more)
            return b"".join(chunks)

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self._places == 0:
            raise _busy()
        self._places -= 1
        try:
            yield
        finally:
            self._places += 1

    @contextmanager
    def _large_place(self) -> Iterator[None]:
        if self._large_places == 0:
            raise _busy()
        self._large_places -= 1
        try:
            yield
        finally:
            self._large_places += 1


def check_size(size_bytes: int, *, is_read: bool = False) -> None:
    """Raises BodyRefusedError when a body of this size is too large."""
    if size_bytes > MAX_BODY_BYTES:
        raise BodyRefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too-large",
            f"the body is larger than {MAX_BODY_BYTES} bytes (9 MiB)",
            is_read=is_read,
        )


def _whole(body: bytes) -> bytes:
    check_size(len(body), is_read=True)
    return body


async def _next(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnectedError
    return message.get("body", b""), message.get("more_body", False)


def _busy() -> BodyRefusedError:
    return BodyRefusedError(
        HTTPStatus.SERVICE_UNAVAILABLE, "busy", "too many requests at once: try again"
    )
