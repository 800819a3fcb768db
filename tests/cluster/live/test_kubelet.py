"""A pod with `nodeName` goes past the scheduler; the injected affinity holds it at the kubelet.

Our webhook is not registered here: it would refuse such a pod at once. What is tried is what remains when
a node turns ineligible after the pod was admitted.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import Object, offline_pod, pod
from tests.cluster.admission.manifests import section
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import create_pod, read, send
from tests.cluster.kubectl import Kubectl
from tests.cluster.kubelet import running_kubelet
from tests.cluster.tally import NO_KUBELET_BECAUSE
from tests.cluster.waiting import eventually

NODE = "hollow"
LIMIT_SECONDS = 60
MARKS = (
    "vke.node.gpu.schedule=mgpu",
    "vke.volcengine.com/mgpu-compute-policy=guaranteed-burst-share",
)
ELIGIBLE = "mgpu-hybrid.node-restriction.kubernetes.io/eligible"


@pytest.fixture
def node(
    control_plane: ControlPlane, kubectl: Kubectl, pytestconfig: pytest.Config, tmp_path: Path
) -> Iterator[str]:
    """The name of a node with a kubelet; without a binary for one the test is skipped."""
    if control_plane.binaries.kubemark is None:
        because = f"{control_plane.binaries.source} has no kubemark"
        pytestconfig.stash[NO_KUBELET_BECAUSE] = because
        pytest.skip(because)
    with running_kubelet(control_plane, NODE, tmp_path):
        kubectl.succeed("label", "node", NODE, *MARKS)
        yield NODE
    kubectl.succeed("delete", "node", NODE)


def status_of(plane: ControlPlane, namespace: str, name: str) -> tuple[object, object]:
    """The pod's phase and reason."""
    status = section(read(plane, f"/api/v1/namespaces/{namespace}/pods/{name}"), "status")
    return status.get("phase"), status.get("reason")


def pinned(raw: Object, name: str) -> Object:
    """The pod under this name, placed on the node by its author."""
    everywhere = [{"operator": "Exists"}]
    spec = {**section(raw, "spec"), "nodeName": NODE, "tolerations": everywhere}
    return {**raw, "metadata": {**section(raw, "metadata"), "name": name}, "spec": spec}


def test_the_kubelet_refuses_an_offline_pod_on_a_node_that_is_not_eligible(
    control_plane: ControlPlane, kubectl: Kubectl, node: str, namespace: str
) -> None:
    def becomes(name: str, wanted: tuple[object, object]) -> None:
        eventually(
            lambda: status_of(control_plane, namespace, name) == wanted,
            f"pod {name} is {wanted}",
            limit_seconds=LIMIT_SECONDS,
        )

    def create(raw: Object, name: str) -> None:
        created = pinned(raw, name)
        created = {**created, "metadata": {**section(created, "metadata"), "namespace": namespace}}
        assert send(control_plane, create_pod(namespace, created)).code == 201

    create(pod(), "ordinary")
    create(offline_pod(), "early")
    becomes("ordinary", ("Running", None))
    becomes("early", ("Failed", "NodeAffinity"))

    kubectl.succeed("label", "node", node, f"{ELIGIBLE}=true")
    create(offline_pod(), "late")
    becomes("late", ("Running", None))
