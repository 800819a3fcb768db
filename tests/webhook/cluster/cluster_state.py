"""The nodes of the stand-in with their history, and what it was asked."""

import socket
import threading
from collections import deque
from copy import deepcopy
from typing import cast

from tests.builders import Object
from tests.webhook.cluster.wire import Scripted, event

VERSION = "v1.30.4-vke.3"


class ClusterState:
    """The nodes, their history, and what is scripted for the next requests."""

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

    @property
    def watches(self) -> list[dict[str, str]]:
        """The queries of all watches so far."""
        return [query for query in self.queries if "watch" in query]

    @property
    def lists(self) -> list[dict[str, str]]:
        """The queries of all list pages so far."""
        return [query for query in self.queries if "watch" not in query]

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
