"""Nodes and policy that belong together.

A snapshot has, for a moment, a new policy beside nodes that were read under the old one; where the policy
names another annotation, every node then looks as if it lacked it. For one admission request that is
harmless, for the labels of all nodes it is not.
"""

from policies.node import Inventory
from webhook.state import Snapshot


class NodeSource:
    """The last snapshot whose nodes were read under its policy."""

    def __init__(self) -> None:
        self._whole: Snapshot | None = None
        self._inventory: Inventory | None = None
        self._is_fresh = False

    @property
    def current(self) -> Snapshot | None:
        """The snapshot, with an inventory; None while there is none, or while its nodes are stale."""
        return self._whole if self._is_fresh else None

    def look(self, snapshot: Snapshot | None, *, is_fresh: bool) -> None:
        """Take up a snapshot, in the thread that makes them and each time it took up policy, then nodes.

        So nodes that are new since the last look were read under the policy that stands beside them.
        """
        self._is_fresh = is_fresh
        if snapshot is None or snapshot.inventory is None:
            return
        has_new_nodes = snapshot.inventory is not self._inventory
        has_same_policy = self._whole is not None and snapshot.policy is self._whole.policy
        if has_new_nodes or has_same_policy:
            self._whole = snapshot
        self._inventory = snapshot.inventory
