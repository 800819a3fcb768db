"""Calls an ASGI application without a server, message by message."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Scope

JSON_HEADERS = ((b"content-type", b"application/json"),)


@dataclass(frozen=True, slots=True)
class Received:
    """What the application sent; status 0 when it sent nothing."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Exchange:
    """One request whose messages the test gives, and what the application sends for it."""

    def __init__(
        self,
        path: str = "/validate",
        *,
        method: str = "POST",
        headers: Iterable[tuple[bytes, bytes]] = JSON_HEADERS,
    ) -> None:
        self.scope: Scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": list(headers),
            "http_version": "1.1",
            "scheme": "https",
            "server": ("127.0.0.1", 8443),
            "client": ("127.0.0.1", 50000),
        }
        self.incoming: asyncio.Queue[Message] = asyncio.Queue()
        self.waiting = asyncio.Event()
        self.sent: list[Message] = []

    def give(self, body: bytes, *, more: bool = False) -> "Exchange":
        """One message with a part of the body."""
        self.incoming.put_nowait({"type": "http.request", "body": body, "more_body": more})
        return self

    def disconnect(self) -> "Exchange":
        """The client goes away."""
        self.incoming.put_nowait({"type": "http.disconnect"})
        return self

    async def receive(self) -> Message:
        """The next message; `waiting` is set while there is none."""
        if self.incoming.empty():
            self.waiting.set()
        return await self.incoming.get()

    async def send(self, message: Message) -> None:
        """Keep what the application sends."""
        self.sent.append(message)

    async def run(self, app: ASGIApp) -> Received:
        """Let the application answer."""
        await app(self.scope, self.receive, self.send)
        return self.received

    @property
    def received(self) -> Received:
        """What was sent until now."""
        starts = [m for m in self.sent if m["type"] == "http.response.start"]
        body = b"".join(m["body"] for m in self.sent if m["type"] == "http.response.body")
        if not starts:
            return Received(0, {}, body)
        return Received(starts[0]["status"], dict(starts[0]["headers"]), body)


def post(app: ASGIApp, path: str, body: bytes) -> Received:
    """The answer to one JSON body."""

    async def run() -> Received:
        return await Exchange(path).give(body).run(app)

    return asyncio.run(run())
