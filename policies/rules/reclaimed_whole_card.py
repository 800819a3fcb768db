"""Whole cards are never reclaimed.

`reclaimed_cores` marks CPU and memory as reclaimed; a whole card or a DRA device has no online
neighbour on it, runs as an ordinary pod's and is never suspended.
Fields: annotation `katalyst.kubewharf.io/qos_level` with whole-card or DRA requests only.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import RECLAIMED_CORES, PodClass


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when the pod says reclaimed_cores."""
    if facts.pod.qos_level == RECLAIMED_CORES:
        key = facts.policy.keys.qos_level
        yield Violation(
            path=facts.pod.annotation_path(key),
            message=f"pod is {RECLAIMED_CORES} but asks whole GPUs only: nothing suspends it",
        )


RULE = Rule(
    id="reclaimed-whole-card",
    title="reclaimed_cores has no effect on whole cards",
    remedy="ask {keys.reclaimed_mgpu_core} and {keys.mgpu_memory} if online pods should come first",
    source="VKE documentation of hybrid deployment",
    classes=frozenset({PodClass.WHOLE_CARD, PodClass.DRA}),
    check=check,
)
