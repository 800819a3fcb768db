"""A container must not take a GPU by environment variable.

`NVIDIA_VISIBLE_DEVICES` makes some container runtimes hand out cards that nobody scheduled. Judging it
needs a registration for every pod, so the rule is off unless the policy turns it on.
Field: env of every container that asks no GPU. Allowed: absent, or empty, `none`, `void`.
"""

from collections.abc import Iterator

from policies.container import Container
from policies.facts import Facts, Rule, Violation
from policies.pod import Pod, PodClass
from policies.raw import object_at, objects_at

VARIABLE = "NVIDIA_VISIBLE_DEVICES"
HARMLESS = ("", "none", "void")


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per container that sets the variable and asks no GPU."""
    for container in facts.pod.containers:
        if _asks_gpu(container, facts.pod):
            continue
        for index, entry in enumerate(objects_at(container.raw, "env", container.path)):
            value = entry.get("value") or ""
            given = entry.get("valueFrom") is not None or value not in HARMLESS
            if entry.get("name") == VARIABLE and given:
                shown = "from a reference" if entry.get("valueFrom") else f'"{value}"'
                yield Violation(
                    path=f"{container.path}.env[{index}]",
                    message=f"container {container.name} asks no GPU but sets {VARIABLE} {shown}",
                )


def _asks_gpu(container: Container, pod: Pod) -> bool:
    """Whether the container asks a GPU in any way, one of the pod's claims included."""
    if container.asks_mgpu or container.asks_whole_card or container.asks_device_class:
        return True
    resources = object_at(container.raw, "resources", container.path)
    claims = objects_at(resources, "claims", f"{container.path}.resources")
    return any(claim.get("name") in pod.gpu_claims for claim in claims)


RULE = Rule(
    id="gpu-by-env",
    title="No container takes a GPU by NVIDIA_VISIBLE_DEVICES",
    remedy=f"remove {VARIABLE}, or ask the GPU as a resource",
    source="NVIDIA container toolkit documentation of the variable",
    classes=frozenset(PodClass),
    check=check,
)
