"""An offline pod asks reclaimed compute and nothing else, in whole percent of one card.

`mgpu-core` is compute that is reserved for online pods; offline work takes what they leave idle.
Fields: `mgpu-core` and `reclaimed-mgpu-core` in limits and requests of every container.
Allowed: reclaimed-mgpu-core 1 to 100 in at least one container, limit equal to request; no mgpu-core.
"""

from collections.abc import Iterator

from policies.container import Container
from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per container that asks wrongly, and one when nobody asks reclaimed compute."""
    pod, keys = facts.pod, facts.policy.keys
    for container in pod.containers:
        yield from _container_violations(container)
    if not any(c.reclaimed is not None for c in pod.containers):
        yield Violation(
            path=f"{pod.spec_path}.containers",
            message=f"offline pod asks no {keys.reclaimed_mgpu_core} in any container",
        )


def _container_violations(container: Container) -> Iterator[Violation]:
    if container.core is not None:
        core = container.core
        yield Violation(
            path=core.path,
            message=(
                f"container {container.name} of an offline pod asks {core.resource}: {core.text}, "
                "which is compute of online pods"
            ),
        )
    ask = container.reclaimed
    if ask is None:
        return
    what = f"container {container.name} asks {ask.resource}: {ask.text}, which"
    if ask.problem:
        yield Violation(path=ask.path, message=f"{what} {ask.problem}")
    elif not 1 <= ask.value <= 100:
        yield Violation(path=ask.path, message=f"{what} is not between 1 and 100 percent of a card")


RULE = Rule(
    id="offline-compute",
    title="Offline pods ask reclaimed compute, 1 to 100 percent of one card, and no other",
    remedy=(
        "ask {keys.reclaimed_mgpu_core} as a whole number from 1 to 100, the same in "
        "limits and requests, and leave {keys.mgpu_core} out"
    ),
    source="VKE documentation of hybrid deployment; Kubernetes rules for extended resources",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
