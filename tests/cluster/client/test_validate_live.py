"""`validate --live` against the real API server: its nodes, its version, and what claims there ask for."""

import json
from pathlib import Path

import pytest

from cli.main import main
from tests.builders import COMPUTE_POLICY, Object, bare_offline_pod, node
from tests.cluster.conftest import CreateNode
from tests.cluster.control_plane import ControlPlane, write_kubeconfig
from tests.cluster.kubectl import Kubectl

POOL = "validate-live"
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a-claim}
spec: {devices: {requests: [{name: one, exactly: {deviceClassName: gpu.nvidia.com}}]}}
"""
TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: a-template}
spec:
  spec:
    devices:
      requests:
      - name: one
        firstAvailable:
        - {name: small, deviceClassName: mig.nvidia.com}
        - {name: card, deviceClassName: nic.example.com}
"""
NETWORK = TEMPLATE.replace("mig.nvidia.com", "nic2.example.com").replace("a-template", "network")
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
Capture = pytest.CaptureFixture[str]


def validate(tmp_path: Path, kubeconfig: Path, raw: Object, namespace: str = "default") -> int:
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(raw))
    flags = ("--live", "--kubeconfig", str(kubeconfig), "-n", namespace, "-o", "json")
    return main(["validate", "-f", str(path), *flags])


def claiming(claim: dict[str, str]) -> Object:
    spec = {"resourceClaims": [{"name": "x", **claim}], "containers": [{"name": "main"}]}
    return {**POD, "spec": spec}


def test_the_verdict_follows_the_node(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    add_node: CreateNode,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    raw = bare_offline_pod(nodeSelector={"pool": POOL})
    name = add_node(node("validate-live", labels={"pool": POOL}))
    assert validate(tmp_path, control_plane.kubeconfig, raw) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["results"][0]["findings"] == []
    assert result["summary"]["notJudged"] == {}

    kubectl.succeed("label", "node", name, f"{COMPUTE_POLICY}=native-burst-share", "--overwrite")
    assert validate(tmp_path, control_plane.kubeconfig, raw) == 1
    assert "node-compute-policy" in capsys.readouterr().out


@pytest.fixture
def with_claims(kubectl: Kubectl, namespace: str) -> str:
    """The name of a namespace that has the claims."""
    manifests = f"{CLAIM}---{TEMPLATE}---{NETWORK}"
    kubectl.in_namespace(namespace).succeed("create", "-f", "-", stdin=manifests)
    return namespace


@pytest.mark.parametrize(
    ("claim", "pod_class"),
    [
        pytest.param({"resourceClaimName": "a-claim"}, "dra", id="claim"),
        pytest.param({"resourceClaimTemplateName": "a-template"}, "dra", id="template"),
        pytest.param({"resourceClaimTemplateName": "network"}, "none", id="another device"),
    ],
)
def test_the_class_follows_the_claim(
    control_plane: ControlPlane,
    with_claims: str,
    tmp_path: Path,
    capsys: Capture,
    claim: dict[str, str],
    pod_class: str,
) -> None:
    assert validate(tmp_path, control_plane.kubeconfig, claiming(claim), with_claims) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["results"][0]["class"] == pod_class
    assert captured.err == ""


def test_a_claim_of_another_namespace_is_another_claim(
    control_plane: ControlPlane, with_claims: str, tmp_path: Path, capsys: Capture
) -> None:
    assert with_claims != "default"
    raw = claiming({"resourceClaimName": "a-claim"})
    assert validate(tmp_path, control_plane.kubeconfig, raw) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["results"][0]["class"] == "none"
    assert "default/claim/a-claim (GET /apis/resource.k8s.io/v1/" in captured.err
    assert "404 NotFound" in captured.err
    assert captured.err.count("\n") == 1


@pytest.fixture
def reader(control_plane: ControlPlane, kubectl: Kubectl, tmp_path: Path) -> Path:
    """The kubeconfig of a user who may list nodes and nothing else."""
    role = ("clusterrole", "validate-live", "--verb=list", "--resource=nodes")
    binding = (
        "clusterrolebinding",
        "validate-live",
        "--clusterrole=validate-live",
        "--user=reader",
    )
    kubectl.succeed("create", *role)
    kubectl.succeed("create", *binding)
    issued = control_plane.authority.issue_client("reader")
    path = tmp_path / "reader.kubeconfig"
    return write_kubeconfig(path, control_plane.url, control_plane.authority, issued)


def test_who_may_list_nodes_needs_no_more(reader: Path, tmp_path: Path, capsys: Capture) -> None:
    raw = claiming({"resourceClaimName": "a-claim"})
    assert validate(tmp_path, reader, raw) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["results"][0]["class"] == "none"
    assert '403 Forbidden: resourceclaims.resource.k8s.io "a-claim" is forbidden' in captured.err


def test_who_may_not_is_told(control_plane: ControlPlane, tmp_path: Path, capsys: Capture) -> None:
    issued = control_plane.authority.issue_client("stranger-to-nodes")
    path = tmp_path / "stranger.kubeconfig"
    write_kubeconfig(path, control_plane.url, control_plane.authority, issued)
    assert validate(tmp_path, path, bare_offline_pod()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"--live ({path}): GET /api/v1/nodes: 403 Forbidden: nodes is forbidden: User "
        '"stranger-to-nodes" cannot list resource "nodes" in API group "" at the cluster scope; grant this '
        "verb on this resource to the user that the message names\n"
    )
