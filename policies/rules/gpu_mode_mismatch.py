"""A GPU pod should find a node in the scheduling mode that serves it.

mGPU pods need mode `mgpu`, whole cards `nvidia`, DRA claims `nvidia-dra`; elsewhere they wait for ever.
Fields: node label `vke.node.gpu.schedule` (absent means nvidia) of all nodes the pod could land on.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.node import MODE_MGPU, MODE_NVIDIA, MODE_NVIDIA_DRA
from policies.pod import PodClass

SERVING_MODE = {
    PodClass.ONLINE: MODE_MGPU,
    PodClass.WHOLE_CARD: MODE_NVIDIA,
    PodClass.DRA: MODE_NVIDIA_DRA,
}


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when every possible node is in another mode."""
    wanted = SERVING_MODE[facts.pod.pod_class]
    profiles = facts.possible_nodes.by_profile() if facts.possible_nodes else []
    modes = sorted({profile.mode for profile, _ in profiles})
    if not modes or wanted in modes:
        return
    yield Violation(
        path=facts.pod.spec_path,
        message=(
            f"{facts.pod.pod_class} pod needs a node in mode {wanted}, "
            f"its possible nodes are in mode {', '.join(modes)}"
        ),
    )


RULE = Rule(
    id="gpu-mode-mismatch",
    title="Some possible node is in the scheduling mode that serves the pod",
    remedy="select nodes in the right mode, or ask for the GPU in the nodes' way",
    source="VKE GPU scheduling overview",
    classes=frozenset(SERVING_MODE),
    check=check,
    needs_inventory=True,
)
