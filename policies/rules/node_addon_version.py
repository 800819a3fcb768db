"""The node's mGPU add-on knows hybrid deployment.

Field: node annotation `mgpu-hybrid.io/addon-version`, or the policy's `addonVersion`. Allowed: at or
above the gate. Only an mGPU node needs the fact.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import MODE_MGPU, NodeProfile
from policies.policy import SupportMatrix
from policies.versions import Support, dotted_support


def check(node: NodeProfile, support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for an older add-on, an unknown one where the version is not known."""
    version, least = node.addon_version, support.addon
    match dotted_support(version, least):
        case Support.SUPPORTED:
            return
        case Support.TOO_OLD:
            yield NodeViolation(f"mGPU add-on {version}, older than {least}")
        case Support.UNKNOWN:
            if node.mode == MODE_MGPU:
                shown = f' "{version}"' if version else ""
                yield NodeViolation(f"an unknown mGPU add-on version{shown}", is_unknown=True)


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
