"""Nodes as the rules see them: a profile that is judged, and the labels and taints that select it.

Many nodes share one profile, and profiles are judged, not nodes.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from policies.node_index import Bits, NodeIndex, bits_of, positions_of
from policies.policy import NodePool, Policy
from policies.quantity import QuantityError, parse_quantity
from policies.raw import JsonObject, object_at, string_at, strings_at
from policies.tolerations import Taint, parse_taints

MODE_NVIDIA = "nvidia"
MODE_NVIDIA_DRA = "nvidia-dra"
MODE_MGPU = "mgpu"
FIXED_SHARE = "fixed-share"


@dataclass(frozen=True, slots=True)
class NodeProfile:
    """The facts of a node that node rules judge. None means unknown, "" a value that is empty."""

    mode: str
    """Effective `vke.node.gpu.schedule`: an absent label means `nvidia`."""
    compute_policy: str
    """Effective compute policy: an absent label means `fixed-share`."""
    os_image: str | None
    image_label: str | None
    driver_version: str | None
    addon_version: str | None
    kubelet_version: str | None
    multi_card: str | None


@dataclass(frozen=True, slots=True)
class Node:
    """One node, or one virtual node of a pool at zero."""

    name: str
    profile: NodeProfile
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    is_virtual: bool = False


@dataclass(frozen=True, slots=True)
class Inventory:
    """The GPU nodes of a cluster, in the order of their names, with an index over them.

    Nodes without a GPU are left out: no GPU pod can run there.
    """

    nodes: tuple[Node, ...]
    index: NodeIndex = field(init=False, compare=False, repr=False)
    profiles: tuple[tuple[NodeProfile, Bits], ...] = field(init=False, compare=False, repr=False)
    """Each distinct profile with its nodes."""
    taints: tuple[tuple[tuple[Taint, ...], Bits], ...] = field(
        init=False, compare=False, repr=False
    )
    """Each distinct set of taints with its nodes."""

    def node_named(self, name: str) -> Node | None:
        """The node of this name, None when it is not here. Names are sorted, so this takes few steps."""
        position = bisect_left(self.nodes, name, key=_name)
        is_it = position < len(self.nodes) and self.nodes[position].name == name
        return self.nodes[position] if is_it else None

    def __post_init__(self) -> None:
        nodes = tuple(sorted(self.nodes, key=_name))
        index = NodeIndex([node.name for node in nodes], [node.labels for node in nodes])
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "profiles", _grouped([node.profile for node in nodes]))
        object.__setattr__(self, "taints", _grouped([node.taints for node in nodes]))


@dataclass(frozen=True, slots=True)
class NodeSet:
    """Some nodes of an inventory. Its cost does not grow with their number."""

    inventory: Inventory
    bits: Bits

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __bool__(self) -> bool:
        return self.bits != 0

    def __iter__(self) -> Iterator[Node]:
        nodes = self.inventory.nodes
        return (nodes[position] for position in positions_of(self.bits, len(nodes)))

    def __or__(self, other: "NodeSet") -> "NodeSet":
        return NodeSet(self.inventory, self.bits | other.bits)

    def first_names(self, limit: int) -> list[str]:
        """The names of at most `limit` of them, in order."""
        return [self.inventory.nodes[p].name for p in positions_of(self.bits, limit)]

    def by_profile(self) -> list[tuple[NodeProfile, "NodeSet"]]:
        """Its distinct profiles, each with the nodes of the set that have it."""
        parts = ((profile, self.bits & bits) for profile, bits in self.inventory.profiles)
        return [(profile, NodeSet(self.inventory, bits)) for profile, bits in parts if bits]


def _name(node: Node) -> str:
    return node.name


T = TypeVar("T")


def _grouped(keys: Sequence[T]) -> tuple[tuple[T, Bits], ...]:
    positions: dict[T, list[int]] = {}
    for position, key in enumerate(keys):
        positions.setdefault(key, []).append(position)
    return tuple((key, bits_of(places, len(keys))) for key, places in positions.items())


def parse_node(raw: JsonObject, policy: Policy) -> Node | None:
    """The node in a Node object; None when it has no GPU and no scheduling mode.

    Raises MalformedError when a field that is read has a wrong JSON type.
    """
    keys = policy.keys
    metadata = object_at(raw, "metadata", "")
    labels = strings_at(metadata, "labels", "metadata")
    annotations = strings_at(metadata, "annotations", "metadata")
    status = object_at(raw, "status", "")
    allocatable = object_at(status, "allocatable", "status")
    gpu_keys = (keys.mgpu_core, keys.mgpu_memory, keys.reclaimed_mgpu_core, *keys.whole_card)
    has_gpu = any(_is_some(allocatable[key]) for key in gpu_keys if key in allocatable)
    if keys.gpu_schedule not in labels and not has_gpu:
        return None
    info = object_at(status, "nodeInfo", "status")
    return Node(
        name=string_at(metadata, "name", "metadata"),
        profile=_profile(
            labels,
            annotations,
            string_at(info, "osImage", "status.nodeInfo"),
            string_at(info, "kubeletVersion", "status.nodeInfo"),
            policy,
        ),
        labels=labels,
        taints=parse_taints(object_at(raw, "spec", "").get("taints"), "spec.taints"),
    )


def _is_some(amount: object) -> bool:
    """Whether an amount is more than none: a device plugin that went away leaves 0."""
    try:
        return parse_quantity(amount).nanos > 0
    except QuantityError:
        return True


def virtual_node(pool: NodePool, policy: Policy) -> Node:
    """The node that a pool at zero would grow."""
    return Node(
        name=f"pool {pool.name}",
        profile=_profile(
            pool.labels, pool.annotations, pool.os_image, pool.kubelet_version, policy
        ),
        labels=pool.labels,
        taints=tuple(Taint(key, value, effect) for key, value, effect in pool.taints),
        is_virtual=True,
    )


def inventory_of(raw_nodes: Iterable[JsonObject], policy: Policy) -> Inventory:
    """The inventory of Node objects and of the policy's node pools. Raises MalformedError."""
    real = (parse_node(raw, policy) for raw in raw_nodes)
    pools = tuple(virtual_node(pool, policy) for pool in policy.node_pools)
    return Inventory(tuple(node for node in real if node is not None) + pools)


def _profile(
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    os_image: str,
    kubelet_version: str,
    policy: Policy,
) -> NodeProfile:
    keys = policy.keys
    return NodeProfile(
        mode=labels.get(keys.gpu_schedule, MODE_NVIDIA),
        compute_policy=labels.get(keys.compute_policy, FIXED_SHARE),
        os_image=os_image or None,
        image_label=labels.get(keys.image_label) if keys.image_label else None,
        driver_version=annotations.get(keys.driver_version),
        addon_version=annotations.get(keys.addon_version, policy.addon_version or None),
        kubelet_version=kubelet_version or None,
        multi_card=annotations.get(keys.multi_card),
    )
