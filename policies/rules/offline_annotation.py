"""A pod that asks reclaimed compute must say that it is offline.

Without the annotation nothing marks its work on the card, and it competes with online services.
Fields: resource `reclaimed-mgpu-core` in any container; annotation `katalyst.kubewharf.io/qos_level`.
Allowed: `reclaimed_cores`.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import RECLAIMED_CORES, PodClass
from policies.raw import short_text


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when a container asks reclaimed compute and the annotation says something else."""
    pod, keys = facts.pod, facts.policy.keys
    if pod.qos_level == RECLAIMED_CORES:
        return
    names = [c.name for c in pod.containers if c.reclaimed is not None]
    if not names:
        return
    has = "is absent" if pod.qos_level is None else f'is "{short_text(pod.qos_level)}"'
    yield Violation(
        path=pod.annotation_path(keys.qos_level),
        message=(
            f"container {', '.join(names)} asks {keys.reclaimed_mgpu_core}, "
            f"but annotation {keys.qos_level} {has}"
        ),
    )


RULE = Rule(
    id="offline-annotation",
    title="Reclaimed GPU compute is only for pods that say they are offline",
    remedy=(
        'set the annotation {keys.qos_level}: "reclaimed_cores" on the pod, '
        "or ask {core} if it is online"
    ),
    source="VKE documentation of hybrid deployment",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
