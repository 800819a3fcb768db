"""A stand-in for the API server: nodes, lists in pages and watches, in the wire's form, and faults on demand.

It serves plain HTTP on a loopback port. It can go away and come back on the same port, and what a
test scripts for the next list or watch is sent instead of a proper answer.
"""

import contextlib
import socket
import threading
from pathlib import Path
from types import TracebackType

import yaml

from tests.webhook.cluster.cluster_state import ClusterState
from tests.webhook.cluster.standin_http import NODES, Handler, Server
from tests.webhook.cluster.wire import GONE_EVENT, Scripted, event, refused

__all__ = ["GONE_EVENT", "NODES", "ApiStandIn", "Scripted", "event", "refused"]


class ApiStandIn(ClusterState):
    """The state and its server; use it as a context."""

    def __init__(self) -> None:
        super().__init__()
        self._server: Server | None = None
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

        class OurHandler(Handler):
            api = stand_in

        self._server = Server(("127.0.0.1", self._port), OurHandler)
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
