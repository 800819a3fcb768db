"""One HTTP exchange with the API server, with every fault translated.

Requests are named by method and path in messages; headers, which hold the token, never are.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import orjson
import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as HttpTimeoutError

from webhook.cluster.errors import ApiStatusError, ClusterUnavailableError, status_error
from webhook.cluster.official_client import Transport

CONNECT_SECONDS = 10.0
READ_BYTES = 64 * 1024
JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked; `body` is what JSON can say, None for no body."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    content_type: str = JSON_TYPE
    may_compress: bool = True

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def open_response(
    transport: Transport, request: Request, idle_seconds: float
) -> urllib3.BaseHTTPResponse:
    """Send the request and read the head of the answer, whatever its status.

    `idle_seconds` bounds each wait for bytes. Raises ClusterUnavailableError.
    """
    headers = transport.headers()
    headers["Accept-Encoding"] = "gzip" if request.may_compress else "identity"
    if request.body is not None:
        headers["Content-Type"] = request.content_type
    query = f"?{urlencode(request.query)}" if request.query else ""
    try:
        return transport.pool.request(
            request.method,
            transport.url + request.path + query,
            headers=headers,
            body=None if request.body is None else orjson.dumps(request.body),
            timeout=urllib3.Timeout(min(CONNECT_SECONDS, idle_seconds), idle_seconds),
            retries=False,
            redirect=False,
            preload_content=False,
        )
    except (HTTPError, OSError) as error:
        raise _unavailable(request, error) from error


def pieces(request: Request, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """The body as it comes. Raises ClusterUnavailableError when it is cut or pauses too long."""
    try:
        yield from response.stream(READ_BYTES, decode_content=True)
    except (HTTPError, OSError) as error:
        raise _unavailable(request, error) from error


def whole_body(request: Request, response: urllib3.BaseHTTPResponse, deadline: float) -> bytearray:
    """The complete body, before `deadline` of the steady clock. Raises ClusterUnavailableError.

    Afterwards the connection serves the next request, unless the body is not complete.
    """
    body = bytearray()
    is_complete = False
    try:
        for piece in pieces(request, response):
            body += piece
            if time.monotonic() > deadline:
                break
        else:
            is_complete = True
    finally:
        if is_complete:
            response.release_conn()
        else:
            response.close()
    if not is_complete:
        raise ClusterUnavailableError(
            f"{request}: the answer did not end in time; check the network and the server's load"
        )
    return body


def refusal(
    request: Request, response: urllib3.BaseHTTPResponse, deadline: float
) -> ApiStatusError:
    """The error that an answer with an error status means. Raises ClusterUnavailableError."""
    text = whole_body(request, response, deadline)
    try:
        answer: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        answer = {"message": text[:200].decode(errors="replace").strip()}
    wait = response.headers.get("Retry-After", "")
    is_seconds = wait.isascii() and wait.isdecimal() and len(wait) < 6
    return status_error(str(request), response.status, answer, float(wait) if is_seconds else None)


def _unavailable(request: Request, error: Exception) -> ClusterUnavailableError:
    match error:
        case SSLError():
            what = "TLS failed; check the certificate authority and the server's name"
        case HttpTimeoutError() if not isinstance(error, NewConnectionError):
            what = "no answer in time; check the network and the server's load"
        case _:
            what = "the connection failed; check the address, the network and that the server runs"
    return ClusterUnavailableError(f"{request}: {what} ({error})")
