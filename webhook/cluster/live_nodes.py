"""The live nodes between the thread that hears of them and the one that makes snapshots.

The watching thread tells what it hears; the other asks now and then for an inventory, which so comes at
most as often as it asks, however many events there were. Neither waits for the network here.
"""

import time
from collections.abc import Callable, Iterable
from threading import Lock

from policies.errors import MalformedError
from policies.node import Inventory
from policies.policy import Policy
from policies.raw import JsonObject, object_at, string_at
from webhook.cluster.freshness import Freshness
from webhook.cluster.node_store import NodeStore


class LiveNodes:
    """The nodes of a cluster, in step with its API server while that can be heard."""

    def __init__(self, policy: Policy, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = Lock()
        self._store = NodeStore(policy)
        self._lacking: Policy | None = None
        self._is_synced = False
        self._heard_seconds = clock()
        self._trouble = ""
        self.server_version: str | None = None
        """The API server's gitVersion as it said it last; None before that."""

    @property
    def needs_list(self) -> bool:
        """Whether the policy reads what was not kept of the nodes, so that they must be listed again."""
        return self._lacking is not None

    @property
    def freshness(self) -> Freshness:
        """How old the nodes are."""
        with self._lock:
            return Freshness(self._is_synced, self._heard_seconds, self._trouble)

    @property
    def malformed(self) -> dict[str, str]:
        """The nodes that are left out, and why."""
        with self._lock:
            return dict(self._store.malformed)

    def take_list(self, pages: Iterable[JsonObject]) -> str:
        """Take up a whole list, and remove what it does not have. Returns its resource version.

        What goes wrong between pages goes on to the caller; what earlier pages said stays.
        Raises MalformedError when a page is none, or when no page says its version.
        """
        with self._lock:
            lacking = self._lacking
            if lacking is not None:
                self._store.keep_for(lacking)
        names: set[str] = set()
        version = ""
        for page in pages:
            with self._lock:
                names |= self._store.put_page(page)
            version = string_at(object_at(page, "metadata", ""), "resourceVersion", "metadata")
        if not version:
            raise MalformedError("metadata.resourceVersion", "must be in a list, is missing")
        with self._lock:
            self._store.keep_only(names)
            self._is_synced = True
            if self._lacking is lacking:
                self._lacking = None
        return version

    def take_event(self, event: JsonObject) -> str:
        """Take up an event of a watch. Returns its resource version. Raises MalformedError."""
        with self._lock:
            self._store.apply(event)
        metadata = object_at(object_at(event, "object", ""), "metadata", "object")
        return string_at(metadata, "resourceVersion", "object.metadata")

    def hear(self) -> None:
        """The API server was heard."""
        with self._lock:
            self._heard_seconds = self.clock()
            self._trouble = ""

    def complain(self, trouble: str) -> None:
        """The API server cannot be heard, or not be understood."""
        with self._lock:
            self._trouble = trouble

    def read_if_changed(self, policy: Policy) -> Inventory | None:
        """The inventory under this policy, None when nothing that decisions read has changed.

        None also before the first whole list, and until the nodes are listed again for a policy that reads
        what was not kept.
        """
        with self._lock:
            if not self._is_synced or self._lacking is not None:
                return None
            if policy is not self._store.policy and not self._store.use(policy):
                self._lacking = policy
                return None
            return self._store.inventory() if self._store.has_changed else None
