"""The service account may do what `serve` does, and nothing else.

One server does everything it can do with the account's token; then the API server's audit log and the
manifest must say the same.
"""

from pathlib import Path

import pytest

from policies.policy import ELIGIBLE_LABEL
from tests.builders import DRIVER_VERSION, GPU_SCHEDULE
from tests.cluster.admission.live_nodes import drop_pod, gpu_node, label, put_pod
from tests.cluster.admission.manifests import offline, text
from tests.cluster.admission.patches import bind
from tests.cluster.admission.registered_webhook import registered, serving_live
from tests.cluster.kubectl import Kubectl
from tests.cluster.nodes import create_node
from tests.cluster.rbac.conftest import MANIFEST, NAMESPACE, USER
from tests.cluster.rbac.grants import Asked, Grant, documents, grants_of, requests_in
from tests.cluster.waiting import eventually

LEASE = "mgpu-hybrid-controller"
HOLDER = (
    "get",
    "lease",
    LEASE,
    f"--namespace={NAMESPACE}",
    "-o",
    "jsonpath={.spec.holderIdentity}",
)
POLICY = """
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  bindings: {checkEligibility: true}
"""
GRANTS = sorted(set(grants_of(documents(MANIFEST))))
WITHOUT_ROLE = {Asked("get", "/version")}
"""What Kubernetes lets every user do."""


def test_the_roles_say_this() -> None:
    """Written out, so that a new permission is a change of this table too."""
    assert [
        Grant("create", "events.events.k8s.io", "default"),
        Grant("create", "leases.coordination.k8s.io", NAMESPACE),
        Grant("get", "leases.coordination.k8s.io", NAMESPACE, LEASE),
        Grant("get", "pods"),
        Grant("list", "nodes"),
        Grant("list", "pods"),
        Grant("patch", "nodes"),
        Grant("update", "leases.coordination.k8s.io", NAMESPACE, LEASE),
        Grant("watch", "nodes"),
    ] == GRANTS


@pytest.mark.parametrize("grant", GRANTS, ids=lambda grant: f"{grant.verb}-{grant.resource}")
def test_the_account_can(kubectl: Kubectl, grant: Grant) -> None:
    assert can(kubectl, grant)


@pytest.mark.parametrize(
    "denied",
    [
        pytest.param(Grant("get", "nodes"), id="get nodes"),
        pytest.param(Grant("update", "nodes"), id="update nodes"),
        pytest.param(Grant("patch", "nodes/status"), id="patch the status of nodes"),
        pytest.param(Grant("delete", "nodes"), id="delete nodes"),
        pytest.param(Grant("watch", "pods"), id="watch pods"),
        pytest.param(Grant("delete", "pods"), id="delete pods"),
        pytest.param(Grant("create", "pods/binding"), id="bind pods"),
        pytest.param(Grant("get", "secrets", NAMESPACE), id="read its own secrets"),
        pytest.param(Grant("get", "configmaps", NAMESPACE), id="read its own configmaps"),
        pytest.param(Grant("create", "events.events.k8s.io", NAMESPACE), id="events elsewhere"),
        pytest.param(
            Grant("update", "leases.coordination.k8s.io", NAMESPACE, "other"), id="another lease"
        ),
        pytest.param(
            Grant("update", "leases.coordination.k8s.io", "kube-system", LEASE),
            id="a lease elsewhere",
        ),
        pytest.param(
            Grant("delete", "leases.coordination.k8s.io", NAMESPACE, LEASE), id="delete its lease"
        ),
        pytest.param(
            Grant("patch", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
            id="register webhooks",
        ),
        pytest.param(Grant("impersonate", "users"), id="be somebody else"),
    ],
)
def test_the_account_cannot(kubectl: Kubectl, denied: Grant) -> None:
    assert not can(kubectl, denied)


def can(kubectl: Kubectl, grant: Grant) -> bool:
    """What `kubectl auth can-i` says of the account."""
    resource, _, subresource = grant.resource.partition("/")
    arguments = [resource if grant.name == "*" else f"{resource}/{grant.name}"]
    if subresource:
        arguments.append(f"--subresource={subresource}")
    if grant.namespace == "*":
        arguments.append("--all-namespaces")
    else:
        arguments.append(f"--namespace={grant.namespace}")
    groups = ("--as-group=system:serviceaccounts", f"--as-group=system:serviceaccounts:{NAMESPACE}")
    done = kubectl("auth", "can-i", grant.verb, *arguments, f"--as={USER}", *groups)
    answer = done.out.strip().split(" ")[0]
    assert answer in {"yes", "no"}, done.err
    return answer == "yes"


@pytest.fixture(scope="module")
def asked(
    account: Path, kubectl: Kubectl, audit_log: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Asked, int]]:
    """Each request of a server that did all its work with the account's token, and its status code."""
    create_node(kubectl, gpu_node("good"))
    create_node(kubectl, gpu_node("native", policy="native-burst-share"))
    folder = tmp_path_factory.mktemp("rbac-webhook") / "tls"
    with serving_live(folder, account, policy_text=POLICY) as server:
        becomes(kubectl, "good", "true")
        becomes(kubectl, "native", "false")
        with registered(kubectl, server, policy_text=POLICY):
            refuses_a_switch(kubectl)
            refuses_a_binding(kubectl)
        tells_of_pods_on_an_ineligible_node(kubectl)
    assert not kubectl.succeed(*HOLDER).out, "the lease was not released"
    return list(requests_in(audit_log))


