"""The HTTP side of the stand-in: lists in pages, watches, single nodes, and scripted answers."""

import contextlib
import json
import sys
from bisect import bisect_right
from collections.abc import Mapping
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
from typing import cast
from urllib.parse import parse_qsl, urlsplit

from tests.builders import Object
from tests.webhook.cluster.cluster_state import ClusterState
from tests.webhook.cluster.wire import GONE_EVENT, Scripted, status_object

NODES = "/api/v1/nodes"
WAIT_SECONDS = 30.0


class Server(ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has left is no news; anything else is."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    """Answers from a state that a derived class names."""

    protocol_version = "HTTP/1.1"
    api: ClusterState

    def setup(self) -> None:
        super().setup()
        self.api.connections.add(self.connection)

    def finish(self) -> None:
        self.api.connections.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def do_GET(self) -> None:
        path, query = self._split()
        if path == "/version":
            self._object(200, {"gitVersion": self.api.version})
        elif path != NODES:
            self._get_one(path)
        else:
            with self.api.changed:
                self.api.queries.append(query)
                scripts = self.api.next_watches if "watch" in query else self.api.next_lists
                script = scripts.popleft() if scripts else None
                self.api.changed.notify_all()
            if script is not None:
                self._play(script)
            elif "watch" in query:
                self._watch(int(query["resourceVersion"]))
            else:
                self._list(query)

    def do_POST(self) -> None:
        raw = self._body()
        path, _ = self._split()
        if path != NODES:
            self._object(403, status_object(403, "Forbidden", "only nodes"))
        elif str(cast("Object", raw["metadata"])["name"]) in self.api.nodes:
            self._object(409, status_object(409, "AlreadyExists", "already exists"))
        else:
            self._object(201, self.api.put(raw))

    def do_PUT(self) -> None:
        self._change(self._body())

    def do_PATCH(self) -> None:
        """A merge patch of labels, which is all that the tests send."""
        path, _ = self._split()
        patch = self._body()
        raw = deepcopy(self.api.nodes[path.rpartition("/")[2]])
        metadata = cast("dict[str, dict[str, object]]", raw["metadata"])
        new = cast("dict[str, dict[str, object]]", patch["metadata"]).get("labels", {})
        metadata["labels"] = {**metadata.get("labels", {}), **new}
        self._object(200, self.api.put(raw))

    def do_DELETE(self) -> None:
        path, _ = self._split()
        self._object(200, self.api.remove(path.rpartition("/")[2]))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        """Keep the terminal clean."""

    def _change(self, raw: Object) -> None:
        metadata = cast("Object", raw["metadata"])
        old = cast("Object", self.api.nodes[str(metadata["name"])]["metadata"])
        if metadata.get("resourceVersion", old["resourceVersion"]) != old["resourceVersion"]:
            self._object(409, status_object(409, "Conflict", "the object has been modified"))
        else:
            self._object(200, self.api.put(raw))

    def _get_one(self, path: str) -> None:
        raw = self.api.nodes.get(path.removeprefix(f"{NODES}/"))
        if raw is None:
            self._object(404, status_object(404, "NotFound", f"{path} not found"))
        else:
            self._object(200, raw)

    def _list(self, query: Mapping[str, str]) -> None:
        with self.api.changed:
            start, revision = (
                int(x) for x in query.get("continue", f"0.{self.api.revision}").split(".")
            )
            if "continue" in query and revision < self.api.compacted:
                self._object(410, status_object(410, "Expired", "the continue token is too old"))
                return
            found = [raw for _, raw in sorted(self.api.nodes.items()) if _selected(raw, query)]
            end = start + int(query.get("limit", len(found) or 1))
            metadata = {"resourceVersion": str(revision)}
            if end < len(found):
                metadata["continue"] = f"{end}.{revision}"
            answer: Object = {"kind": "NodeList", "metadata": metadata, "items": found[start:end]}
        self._object(200, answer)

    def _watch(self, since: int) -> None:
        self._head(200, {"Transfer-Encoding": "chunked"})
        generation = self.api.generation
        if since < self.api.compacted:
            self._chunk(GONE_EVENT)
        else:
            self._follow(since, generation)
        self._chunk(b"")

    def _follow(self, since: int, generation: int) -> None:
        """Send events until the watches are ended, or until nothing has come for long."""
        while new := self._wait_for_news(since, generation):
            for _, line in new:
                self._chunk(line)
            since = new[-1][0]

    def _wait_for_news(self, since: int, generation: int) -> list[tuple[int, bytes]]:
        api = self.api
        with api.changed:
            api.changed.wait_for(lambda: self._is_news(since, generation), WAIT_SECONDS)
            if api.generation != generation:
                return []
            return api.history[bisect_right(api.history, since, key=itemgetter(0)) :]

    def _is_news(self, since: int, generation: int) -> bool:
        api = self.api
        return api.generation != generation or bool(api.history and api.history[-1][0] > since)

    def _play(self, script: Scripted) -> None:
        self._head(script.status, {**script.headers, "Transfer-Encoding": "chunked"})
        for piece in script.pieces:
            self._chunk(piece)
        if script.end == "good":
            self._chunk(b"")
            return
        if script.end == "silence":
            generation = self.api.generation
            with self.api.changed:
                self.api.changed.wait_for(lambda: self.api.generation != generation, WAIT_SECONDS)
        self.close_connection = True

    def _object(self, status: int, raw: Mapping[str, object]) -> None:
        body = json.dumps(raw).encode()
        self._head(status, {"Content-Length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _chunk(self, piece: bytes) -> None:
        try:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        except OSError:
            self.close_connection = True  # the client has left

    def _split(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        return parts.path, dict(parse_qsl(parts.query))

    def _body(self) -> Object:
        return cast("Object", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))


def _selected(raw: Object, query: Mapping[str, str]) -> bool:
    key, _, value = query.get("labelSelector", "").partition("=")
    labels = cast("dict[str, dict[str, str]]", raw["metadata"]).get("labels", {})
    return not key or labels.get(key) == value
