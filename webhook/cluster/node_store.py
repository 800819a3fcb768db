"""The nodes that a list and a watch tell of, cut down to what decisions read.

A Node object is 15 to 20 KB, most of it images, volumes and managed fields. Kept are name, labels,
taints, the annotations and the allocatable keys that the policy names, osImage and kubeletVersion,
with equal texts stored once. They are kept as a small raw object, because another policy reads it
anew. A node that cannot be read is left out and counted: one bad object must not blind the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from policies.errors import MalformedError
from policies.node import Inventory, Node, parse_node, virtual_node
from policies.policy import Policy
from policies.raw import JsonObject, object_at, objects_at, string_at

MAX_SHARED_TEXTS = 200_000
DELETED = "DELETED"
BOOKMARK = "BOOKMARK"


@dataclass(frozen=True, slots=True)
class KeptKeys:
    """The annotations and the allocatable resources that are kept of each node."""

    annotations: frozenset[str]
    allocatable: frozenset[str]

    def __ge__(self, other: "KeptKeys") -> bool:
        return self.annotations >= other.annotations and self.allocatable >= other.allocatable


def kept_keys(policy: Policy) -> KeptKeys:
    """What `parse_node` reads under this policy."""
    keys = policy.keys
    return KeptKeys(
        frozenset({keys.driver_version, keys.addon_version, keys.multi_card}),
        frozenset({keys.mgpu_core, keys.mgpu_memory, keys.reclaimed_mgpu_core, *keys.whole_card}),
    )


class NodeStore:
    """Nodes by name, as the policy reads them. Not safe for several threads at once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.malformed: dict[str, str] = {}
        """Why a node is left out, by its name."""
        self.has_changed = True
        """Whether the next `inventory` differs from the last one in anything that decisions read."""
        self._keys = kept_keys(policy)
        self._kept: dict[str, JsonObject] = {}
        self._nodes: dict[str, Node] = {}
        self._texts: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def put(self, raw: JsonObject) -> str:
        """Take up a Node object, new or changed. Returns its name."""
        name = ""
        try:
            name = self._shared(string_at(object_at(raw, "metadata", ""), "name", "metadata"))
            kept = self._trimmed(raw)
        except MalformedError as error:
            self._kept.pop(name, None)
            self._leave_out(name, error)
        else:
            if kept != self._kept.get(name):
                self._kept[name] = kept
                self._read(name, kept)
        return name

    def apply(self, event: JsonObject) -> None:
        """Take up an event of a watch. Raises MalformedError when it has no object."""
        kind = string_at(event, "type", "")
        raw = object_at(event, "object", "")
        if kind == DELETED:
            self.remove(string_at(object_at(raw, "metadata", ""), "name", "metadata"))
        elif kind != BOOKMARK:
            self.put(raw)

    def put_page(self, page: JsonObject) -> set[str]:
        """Take up a page of a list. Returns its names. Raises MalformedError when it is none."""
        return {self.put(raw) for raw in objects_at(page, "items", "")}

    def keep_only(self, names: set[str]) -> None:
        """Remove the nodes that a whole list did not have."""
        for name in (self._kept.keys() | self.malformed.keys()) - names:
            self.remove(name)

    def remove(self, name: str) -> None:
        """Remove a node, if it is there."""
        self._kept.pop(name, None)
        self.malformed.pop(name, None)
        if self._nodes.pop(name, None) is not None:
            self.has_changed = True

    def use(self, policy: Policy) -> bool:
        """Read all nodes under another policy.

        False when that reads what was not kept; then nothing changes, and a whole list must come after
        `keep_for`, before it is tried again.
        """
        wanted = kept_keys(policy)
        if not self._keys >= wanted:
            return False
        self.policy = policy
        self.has_changed = True
        for name, kept in self._kept.items():
            self._read(name, kept)
        return True

    def keep_for(self, policy: Policy) -> None:
        """Keep of each node, from now on, also what this policy reads."""
        wanted = kept_keys(policy)
        self._keys = KeptKeys(
            self._keys.annotations | wanted.annotations,
            self._keys.allocatable | wanted.allocatable,
        )

    def inventory(self) -> Inventory:
        """The nodes as they are now, with the policy's node pools."""
        self.has_changed = False
        pools = (virtual_node(pool, self.policy) for pool in self.policy.node_pools)
        return Inventory((*self._nodes.values(), *pools))

    def _read(self, name: str, kept: JsonObject) -> None:
        try:
            node = parse_node(kept, self.policy)
        except MalformedError as error:
            self._leave_out(name, error)
            return
        self.malformed.pop(name, None)
        old = self._nodes.get(name)
        if node is None:
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = node
        if node != old:
            self.has_changed = True

    def _leave_out(self, name: str, error: MalformedError) -> None:
        self.malformed[name] = str(error)
        if self._nodes.pop(name, None) is not None:
            self.has_changed = True

    def _trimmed(self, raw: JsonObject) -> JsonObject:
        metadata = object_at(raw, "metadata", "")
        status = object_at(raw, "status", "")
        info = object_at(status, "nodeInfo", "status")
        annotations = object_at(metadata, "annotations", "metadata")
        allocatable = object_at(status, "allocatable", "status")
        return {
            "metadata": {
                "name": self._text(metadata.get("name")),
                "labels": self._texts_of(object_at(metadata, "labels", "metadata")),
                "annotations": self._some(annotations, self._keys.annotations),
            },
            "spec": {"taints": self._taints(object_at(raw, "spec", ""))},
            "status": {
                "allocatable": self._some(allocatable, self._keys.allocatable),
                "nodeInfo": self._some(info, ("osImage", "kubeletVersion")),
            },
        }

    def _taints(self, spec: JsonObject) -> list[JsonObject] | None:
        taints = objects_at(spec, "taints", "spec")
        fields = ("key", "value", "effect")
        return [self._some(taint, fields) for taint in taints] or None

    def _some(self, values: JsonObject, keys: Iterable[str]) -> JsonObject:
        return {key: self._text(values[key]) for key in keys if key in values}

    def _texts_of(self, values: Mapping[str, object]) -> JsonObject:
        return {self._shared(key): self._text(value) for key, value in values.items()}

    def _text(self, value: object) -> object:
        return self._shared(value) if isinstance(value, str) else value

    def _shared(self, text: str) -> str:
        if len(self._texts) > MAX_SHARED_TEXTS:
            self._texts.clear()  # most are of nodes that are long gone
        return self._texts.setdefault(text, text)
