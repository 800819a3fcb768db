"""Which nodes have to be written, in which order: nodes and what is on them in, writes out.

Few nodes differ in what is judged, so each profile is judged once and not each node.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from policies.eligibility import (
    ELIGIBLE,
    INELIGIBLE,
    Judgement,
    NodeEligibility,
    eligibility,
    judge_of,
)
from policies.facts import RuleFailure
from policies.node import Node, NodeProfile
from policies.policy import ELIGIBLE_LABEL, Policy


@dataclass(frozen=True, slots=True)
class OnNode:
    """What is on a node now: the label and the annotation, None where there is none."""

    label: str | None
    because: str | None


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A GPU node and what is written on it."""

    node: Node
    now: OnNode


@dataclass(frozen=True, slots=True)
class Write:
    """One node that has to be written."""

    node_name: str
    now: OnNode
    wanted: NodeEligibility

    @property
    def becomes(self) -> OnNode:
        """What is on the node afterwards."""
        return OnNode(self.wanted.label, self.wanted.annotation)

    @property
    def is_flip(self) -> bool:
        """Whether it turns a verdict that was written before."""
        return self.now.label in (ELIGIBLE, INELIGIBLE) and self.now.label != self.wanted.label

    @property
    def takes_away(self) -> bool:
        """Whether pods may have come to this node because it was not yet called ineligible."""
        return not self.wanted.eligible and self.now.label != INELIGIBLE


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes, and how the cluster stands."""

    writes: tuple[Write, ...]
    eligible: int
    ineligible: Mapping[str, int]
    """Nodes per rule that is against them."""
    failures: tuple[RuleFailure, ...]
    """Rules that raised, once per profile."""


def plan(policy: Policy, records: Iterable[NodeRecord]) -> Plan:
    """What to write so that every node says what is true of it under this policy."""
    judge = judge_of(policy)
    judgements: dict[NodeProfile, Judgement] = {}
    writes: list[Write] = []
    eligible = 0
    ineligible: Counter[str] = Counter()
    for record in records:
        profile = record.node.profile
        judgement = judgements.get(profile)
        if judgement is None:
            judgement = judgements[profile] = judge(profile)
        wanted = eligibility(judgement, record.now.label)
        eligible += wanted.eligible
        ineligible.update(wanted.because)
        write = Write(record.node.name, record.now, wanted)
        if write.becomes != record.now:
            writes.append(write)
    failures = tuple(failure for each in judgements.values() for failure in each.failures)
    writes.sort(key=lambda write: (_rank(write), write.node_name))
    return Plan(tuple(writes), eligible, ineligible, failures)


def label_of(node: Node) -> str | None:
    """The label's value on a node, None without one."""
    return node.labels.get(ELIGIBLE_LABEL)


def _rank(write: Write) -> int:
    """First where pods come that cannot be suspended, then where none can come yet, then mere words."""
    if write.takes_away:
        return 0 if write.now.label == ELIGIBLE else 2
    return 1 if write.wanted.label != write.now.label else 3
