"""The hot routes as plain ASGI callables: check the head, read the body, answer.

There is no middleware and no request object on this path, and a thread only where the API server must be
asked. A request that is refused
before its body was read is told so at once; then the rest of its body is drained for a moment, or the
reset of the connection could overtake the answer.
"""

import asyncio
from contextlib import suppress
from http import HTTPStatus

from starlette.types import Receive, Scope, Send

from webhook.body import BodyRefusedError, ClientDisconnectedError, Intake, check_size
from webhook.metrics import Metrics
from webhook.responder import JSON, TEXT, Reply, Responder

IDENTITY = b"identity"
DRAIN_SECONDS = 2.0
DRAIN_BYTES = 64 * 1024 * 1024


class HookEndpoint:
    """`POST` of an AdmissionReview to one hook."""

    def __init__(self, responder: Responder, intake: Intake, metrics: Metrics) -> None:
        self._responder = responder
        self._intake = intake
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            check_head(scope)
            body = await self._intake.read(receive)
        except ClientDisconnectedError:
            self._metrics.bad_requests.increment("disconnect")
        except BodyRefusedError as refusal:
            self._metrics.bad_requests.increment(refusal.reason)
            await _refuse(refusal, scope, receive, send)
        else:
            await _send(await self._responder.reply(body), send)


def check_head(scope: Scope) -> None:
    """Raises BodyRefusedError for another method, type or encoding, or a length that is too large."""
    if scope["method"] != "POST":
        raise BodyRefusedError(
            HTTPStatus.METHOD_NOT_ALLOWED,
            "method",
            f"the method must be POST, it is {scope['method']}",
        )
    content_type: bytes | None = None
    for name, value in scope["headers"]:
        if name == b"content-type":
            content_type = value
        elif name == b"content-encoding":
            _check_encoding(value)
        elif name == b"content-length" and value.isdigit():
            check_size(int(value))
    _check_type(content_type)


def _check_encoding(encoding: bytes) -> None:
    if encoding.strip().lower() not in {b"", IDENTITY}:
        raise BodyRefusedError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "content-encoding",
            f"the content encoding must be identity, it is {_quoted(encoding)}",
        )


def _check_type(content_type: bytes | None) -> None:
    if content_type == JSON:
        return
    if content_type is None or content_type.split(b";")[0].strip().lower() != JSON:
        told = "absent" if content_type is None else _quoted(content_type)
        raise BodyRefusedError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "content-type",
            f"the content type must be application/json, it is {told}",
        )


def _quoted(value: bytes) -> str:
    return ascii(value[:80])[1:]


async def _send(reply: Reply, send: Send) -> None:
    headers = [
        (b"content-type", reply.content_type),
        (b"content-length", str(len(reply.body)).encode("ascii")),
    ]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


async def _refuse(refusal: BodyRefusedError, scope: Scope, receive: Receive, send: Send) -> None:
    line = f"{refusal}\n".encode()
    headers = [
        (b"content-type", TEXT),
        (b"content-length", str(len(line)).encode("ascii")),
        (b"connection", b"close"),
    ]
    if refusal.status is HTTPStatus.METHOD_NOT_ALLOWED:
        headers.append((b"allow", b"POST"))
    if refusal.status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": refusal.status.value, "headers": headers})
    await send({"type": "http.response.body", "body": line, "more_body": True})
    if not refusal.is_read and (b"expect", b"100-continue") not in scope["headers"]:
        await _drain(receive)
    await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    """Discard what the client still sends, for a moment; its first read will be the answer."""
    left = DRAIN_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
