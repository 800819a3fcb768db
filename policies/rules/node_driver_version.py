"""The node's mGPU driver can suspend offline work.

Field: node annotation `mgpu-hybrid.io/driver-version`, written by the agent. Allowed: at or above the
gate, part by part as integers. Only an mGPU node needs the fact: elsewhere its absence says nothing.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import NodeProfile
from policies.node_versions import version_violations
from policies.policy import SupportMatrix


def check(node: NodeProfile, support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for an older driver, an unknown one where the version is not known."""
    return version_violations("mGPU driver", node.driver_version, support.driver, node.mode)


RULE = NodeRule(
    id="node-driver-version",
    title="The node's mGPU driver is new enough",
    remedy="upgrade the mGPU driver to {driver} or later; where it is unknown, run the agent on the node",
    source="VKE documentation of hybrid deployment, version requirements",
    check=check,
)
