"""The node is in the scheduling mode `mgpu`.

Field: node label `vke.node.gpu.schedule`; absent means `nvidia`, an unknown value means no GPU
scheduling. Allowed: `mgpu`, to the letter.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import MODE_MGPU, NodeProfile
from policies.policy import SupportMatrix


def check(node: NodeProfile, _support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for every other mode."""
    if node.mode != MODE_MGPU:
        yield NodeViolation(f"scheduling mode {node.mode} instead of {MODE_MGPU}")


RULE = NodeRule(
    id="node-gpu-mode",
    title="The node is in scheduling mode mgpu",
    remedy="select mGPU nodes, or empty the node and set its label {keys.gpu_schedule} to mgpu",
    source="VKE GPU scheduling overview",
    check=check,
)
