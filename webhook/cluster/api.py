"""Requests to the API server: raw JSON in and out, over the official client's transport.

One instance serves several threads. Every request has a limit in time, none is repeated here (whoever asks
knows whether that is right), and whatever fails is a ClusterError that names method and path.
"""

import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import cast

import orjson

from policies.raw import JsonObject, object_at, string_at
from webhook.cluster.errors import UnreadableAnswerError
from webhook.cluster.event_stream import EventStream
from webhook.cluster.exchange import Request, open_response, pieces, refusal, whole_body
from webhook.cluster.official_client import Kubeconfig, Transport, transport_of

Query = Mapping[str, str]

REQUEST_SECONDS = 30.0
PAGE_SIZE = 500
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class KubeApi:
    """A client of one API server. Paths are absolute and already escaped, such as `/api/v1/nodes`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @staticmethod
    def connect(kubeconfig: Kubeconfig, context: str | None = None) -> "KubeApi":
        """A client for a kubeconfig's cluster; None means the cluster in which this process runs.

        Sends nothing yet. Raises ClusterSettingsError.
        """
        return KubeApi(transport_of(kubeconfig, context))

    def server_version(self) -> str:
        """The API server's gitVersion, such as `v1.30.4-vke.3`. Raises ClusterError."""
        version = self.get("/version").get("gitVersion")
        if not isinstance(version, str) or not version:
            raise UnreadableAnswerError("GET /version: the answer has no gitVersion")
        return version

    def get(
        self, path: str, query: Query | None = None, *, timeout_seconds: float = REQUEST_SECONDS
    ) -> JsonObject:
        """The object at `path`, within the limit for the whole answer. Raises ClusterError."""
        return self._send(Request("GET", path, query or {}), timeout_seconds)

    def pages(
        self,
        path: str,
        query: Query | None = None,
        *,
        page_size: int = PAGE_SIZE,
        timeout_seconds: float = REQUEST_SECONDS,
    ) -> Iterator[JsonObject]:
        """The list at `path`, page by page, all of one resource version; the limit is for each page.

        Raises ClusterError. A GoneError between pages means that the list has become too old while it
        was read: the caller drops the pages it has and begins again.
        """
        asked = {**(query or {}), "limit": str(page_size)}
        while True:
            page = self.get(path, asked, timeout_seconds=timeout_seconds)
            yield page
            token = string_at(object_at(page, "metadata", ""), "continue", "metadata")
            if not token:
                return
            if token == asked.get("continue"):
                raise UnreadableAnswerError(f"GET {path}: the list does not go on after a page")
            asked["continue"] = token

    def watch(
        self,
        path: str,
        resource_version: str,
        *,
        query: Query | None = None,
        timeout_seconds: int,
        idle_seconds: float,
    ) -> EventStream:
        """What happens to the list at `path` after `resource_version`, with bookmarks.

        The server ends the watch after `timeout_seconds`; nothing at all for `idle_seconds` is an error.
        Raises ClusterError, at once or while iterating; GoneError when the version is too old.
        """
        asked = {
            **(query or {}),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_seconds),
        }
        request = Request("GET", path, asked, may_compress=False)
        response = open_response(self._transport, request, idle_seconds)
        if response.status != HTTPStatus.OK:
            raise refusal(request, response, time.monotonic() + REQUEST_SECONDS)
        return EventStream(f"watch {path}", response, pieces(request, response))

    def patch(
        self, path: str, body: object, content_type: str, query: Query | None = None
    ) -> JsonObject:
        """Change the object at `path`; `content_type` is one of the *_PATCH constants. Returns it."""
        return self._send(Request("PATCH", path, query or {}, body, content_type))

    def create(self, path: str, body: JsonObject, query: Query | None = None) -> JsonObject:
        """Create an object in the collection at `path`. Returns it. Raises ClusterError."""
        return self._send(Request("POST", path, query or {}, body))

    def replace(self, path: str, body: JsonObject, query: Query | None = None) -> JsonObject:
        """Replace the object at `path`; its resourceVersion makes a ConflictError of a lost race."""
        return self._send(Request("PUT", path, query or {}, body))

    def delete(self, path: str, query: Query | None = None) -> JsonObject:
        """Delete the object at `path`. Returns the object or a Status. Raises ClusterError."""
        return self._send(Request("DELETE", path, query or {}))

    def _send(self, request: Request, timeout_seconds: float = REQUEST_SECONDS) -> JsonObject:
        deadline = time.monotonic() + timeout_seconds
        response = open_response(self._transport, request, timeout_seconds)
        if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            raise refusal(request, response, deadline)
        try:
            answer = orjson.loads(whole_body(request, response, deadline))
        except orjson.JSONDecodeError as error:
            raise UnreadableAnswerError(
                f"{request}: the answer is not JSON: {error}; check that the address is an API server's"
            ) from error
        if not isinstance(answer, dict):
            raise UnreadableAnswerError(f"{request}: the answer is not an object")
        return cast("JsonObject", answer)
