"""The events of one watch, as they come, until it ends or is closed.

The server writes one JSON object per line. A line that is cut off, because the connection was, is an
error and never an event: whoever watches resumes after the last whole one.
"""

from collections.abc import Iterable, Iterator
from typing import cast

import orjson
import urllib3

from policies.raw import JsonObject
from webhook.cluster.errors import ClusterUnavailableError, UnreadableAnswerError, status_error

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""Far above the few MiB that etcd takes for one object."""


class EventStream:
    """Iterates over the events `{"type", "object"}`; BOOKMARK events are among them.

    Iterating ends when the server ends the watch in good order, as it does after its time, or after
    `close`. It raises the matching ApiStatusError for an ERROR event, ClusterUnavailableError when the
    connection is cut or stays silent, and UnreadableAnswerError for what is no event.
    """

    def __init__(
        self, request: str, response: urllib3.BaseHTTPResponse, pieces: Iterable[bytes]
    ) -> None:
        self._request = request
        self._response = response
        self._pieces = pieces
        self._is_closed = False

    def __iter__(self) -> Iterator[JsonObject]:
        try:
            for line in self._lines():
                event = self._event(line)
                if self._is_closed:
                    return
                yield event
        except (ClusterUnavailableError, UnreadableAnswerError):
            if not self._is_closed:
                raise
        finally:
            self._response.close()

    def close(self) -> None:
        """End the watch, from any thread; one that waits for the next event is woken."""
        self._is_closed = True
        try:
            self._response.shutdown()
        except (ValueError, RuntimeError, OSError):
            return  # it has ended already

    def _lines(self) -> Iterator[bytes]:
        pending = b""
        for piece in self._pieces:
            *lines, pending = (pending + piece).split(b"\n")
            yield from (line for line in lines if line)
            if len(pending) > MAX_EVENT_BYTES:
                raise UnreadableAnswerError(
                    f"{self._request}: an event has more than {MAX_EVENT_BYTES} bytes"
                )
        if pending:
            raise ClusterUnavailableError(
                f"{self._request}: the connection was cut in the middle of an event; "
                "watch again from the last whole one"
            )

    def _event(self, line: bytes) -> JsonObject:
        try:
            event = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UnreadableAnswerError(f"{self._request}: a line is not JSON: {error}") from error
        if not isinstance(event, dict) or not isinstance(event.get("object"), dict):
            raise UnreadableAnswerError(f"{self._request}: a line is not a watch event")
        if event.get("type") == "ERROR":
            raise status_error(self._request, 500, event["object"])
        return cast("JsonObject", event)
