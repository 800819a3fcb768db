"""An offline container reserves the GPU memory it uses.

Compute is preempted, memory is not: a container without its own memory takes it from online pods.
Field: `mgpu-memory` (MiB) of every container that asks reclaimed-mgpu-core.
Allowed: a whole number of at least 256, limit equal to request.
"""

from collections.abc import Iterator

from policies.container import Container
from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass

LEAST_MEMORY_MIB = 256


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per container without enough memory or with an amount that is none."""
    key = facts.policy.keys.mgpu_memory
    for container in facts.pod.containers:
        message = _fault(container, key)
        if message:
            where = container.memory.path if container.memory else f"{container.path}.resources"
            yield Violation(path=where, message=f"container {container.name} {message}")


def _fault(container: Container, key: str) -> str:
    memory = container.memory
    if memory is None:
        return f"asks reclaimed compute but no {key}" if container.reclaimed is not None else ""
    if memory.problem:
        return f"asks {key}: {memory.text}, which {memory.problem}"
    if container.reclaimed is not None and memory.value < LEAST_MEMORY_MIB:
        return f"asks {key}: {memory.text}, less than {LEAST_MEMORY_MIB} MiB"
    return ""


RULE = Rule(
    id="offline-memory",
    title="Offline containers reserve at least 256 MiB of GPU memory",
    remedy=(
        f"ask {{keys.mgpu_memory}} of at least {LEAST_MEMORY_MIB} (MiB), the same in limits "
        "and requests, in each container that asks reclaimed-mgpu-core"
    ),
    source="VKE documentation of hybrid deployment: memory is not preempted",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
