"""Nodes and the pods on them for a webhook that asks the real API server, and what the webhook counted."""

import json
import urllib.request
from typing import cast

from demo.server import RunningServer
from tests.builders import COMPUTE_POLICY, GPU_SCHEDULE, ONLINE_ASKS, Object, container, node, pod
from tests.cluster.admission.manifests import text
from tests.cluster.kubectl import Completed, Kubectl

CALLS = "mgpu_hybrid_admission_requests_total"
NODES = "mgpu_hybrid_nodes"
REMEDY = (
    "drain these pods first, or let a user of the policy's `modeSwitch` do it; put the label back to go on "
    "as before"
)


def gpu_node(
    name: str, mode: str | None = "mgpu", policy: str = "guaranteed-burst-share"
) -> Object:
    """A node with GPUs."""
    return node(name, labels={GPU_SCHEDULE: mode, COMPUTE_POLICY: policy})


def put_pod(kubectl: Kubectl, name: str, on_node: str, phase: str = "Running") -> None:
    """Create an online pod on the node and give it a status, as a kubelet does."""
    raw = pod(container(ONLINE_ASKS), metadata={"name": name}, nodeName=on_node)
    cast("Object", raw["metadata"]).pop("namespace", None)
    kubectl.succeed("create", "-f", "-", stdin=text(raw))
    set_phase(kubectl, name, phase)


def set_phase(kubectl: Kubectl, name: str, phase: str) -> None:
    """Write the phase through the status subresource."""
    patch = json.dumps({"status": {"phase": phase}})
    kubectl.succeed("patch", "pod", name, "--subresource=status", "--type=merge", f"-p={patch}")


def drop_pod(kubectl: Kubectl, name: str) -> None:
    """Delete the pod at once: here no kubelet confirms its end."""
    kubectl.succeed("delete", "pod", name, "--grace-period=0", "--force")


def label(kubectl: Kubectl, name: str, *changes: str) -> Completed:
    """`kubectl label node --overwrite`."""
    return kubectl("label", "node", name, "--overwrite", *changes)


def metric(server: RunningServer, name: str) -> float:
    """The sum of all series of this name at the webhook."""
    url = f"http://127.0.0.1:{server.health_port}/metrics"
    with urllib.request.urlopen(url, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.split("{")[0].split()[0] == name)
