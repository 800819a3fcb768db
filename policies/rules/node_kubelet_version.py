"""The node's kubelet belongs to a release that knows hybrid deployment.

Field: `status.nodeInfo.kubeletVersion`. Allowed: at or above the gate of its minor version; what cannot
be compared is unknown, never a guess.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import NodeProfile
from policies.policy import SupportMatrix
from policies.versions import Support, kubernetes_support

UNKNOWN = "an unknown kubelet version"


def check(node: NodeProfile, support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for an older kubelet, an unknown one where the version cannot be compared."""
    version = node.kubelet_version
    match kubernetes_support(version, support.kubernetes):
        case Support.SUPPORTED:
            return
        case Support.TOO_OLD:
            yield NodeViolation(f"kubelet {version}, older than hybrid deployment needs")
        case Support.UNKNOWN:
            what = f"kubelet {version}, whose support cannot be told" if version else UNKNOWN
            yield NodeViolation(what, is_unknown=True)


RULE = NodeRule(
    id="node-kubelet-version",
    title="The node's kubelet is new enough",
    remedy="upgrade the node pool to the release of the control plane",
    source="VKE documentation of hybrid deployment, version requirements",
    check=check,
)
