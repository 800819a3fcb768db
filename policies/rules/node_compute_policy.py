"""The node runs a compute policy under which the driver arbitrates.

Under `native-burst-share` nothing can suspend offline work.
Field: node label `vke.volcengine.com/mgpu-compute-policy`; absent means fixed-share.
Allowed: the policy's list, by default `fixed-share` and `guaranteed-burst-share`.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import NodeProfile
from policies.policy import SupportMatrix


def check(node: NodeProfile, support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for every policy that cannot be hybrid."""
    if node.compute_policy not in support.compute_policies:
        yield NodeViolation(f"compute policy {node.compute_policy}")


RULE = NodeRule(
    id="node-compute-policy",
    title="The node's compute policy can be hybrid",
    remedy="select nodes with {compute_policies}",
    source="VKE documentation of hybrid deployment",
    check=check,
)
