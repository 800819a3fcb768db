"""Bindings where the policy checks nodes: an offline pod is not bound to a node that cannot be hybrid."""

from collections.abc import Iterator

import pytest

from tests.builders import ONLINE_ASKS, Object, container
from tests.cluster.admission.live_nodes import NODES, gpu_node, metric
from tests.cluster.admission.manifests import offline, other, text
from tests.cluster.admission.messages import refused
from tests.cluster.admission.patches import bind
from tests.cluster.admission.registered_webhook import registered, serving_live
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Completed, Kubectl
from tests.cluster.nodes import create_node
from tests.cluster.waiting import eventually

GOOD, NATIVE = "bind-good", "bind-native"
POLICY = """
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  bindings: {checkEligibility: true}
"""


@pytest.fixture(scope="module")
def checked(
    control_plane: ControlPlane, module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("bindings") / "tls"
    create_node(module_kubectl, gpu_node(GOOD))
    create_node(module_kubectl, gpu_node(NATIVE, policy="native-burst-share"))
    with (
        serving_live(folder, control_plane.kubeconfig, policy_text=POLICY) as server,
        registered(module_kubectl, server, policy_text=POLICY),
    ):
        eventually(lambda: metric(server, NODES) >= 2, "the webhook knows both nodes")
        yield module_kubectl
    module_kubectl.succeed("delete", "node", GOOD, NATIVE)


def placed(kubectl: Kubectl, raw: Object, name: str, on_node: str) -> Completed:
    kubectl.succeed("create", "-f", "-", stdin=text(raw))
    return bind(kubectl, name, None, to=on_node)


def test_offline_pod_is_not_bound_to_a_bad_node(checked: Kubectl) -> None:
    done = placed(checked, offline("bad", nodeSelector={}), "bad", NATIVE)

    assert done.code == 1
    assert done.err == refused(
        "bindings",
        f"[node-compute-policy] node {NATIVE} cannot suspend offline work for online work: it has compute "
        "policy native-burst-share; select nodes with guaranteed-burst-share or fixed-share",
        doing="",
    )


@pytest.mark.parametrize(
    ("raw", "name", "on_node"),
    [
        pytest.param(offline("good", nodeSelector={}), "good", GOOD, id="offline-on-good"),
        pytest.param(other("online", container(ONLINE_ASKS)), "online", NATIVE, id="online"),
        pytest.param(other("plain"), "plain", NATIVE, id="no-gpu"),
        pytest.param(offline("far", nodeSelector={}), "far", "unknown-node", id="unknown-node"),
    ],
)
def test_others_are_bound(checked: Kubectl, raw: Object, name: str, on_node: str) -> None:
    assert placed(checked, raw, name, on_node).code == 0
    spec = checked.read("get", "pod", name)["spec"]
    assert isinstance(spec, dict)
    assert spec["nodeName"] == on_node
