"""The optional check of bindings through the ASGI application."""

import pytest
from prometheus_client import CollectorRegistry

from policies.node import inventory_of
from policies.policy import Exemption, Policy
from tests.builders import (
    ASSUMED,
    COMPUTE_POLICY,
    Object,
    node,
    offline_pod,
    online_pod,
    pod,
)
from tests.webhook.asgi import post
from tests.webhook.node_reviews import KnownPods, NoPods, bind
from tests.webhook.reviews import response
from webhook.app import webhook_app
from webhook.metrics import Metrics
from webhook.pod_lookup import LivePods
from webhook.state import Snapshot, State

ON = Policy(check_bindings=True)
NODES = [node("gpu-1", labels={COMPUTE_POLICY: "native-burst-share"}), node("good")]
REFUSED = (
    "[node-compute-policy] node gpu-1 cannot suspend offline work for online work: it has compute policy "
    "native-burst-share; select nodes with guaranteed-burst-share or fixed-share"
)


def answer(
    pods: LivePods | None, review: bytes, policy: Policy = ON, nodes: list[Object] | None = NODES
) -> Object:
    inventory = None if nodes is None else inventory_of(nodes, policy)
    state = State(Snapshot(policy, inventory))
    app = webhook_app(state, Metrics(CollectorRegistry()), pods=pods)
    return response(post(app, "/validate", review).body)


@pytest.mark.parametrize(
    "review",
    [
        pytest.param(bind(), id="pods/binding"),
        pytest.param(bind(subResource="", name=""), id="bindings"),
    ],
)
def test_an_offline_pod_is_not_bound_to_a_bad_node(review: bytes) -> None:
    pods = KnownPods(offline_pod())
    assert answer(pods, review)["status"] == {
        "code": 403,
        "reason": "Forbidden",
        "message": REFUSED,
    }
    assert pods.asked == [("jobs", "app")]


@pytest.mark.parametrize(
    ("raw", "allowed"),
    [
        pytest.param(offline_pod(), False, id="offline"),
        pytest.param(online_pod(), True, id="online"),
        pytest.param(pod(), True, id="no GPU"),
    ],
)
def test_only_offline_pods_are_refused(raw: Object, *, allowed: bool) -> None:
    assert answer(KnownPods(raw), bind())["allowed"] is allowed


@pytest.mark.parametrize(
    ("to", "policy", "nodes"),
    [
        pytest.param("good", ON, NODES, id="good node"),
        pytest.param("other", ON, NODES, id="node not known"),
        pytest.param("gpu-1", ON, None, id="no nodes known"),
        pytest.param("gpu-1", Policy(), NODES, id="off"),
        pytest.param(
            "gpu-1",
            Policy(check_bindings=True, exemptions=(Exemption(("jobs",)),)),
            NODES,
            id="exempt",
        ),
    ],
)
def test_nobody_is_asked_where_nothing_would_be_refused(
    to: str, policy: Policy, nodes: list[Object] | None
) -> None:
    pods = KnownPods(offline_pod())
    assert answer(pods, bind(to=to), policy, nodes)["allowed"] is True
    assert pods.asked == []


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param(NoPods(), id="cannot be asked"),
        pytest.param(None, id="not live"),
        pytest.param(KnownPods(), id="pod is gone"),
    ],
)
def test_what_is_not_known_passes(pods: LivePods | None) -> None:
    assert answer(pods, bind())["allowed"] is True


def test_both_checks_of_a_binding_tell() -> None:
    raw: Object = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "app", "namespace": "jobs", "annotations": {ASSUMED: "true"}},
        "target": {"name": "gpu-1"},
    }
    refused = answer(KnownPods(offline_pod()), bind(object=raw))
    assert refused["allowed"] is False
    assert "[scheduler-annotations]" in str(refused["warnings"])
    assert "[node-compute-policy]" in str(refused["status"])


@pytest.mark.parametrize("target", [5, ["gpu-1"]], ids=["number", "list"])
def test_a_target_of_a_wrong_type_is_a_bad_request(target: object) -> None:
    refused = answer(KnownPods(offline_pod()), bind(to=target))
    assert "target.name: must be a string" in str(refused["status"])
