"""One pod uses one way of asking for GPUs.

A node is in one scheduling mode: no node can serve mGPU and whole cards (or DRA claims) to one pod.
Fields: mGPU resources, whole-card resources, `spec.resourceClaims` that the policy lists as GPU.
Allowed: one of the three.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import MGPU_CLASSES


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per container that asks whole cards, and one for the claims."""
    pod = facts.pod
    mgpu = ", ".join(c.name for c in pod.mgpu_containers)
    for container in pod.containers:
        if container.asks_whole_card or container.asks_device_class:
            what = "whole cards" if container.asks_whole_card else "a device class of GPUs"
            yield Violation(
                path=f"{container.path}.resources",
                message=f"container {container.name} asks {what} while {mgpu} asks mGPU",
            )
    if pod.gpu_claims:
        yield Violation(
            path=f"{pod.spec_path}.resourceClaims",
            message=f"resource claim {', '.join(pod.gpu_claims)} is for a GPU while {mgpu} asks mGPU",
        )


RULE = Rule(
    id="mixed-gpu-modes",
    title="A pod asks for GPUs in one way only",
    remedy=(
        "keep either the mGPU resources or {whole_card} or the GPU claim, "
        "and split the pod if it needs both"
    ),
    source="VKE GPU scheduling overview: one scheduling mode per node",
    classes=MGPU_CLASSES,
    check=check,
)