def becomes(kubectl: Kubectl, name: str, value: str) -> None:
    """Wait for the eligible label of a node."""
    key = ELIGIBLE_LABEL.replace(".", "\\.")
    get = ("get", "node", name, "-o", f"jsonpath={{.metadata.labels.{key}}}")
    eventually(lambda: kubectl.succeed(*get).out == value, f"{name}: {value}", limit_seconds=60)


def refuses_a_switch(kubectl: Kubectl) -> None:
    put_pod(kubectl, "server", "good")
    done = label(kubectl, "good", f"{GPU_SCHEDULE}=nvidia")
    assert "while 1 unfinished pod holds its GPUs (default/server)" in done.err
    drop_pod(kubectl, "server")


def refuses_a_binding(kubectl: Kubectl) -> None:
    kubectl.succeed("create", "-f", "-", stdin=text(offline("batch", nodeSelector={})))
    done = bind(kubectl, "batch", None, to="native")
    assert "[node-compute-policy]" in done.err
    assert bind(kubectl, "batch", None, to="good").code == 0


def tells_of_pods_on_an_ineligible_node(kubectl: Kubectl) -> None:
    kubectl.succeed("annotate", "node", "good", "--overwrite", f"{DRIVER_VERSION}=0.07.1.1")
    becomes(kubectl, "good", "false")
    selector = "--field-selector=regarding.name=good,reason=HybridIneligible"
    get = ("get", "events.events.k8s.io", selector, "-o", "jsonpath={.items[*].note}")
    eventually(lambda: "default/batch" in kubectl.succeed(*get).out, "an event names the pod")


def test_nothing_was_forbidden(asked: list[tuple[Asked, int]]) -> None:
    assert asked
    assert not [request for request, status in asked if status in {401, 403}]


def test_every_request_has_its_grant(asked: list[tuple[Asked, int]]) -> None:
    requests = {request for request, _ in asked}
    granted = {request for request in requests if any(grant.covers(request) for grant in GRANTS)}
    assert requests - granted == WITHOUT_ROLE


def test_every_grant_was_needed(asked: list[tuple[Asked, int]]) -> None:
    requests = {request for request, _ in asked}
    unused = [grant for grant in GRANTS if not any(grant.covers(each) for each in requests)]
    assert unused == []
