"""The node's mGPU add-on knows hybrid deployment.

Field: node annotation `mgpu-hybrid.io/addon-version`, or the policy's `addonVersion`. Allowed: at or
above the gate. Only an mGPU node needs the fact.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import NodeProfile
from policies.node_versions import version_violations
from policies.policy import SupportMatrix


def check(node: NodeProfile, support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for an older add-on, an unknown one where the version is not known."""
    return version_violations("mGPU add-on", node.addon_version, support.addon, node.mode)


RULE = NodeRule(
    id="node-addon-version",
    title="The node's mGPU add-on is new enough",
    remedy=(
        "upgrade the mGPU add-on to {addon} or later; "
        "where it is unknown, set `addonVersion` in the policy"
    ),
    source="VKE documentation of hybrid deployment, version requirements",
    check=check,
)
