"""The quality-of-service level of an mGPU pod must be one of Katalyst's four, to the letter.

An unknown value is treated as "not reclaimed" by the scheduler: the pod would run as an online one.
Field: the annotation `katalyst.kubewharf.io/qos_level` (a label of this name means nothing).
Allowed: absent, `reclaimed_cores`, `shared_cores`, `dedicated_cores`, `system_cores`.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import MGPU_CLASSES
from policies.raw import short_text

LEVELS = ("reclaimed_cores", "shared_cores", "dedicated_cores", "system_cores")


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when the annotation is there with another value."""
    level = facts.pod.qos_level
    if level is None or level in LEVELS:
        return
    key = facts.policy.keys.qos_level
    yield Violation(
        path=facts.pod.annotation_path(key),
        message=f'annotation {key} is "{short_text(level)}", which is no Katalyst level',
    )


RULE = Rule(
    id="qos-level",
    title="qos_level of an mGPU pod is one that Katalyst knows",
    remedy=f"write one of {', '.join(LEVELS)} exactly (reclaimed_cores = offline)",
    source="katalyst-api, pkg/consts/qos.go; VKE documentation of hybrid deployment",
    classes=MGPU_CLASSES,
    check=check,
)
