"""What was there before, or is disliked by now, can always be changed otherwise, and can always end."""

from collections.abc import Callable
from copy import deepcopy
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from policies.node import inventory_of
from policies.policy import DEFAULT_ACTIONS, Action, Policy
from tests.builders import (
    COMPUTE_POLICY,
    GPU_SCHEDULE,
    MULTI_CARD,
    QOS_LEVEL,
    RECLAIMED,
    Object,
    bare_offline_pod,
    container,
    node,
    template_of,
)
from tests.webhook.asgi import post
from tests.webhook.node_reviews import NoPods
from tests.webhook.reviews import body, response
from webhook.app import webhook_app
from webhook.metrics import Metrics
from webhook.state import Snapshot, State

STRICT = Policy(
    actions=dict.fromkeys(DEFAULT_ACTIONS, Action.DENY),
    unknown_facts=Action.DENY,
    check_bindings=True,
)
"""Every rule refuses; the nodes are bad, the control plane is old, and the pods cannot be asked."""
NODES = inventory_of([node(labels={COMPUTE_POLICY: "native-burst-share"})], STRICT)
APP = webhook_app(
    State(Snapshot(STRICT, NODES, "v1.24.1-vke.1")), Metrics(CollectorRegistry()), pods=NoPods()
)

DISLIKED = bare_offline_pod(
    container({RECLAIMED: "500"}),
    annotations={
        QOS_LEVEL: "Reclaimed",
        MULTI_CARD: "x",
        COMPUTE_POLICY: "native-burst-share",
    },
    priorityClassName="x",
)


def workload(kind: str, api_version: str = "apps/v1", **spec: object) -> Object:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "app", "namespace": "jobs", "finalizers": ["example.com/x"]},
        "spec": {"replicas": 3, "template": template_of(DISLIKED), **spec},
    }


OBJECTS: dict[str, Object] = {
    "pod": {
        **DISLIKED,
        "metadata": {**cast("Object", DISLIKED["metadata"]), "finalizers": ["example.com/x"]},
    },
    "deployment": workload("Deployment"),
    "stateful-set": workload("StatefulSet"),
    "replica-set": workload("ReplicaSet"),
    "job": workload("Job", "batch/v1", suspend=False),
    "node": node(labels={GPU_SCHEDULE: "MGPU"}),
}
Change = Callable[[Object], None]


def metadata(raw: Object) -> dict[str, object]:
    return cast("dict[str, object]", raw["metadata"])


def with_label(raw: Object) -> None:
    labels = cast("dict[str, str]", metadata(raw).get("labels", {}))
    metadata(raw)["labels"] = {**labels, "tier": "gold"}


def with_annotation(raw: Object) -> None:
    annotations = cast("dict[str, str]", metadata(raw).get("annotations", {}))
    metadata(raw)["annotations"] = {**annotations, "example.com/note": "x"}


def with_finalizer(raw: Object) -> None:
    metadata(raw)["finalizers"] = ["example.com/x", "example.com/y"]


def finalised(raw: Object) -> None:
    metadata(raw)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    metadata(raw)["finalizers"] = []


def orphaned(raw: Object) -> None:
    metadata(raw)["ownerReferences"] = []


def with_status(raw: Object) -> None:
    raw["status"] = {"phase": "Failed", "conditions": []}


def scaled_to_zero(raw: Object) -> None:
    cast("dict[str, object]", raw["spec"])["replicas"] = 0


def suspended(raw: Object) -> None:
    cast("dict[str, object]", raw["spec"])["suspend"] = True


def cordoned(raw: Object) -> None:
    spec = cast("dict[str, object]", raw["spec"])
    spec["unschedulable"] = True
    spec["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]


ALWAYS = (with_label, with_annotation, with_finalizer, finalised, orphaned, with_status)
SCALED = ("deployment", "stateful-set", "replica-set")
CHANGES: list[tuple[str, Change]] = [
    *((name, change) for name in OBJECTS for change in ALWAYS),
    *((name, scaled_to_zero) for name in SCALED),
    ("job", suspended),
    ("node", cordoned),
]


def answered(review: bytes) -> Object:
    return response(post(APP, "/validate", review).body)


@pytest.mark.parametrize("subresource", ["", "status"])
@pytest.mark.parametrize(
    ("name", "change"), CHANGES, ids=[f"{name}-{change.__name__}" for name, change in CHANGES]
)
def test_any_other_change_passes(name: str, change: Change, subresource: str) -> None:
    old = OBJECTS[name]
    new = deepcopy(old)
    change(new)
    review = body(new, operation="UPDATE", oldObject=old, subResource=subresource)
    answer = answered(review)
    assert answer["allowed"] is True
    assert "warnings" not in answer


@pytest.mark.parametrize("name", OBJECTS)
def test_deletion_passes(name: str) -> None:
    assert answered(body(None, operation="DELETE", oldObject=OBJECTS[name]))["allowed"] is True


def test_the_scale_subresource_passes() -> None:
    scale: Object = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "app"},
        "spec": {"replicas": 0},
    }
    review = body(scale, operation="UPDATE", oldObject=scale, subResource="scale")
    assert answered(review)["allowed"] is True


@pytest.mark.parametrize("name", [name for name in OBJECTS if name != "node"])
def test_the_same_object_would_not_get_in_anew(name: str) -> None:
    """Or all of the above would say nothing."""
    assert answered(body(OBJECTS[name]))["allowed"] is False


def test_the_node_could_not_be_switched() -> None:
    review = body(node(), operation="UPDATE", oldObject=OBJECTS["node"])
    assert answered(review)["allowed"] is False
