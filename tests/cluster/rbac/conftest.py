"""A control plane that writes down what the webhook's service account asks, and that account's kubeconfig."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.binaries import ClusterBinaries
from tests.cluster.control_plane import ControlPlane, running_control_plane
from tests.cluster.kubectl import Kubectl

MANIFEST = Path(__file__).parents[3] / "deploy" / "rbac.yaml"
NAMESPACE = "mgpu-hybrid-system"
ACCOUNT = "mgpu-hybrid-webhook"
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": [USER]}, {"level": "None"}],
}


@pytest.fixture(scope="package")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file to which the API server writes each request of the account before it goes on."""
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="package")
def control_plane(
    cluster_binaries: ClusterBinaries, audit_log: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """etcd and kube-apiserver for this folder."""
    policy = audit_log.with_name("policy.yaml")
    policy.write_text(yaml.safe_dump(AUDIT_POLICY))
    flags = [
        f"--audit-policy-file={policy}",
        f"--audit-log-path={audit_log}",
        "--audit-log-mode=blocking",
    ]
    folder = tmp_path_factory.mktemp("rbac")
    with running_control_plane(cluster_binaries, folder, api_server_flags=flags) as running:
        yield running


@pytest.fixture(scope="package")
def kubectl(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl as the administrator of that control plane, once the manifest is applied."""
    kubectl = Kubectl(
        binary=control_plane.binaries.kubectl,
        kubeconfig=control_plane.kubeconfig,
        home=tmp_path_factory.mktemp("rbac-kubectl-home"),
    )
    kubectl.succeed("create", "namespace", NAMESPACE)
    kubectl.in_namespace("").succeed("apply", "-f", str(MANIFEST))  # which names two namespaces
    return kubectl


@pytest.fixture(scope="package")
def account(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The kubeconfig of the service account, with a token as a pod has one."""
    token = kubectl.succeed("create", "token", ACCOUNT, f"--namespace={NAMESPACE}").out.strip()
    document = yaml.safe_load(control_plane.kubeconfig.read_text())
    document["users"] = [{"name": "test", "user": {"token": token}}]
    path = tmp_path_factory.mktemp("account") / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path
