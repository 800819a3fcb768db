"""A stand-in for the API server: nodes, lists in pages and watches, in the wire's form, and faults on demand.

It serves plain HTTP on a loopback port. It can go away and come back on the same port, and what a
test scripts for the next list or watch is sent instead of a proper answer.
"""

import contextlib
import json
import socket
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Literal, cast
from urllib.parse import parse_qsl, urlsplit

import yaml

from tests.builders import Object

NODES = "/api/v1/nodes"
VERSION = "v1.30.4-vke.3"
WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Scripted:
    """An answer as it goes over the wire, and how it ends: in good order, cut off, or never."""

    status: int = 200
    pieces: Sequence[bytes] = ()
    end: Literal["good", "cut", "silence"] = "good"
    headers: Mapping[str, str] = field(default_factory=dict)


def status_object(code: int, reason: str, message: str) -> Object:
    """A Status, as the API server answers a request that it refuses."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }


def refused(code: int, reason: str, message: str = "because", **headers: str) -> Scripted:
    """A request that is refused."""
    body = json.dumps(status_object(code, reason, message)).encode()
    return Scripted(code, [body], headers=headers)


def event(kind: str, raw: Mapping[str, object]) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": raw}).encode() + b"\n"


GONE_EVENT = event("ERROR", status_object(410, "Expired", "too old resource version: 1 (9)"))


class ApiStandIn:
    """The nodes, their history and the server; use it as a context."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.nodes: dict[str, Object] = {}
        self.revision = 100
        self.history: list[tuple[int, bytes]] = []
        self.compacted = 0
        """A watch or a continue token of a revision below it is too old."""
        self.next_lists: deque[Scripted] = deque()
        self.next_watches: deque[Scripted] = deque()
        self.queries: list[dict[str, str]] = []
        self.version = VERSION
        self.generation = 0
        """Counts how often all watches were ended."""
        self.connections: set[socket.socket] = set()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    def __enter__(self) -> "ApiStandIn":
        self.come_back()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.go_away()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def watches(self) -> list[dict[str, str]]:
        """The queries of all watches so far."""
        return [query for query in self.queries if "watch" in query]

    @property
    def lists(self) -> list[dict[str, str]]:
        """The queries of all list pages so far."""
        return [query for query in self.queries if "watch" not in query]

    def kubeconfig(self, folder: Path, token: str = "secret-token") -> Path:
        """A kubeconfig that leads here."""
        path = folder / "standin.kubeconfig"
        named = {"cluster": "standin", "user": "standin"}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "standin", "cluster": {"server": self.url}}],
            "users": [{"name": "standin", "user": {"token": token}}],
            "contexts": [{"name": "standin", "context": named}],
            "current-context": "standin",
        }
        path.write_text(yaml.safe_dump(document))
        return path

    def come_back(self) -> None:
        """Listen, on the same port as before."""
        stand_in = self

        class Handler(_Handler):
            api = stand_in

        self._server = _Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def go_away(self) -> None:
        """Cut every connection and stop listening."""
        self.end_watches()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._server = self._thread = None
        for connection in tuple(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def end_watches(self) -> None:
        """End every watch that runs, in good order."""
        with self.changed:
            self.generation += 1
            self.changed.notify_all()

    def put(self, raw: Object) -> Object:
        """Create or replace a node; watches see it."""
        with self.changed:
            raw = deepcopy(raw)
            metadata = cast("dict[str, object]", raw["metadata"])
            name = str(metadata["name"])
            kind = "MODIFIED" if name in self.nodes else "ADDED"
            self.nodes[name] = raw
            self._record(kind, raw)
            return raw

    def remove(self, name: str) -> Object:
        """Delete a node; watches see it."""
        with self.changed:
            raw = self.nodes.pop(name)
            self._record("DELETED", raw)
            return raw

    def bookmark(self) -> None:
        """Send a bookmark to every watch."""
        with self.changed:
            self._record("BOOKMARK", {"kind": "Node", "metadata": {}})

    def compact(self) -> None:
        """Forget the history: older revisions are gone."""
        with self.changed:
            self.compacted = self.revision
            self.history.clear()

    def _record(self, kind: str, raw: Object) -> None:
        self.revision += 1
        cast("dict[str, object]", raw["metadata"])["resourceVersion"] = str(self.revision)
        self.history.append((self.revision, event(kind, raw)))
        self.changed.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has left is no news; anything else is."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: ApiStandIn

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
            return [each for each in api.history if each[0] > since]

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
