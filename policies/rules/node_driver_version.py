"""The node's mGPU driver can suspend offline work.

Field: node annotation `mgpu-hybrid.io/driver-version`, written by the agent. Allowed: at or above the
gate, part by part as integers. Only an mGPU node needs the fact: elsewhere its absence says nothing.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import MODE_MGPU, NodeProfile
from policies.policy import SupportMatrix
from policies.versions import Support, dotted_support


def check(node: NodeProfile, support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for an older driver, an unknown one where the version is not known."""
    version, least = node.driver_version, support.driver
    match dotted_support(version, least):
        case Support.SUPPORTED:
            return
        case Support.TOO_OLD:
            yield NodeViolation(f"mGPU driver {version}, older than {least}")
        case Support.UNKNOWN:
            if node.mode == MODE_MGPU:
                shown = f' "{version}"' if version else ""
                yield NodeViolation(f"an unknown mGPU driver version{shown}", is_unknown=True)


RULE = NodeRule(
    id="node-driver-version",
    title="The node's mGPU driver is new enough",
    remedy="upgrade the mGPU driver to {driver} or later; where it is unknown, run the agent on the node",
    source="VKE documentation of hybrid deployment, version requirements",
    check=check,
)
