"""Changes of a pod by kubectl: merge patches, and the Binding by which a scheduler places it."""

import json

from tests.builders import Object
from tests.cluster.admission.manifests import text
from tests.cluster.kubectl import Completed, Kubectl


def patch(kubectl: Kubectl, pod: str, changes: object, *arguments: str) -> Completed:
    """Merge the changes into the pod; None takes a field away."""
    return kubectl("patch", "pod", pod, "--type=merge", f"-p={json.dumps(changes)}", *arguments)


def annotate(kubectl: Kubectl, pod: str, annotations: object, *arguments: str) -> Completed:
    """Merge the annotations into the pod's."""
    return patch(kubectl, pod, {"metadata": {"annotations": annotations}}, *arguments)


def bind(
    kubectl: Kubectl, pod: str, annotations: object, *arguments: str, to: str = "serving-a-1"
) -> Completed:
    """Bind the pod to a node, as a scheduler does."""
    binding: Object = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod, "annotations": annotations},
        "target": {"apiVersion": "v1", "kind": "Node", "name": to},
    }
    url = f"/api/v1/namespaces/{kubectl.namespace}/pods/{pod}/binding"
    return kubectl("create", f"--raw={url}", "-f", "-", *arguments, stdin=text(binding))
