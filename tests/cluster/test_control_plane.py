"""The harness itself: what these hold, the admission tests take for granted."""

import json
import os

import pytest

from tests.cluster.conftest import CreateNode
from tests.cluster.control_plane import ControlPlane, running_control_plane, write_kubeconfig
from tests.cluster.go_build import kubernetes_version
from tests.cluster.kubectl import Kubectl

POD = """
apiVersion: v1
kind: Pod
metadata: {name: plain}
spec: {containers: [{name: main, image: busybox}]}
"""
KEPT_TAINT = {"key": "pool", "value": "offline", "effect": "NoSchedule"}


def node(**spec: object) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "gpu-1",
            "labels": {"vke.node.gpu.schedule": "mgpu"},
            "annotations": {"mgpu-hybrid.io/driver-version": "0.07.35.23"},
        },
        "spec": spec,
        "status": {
            "allocatable": {"vke.volcengine.com/mgpu-core": "800"},
            "nodeInfo": {"osImage": "Ubuntu 20.04.6 LTS", "kubeletVersion": "v1.30.4-vke.3"},
        },
    }


def test_api_server_has_the_pinned_version_when_we_built_it(
    control_plane: ControlPlane, kubectl: Kubectl
) -> None:
    version = json.loads(kubectl.succeed("get", "--raw", "/version").out)

    if control_plane.binaries.source.startswith("built"):
        assert version["gitVersion"] == kubernetes_version() == "v1.36.3"
    assert version["major"] == "1"


def test_pod_is_created_in_a_new_namespace(kubectl: Kubectl, namespace: str) -> None:
    in_namespace = kubectl.in_namespace(namespace)
    assert in_namespace.read("get", "pods")["items"] == []

    done = in_namespace("apply", "-f", "-", stdin=POD)

    assert (done.code, done.out, done.err) == (0, "pod/plain created\n", "")
    assert in_namespace.succeed("get", "pods", "-o", "name").out == "pod/plain\n"
    assert kubectl.succeed("get", "pods", "-o", "name").out == ""


def test_refusal_comes_back_as_exit_code_and_words(kubectl: Kubectl, namespace: str) -> None:
    done = kubectl.in_namespace(namespace)(
        "apply", "-f", "-", stdin=POD.replace("image: busybox", "image: ''")
    )

    assert done.code == 1
    assert 'The Pod "plain" is invalid' in done.err


@pytest.mark.parametrize(
    ("spec", "taints"),
    [
        pytest.param({}, None, id="all taints cleared"),
        pytest.param({"taints": [KEPT_TAINT]}, [KEPT_TAINT], id="the asked taint kept"),
    ],
)
def test_node_is_as_its_manifest_says(
    kubectl: Kubectl, add_node: CreateNode, spec: dict[str, object], taints: object
) -> None:
    name = add_node(node(**spec))

    created = json.loads(kubectl.succeed("get", "node", name, "-o", "json").out)
    assert created["metadata"]["labels"]["vke.node.gpu.schedule"] == "mgpu"
    assert created["metadata"]["annotations"]["mgpu-hybrid.io/driver-version"] == "0.07.35.23"
    assert created["spec"].get("taints") == taints
    assert created["status"]["allocatable"] == {"vke.volcengine.com/mgpu-core": "800"}
    assert created["status"]["nodeInfo"]["osImage"] == "Ubuntu 20.04.6 LTS"


def test_nodes_of_an_earlier_test_are_gone(kubectl: Kubectl) -> None:
    assert kubectl.read("get", "nodes")["items"] == []


def test_kubelet_may_label_only_its_own_node_and_not_with_the_restricted_prefix(
    control_plane: ControlPlane, kubectl: Kubectl, add_node: CreateNode
) -> None:
    name = add_node(node())
    kubelet = kubectl.with_kubeconfig(
        write_kubeconfig(
            control_plane.kubeconfig.with_name("kubelet.kubeconfig"),
            control_plane.url,
            control_plane.authority,
            control_plane.authority.issue_client(f"system:node:{name}", ["system:nodes"]),
        )
    )

    allowed = kubelet("label", "node", name, "example.com/rack=7")
    refused = kubelet("label", "node", name, "x.node-restriction.kubernetes.io/eligible=true")

    assert (allowed.code, allowed.err) == (0, "")
    assert refused.code == 1
    assert "is not allowed to modify labels" in refused.err


def test_a_user_without_roles_is_forbidden(kubectl: Kubectl, namespace: str) -> None:
    done = kubectl.in_namespace(namespace)("get", "pods", "--as=nobody")

    assert done.code == 1
    assert 'User "nobody" cannot list resource "pods"' in done.err


def test_both_processes_end_with_the_control_plane(
    control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("second")

    with running_control_plane(control_plane.binaries, folder) as second:
        assert second.url != control_plane.url
        for pid in second.pids:
            os.kill(pid, 0)

    for pid in second.pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
