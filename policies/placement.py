"""The nodes on which a pod could run, as the scheduler and the kubelet have them.

Two differences, both so that honest pods are not refused. The affinity that we inject is left out: it
narrows, and a bad node would just not match. Taints that come and go by themselves exclude nothing:
cordoning the good nodes during an upgrade must not turn their pods into an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from policies.node import Inventory, NodeSet
from policies.node_selector import Requirement, SelectorTerm
from policies.pod import Pod
from policies.policy import Injection
from policies.raw import string_at, strings_at
from policies.tolerations import Taint, Toleration, tolerates

KEEPING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class Placement:
    """What a pod says of the nodes it wants. `terms` is None where every node matches."""

    node_name: str
    node_selector: Mapping[str, str]
    terms: tuple[SelectorTerm, ...] | None
    tolerations: tuple[Toleration, ...]

    @property
    def description(self) -> str:
        """The selection in words, for messages."""
        parts = [f"nodeName {self.node_name}"] if self.node_name else []
        if self.node_selector:
            pairs = ",".join(f"{key}={value}" for key, value in self.node_selector.items())
            parts.append(f"nodeSelector {pairs}")
        if self.terms is not None:
            parts.append("required node affinity")
        return " and ".join(parts) or "no node selection"


def parse_placement(pod: Pod, injections: Iterable[Injection]) -> Placement:
    """The placement of a pod, without what any of the injections adds. Raises MalformedError."""
    injected = [r for injection in injections for r in injection.node_requirements]
    return Placement(
        node_name=string_at(pod.spec, "nodeName", pod.spec_path),
        node_selector=strings_at(pod.spec, "nodeSelector", pod.spec_path),
        terms=None if pod.terms is None else _without(pod.terms, injected),
        tolerations=pod.tolerations,
    )


def is_same(one: Requirement, other: Requirement) -> bool:
    """Whether two expressions say the same; the order of values has no meaning."""
    return (
        one.key == other.key
        and one.operator == other.operator
        and (one.values == other.values or set(one.values) == set(other.values))
    )


def possible_nodes(
    placement: Placement, inventory: Inventory, passing_taints: Sequence[str]
) -> NodeSet:
    """The nodes of the inventory on which the pod could run."""
    index = inventory.index
    bits = index.named(placement.node_name) if placement.node_name else index.everything
    for key, value in placement.node_selector.items():
        bits &= index.with_label(key, value)
    if placement.terms is not None:
        bits &= index.in_terms(placement.terms)
    for taints, tainted in inventory.taints:
        if any(_keeps_out(taint, placement, passing_taints) for taint in taints):
            bits &= ~tainted
    return NodeSet(inventory, bits)


def _keeps_out(taint: Taint, placement: Placement, passing_taints: Sequence[str]) -> bool:
    """With nodeName set the scheduler is not asked, and the kubelet looks at NoExecute alone."""
    effects = ("NoExecute",) if placement.node_name else KEEPING_EFFECTS
    if taint.effect not in effects or _is_passing(taint.key, passing_taints):
        return False
    return not any(tolerates(toleration, taint) for toleration in placement.tolerations)


def _is_passing(key: str, passing_taints: Sequence[str]) -> bool:
    for pattern in passing_taints:
        if key == pattern or (pattern.endswith("*") and key.startswith(pattern[:-1])):
            return True
    return False


def _without(
    terms: tuple[SelectorTerm, ...], injected: Sequence[Requirement]
) -> tuple[SelectorTerm, ...] | None:
    """The terms less injected expressions; None when a term held nothing else, so that all match."""
    left = []
    for term in terms:
        own = tuple(e for e in term.expressions if not any(is_same(e, i) for i in injected))
        if term.expressions and not own and not term.fields:
            return None
        left.append(SelectorTerm(own, term.fields))
    return tuple(left)
