"""Nodes without kubelets: created, given a status, and with exactly the taints that the test
wants.

The API server's TaintNodesByCondition plugin taints every Node that is created as not ready,
whatever its manifest says, and here no controller takes that off again. So the taints are written
once more after the creation.
"""

import json
from collections.abc import Mapping

from tests.cluster.kubectl import Kubectl


def create_node(kubectl: Kubectl, node: Mapping[str, object]) -> None:
    """Create the Node of this manifest: its `status`, and its `spec.taints` and no others."""
    name = node_name(node)
    spec = node.get("spec")
    taints = spec.get("taints", []) if isinstance(spec, Mapping) else []
    kubectl.succeed("create", "-f", "-", stdin=json.dumps(node))
    set_taints(kubectl, name, taints)
    status = node.get("status")
    if isinstance(status, Mapping):
        set_node_status(kubectl, name, status)


def set_taints(kubectl: Kubectl, name: str, taints: object) -> None:
    """Replace the node's taints by this list; an empty one clears them."""
    patch = json.dumps({"spec": {"taints": taints}})
    kubectl.succeed("patch", "node", name, "--type=merge", f"--patch={patch}")


def set_node_status(kubectl: Kubectl, name: str, status: Mapping[str, object]) -> None:
    """Merge this into the node's status through the status subresource, as a kubelet does."""
    patch = json.dumps({"status": status})
    kubectl.succeed(
        "patch", "node", name, "--subresource=status", "--type=merge", f"--patch={patch}"
    )


def node_name(node: Mapping[str, object]) -> str:
    """The manifest's metadata.name."""
    metadata = node["metadata"]
    assert isinstance(metadata, Mapping)
    return str(metadata["name"])
