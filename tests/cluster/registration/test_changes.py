"""Which changes of a pod a real API server shows to the webhook."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from tests.cluster.kubectl import Kubectl
from tests.cluster.registration.pod_shapes import (
    ASSUMED,
    COMPUTE_POLICY,
    GPU_INDEX,
    MARKED,
    OFFLINE_LIMITS,
    ONLINE_LIMITS,
    QOS_LEVEL,
    RECLAIMED,
    WHOLE_CARD,
    Object,
    container,
    list_of,
    named,
    pod,
)
from tests.cluster.registration.recording_webhook import (
    RecordingWebhook,
    failed_evaluations,
    registered,
)

NAMESPACE = "changes"
OFFLINE = {"validate/offline-pod-changes"}
GPU = {"validate/gpu-pod-changes"}
NOTHING: set[str] = set()

GATES = [{"name": "example.com/wait"}]  # without one, nodeSelector and affinity are immutable
EXISTING: Mapping[str, Object] = {
    "offline": pod(container(OFFLINE_LIMITS), annotations=MARKED, schedulingGates=GATES),
    "offline-unmarked": pod(container(OFFLINE_LIMITS), schedulingGates=GATES),
    "offline-in-init": pod(
        initContainers=[container({RECLAIMED: "1"}, name="setup")], schedulingGates=GATES
    ),
    "marked-core": pod(container(ONLINE_LIMITS), annotations=MARKED, schedulingGates=GATES),
    "scheduled": pod(container(OFFLINE_LIMITS), annotations={**MARKED, GPU_INDEX: "0"}),
    "online": pod(container(ONLINE_LIMITS), schedulingGates=GATES),
    "whole-card": pod(container({WHOLE_CARD: "1"}), schedulingGates=GATES),
    "claim": pod(
        resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}], schedulingGates=GATES
    ),
    "none": pod(annotations=MARKED, schedulingGates=GATES),
}
IN_POOL = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a"]}]}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [IN_POOL]}
    }
}


@dataclass(frozen=True, slots=True)
class Change:
    """A patch of an existing pod (a list is a JSON patch), and the hooks that must be called for it."""

    id: str
    existing: str
    patch: Mapping[str, object] | Sequence[object]
    hooks: set[str]
    subresource: str = ""


def annotations(values: Mapping[str, object]) -> Mapping[str, object]:
    return {"metadata": {"annotations": dict(values)}}


UNMARK = annotations({QOS_LEVEL: None})
NATIVE = annotations({COMPUTE_POLICY: "native-burst-share"})
LABEL = {"metadata": {"labels": {"tier": "batch"}}}
FINALIZER = {"metadata": {"finalizers": ["example.com/tracking"]}}
NEW_IMAGE = {
    "spec": {
        "containers": [
            {**container(OFFLINE_LIMITS), "image": "busybox:2", "imagePullPolicy": "Always"}
        ]
    }
}
UNGATED: Object = {"spec": {"schedulingGates": []}}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
MORE_TOLERANT = [{"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}]

CHANGES = [
    Change("label", "offline", LABEL, NOTHING),
    Change("label-named-as-the-mark", "offline", {"metadata": {"labels": MARKED}}, NOTHING),
    Change("finalizer", "offline", FINALIZER, NOTHING),
    Change("image", "offline", NEW_IMAGE, NOTHING),
    Change("gate-removed", "offline", UNGATED, NOTHING),
    Change("other-annotation", "offline", annotations({"example.com/note": "x"}), NOTHING),
    Change("same-mark", "offline", annotations(MARKED), NOTHING),
    Change("first-annotation-another", "online", annotations({"example.com/note": "x"}), NOTHING),
    Change("heartbeat", "offline", READY, NOTHING, "status"),
    Change("mark-added", "offline-unmarked", annotations(MARKED), OFFLINE),
    Change("mark-added-init", "offline-in-init", annotations(MARKED), OFFLINE),
    Change("mark-changed", "offline", annotations({QOS_LEVEL: "shared_cores"}), OFFLINE),
    Change("mark-emptied", "offline", annotations({QOS_LEVEL: ""}), OFFLINE),
    Change("empty-mark-added", "offline-unmarked", annotations({QOS_LEVEL: ""}), OFFLINE),
    Change("mark-removed", "offline", UNMARK, OFFLINE),
    Change("mark-removed-from-core", "marked-core", UNMARK, OFFLINE),
    Change("all-annotations-removed", "offline", {"metadata": {"annotations": None}}, OFFLINE),
    Change("online-marked", "online", annotations(MARKED), OFFLINE),
    Change("compute-policy", "offline", NATIVE, OFFLINE),
    Change(
        "card-counts",
        "offline",
        annotations({"vke.volcengine.com/container-multiple-gpu": "2"}),
        OFFLINE,
    ),
    Change("assumed", "offline", annotations({ASSUMED: "true"}), OFFLINE),
    Change("card-added", "offline", annotations({GPU_INDEX: "1"}), OFFLINE),
    Change("card-changed", "scheduled", annotations({GPU_INDEX: "1"}), OFFLINE),
    Change("card-removed", "scheduled", annotations({GPU_INDEX: None}), OFFLINE),
    Change("toleration", "offline", MORE_TOLERANT, OFFLINE),
    Change("online-toleration", "online", MORE_TOLERANT, GPU),
    Change("node-selector", "offline", {"spec": {"nodeSelector": {"pool": "a"}}}, OFFLINE),
    Change("affinity", "offline", {"spec": {"affinity": AFFINITY}}, OFFLINE),
    Change("mark-changed-in-status", "offline", UNMARK, OFFLINE, "status"),
    Change("online-compute-policy", "online", NATIVE, GPU),
    Change("online-affinity", "online", {"spec": {"affinity": AFFINITY}}, GPU),
    Change("online-in-status", "online", annotations({ASSUMED: "true"}), GPU, "status"),
    Change("online-label", "online", LABEL, NOTHING),
    Change("whole-card-marked", "whole-card", annotations(MARKED), GPU),
    Change("whole-card-label", "whole-card", LABEL, NOTHING),
    Change("claim-marked", "claim", annotations(MARKED), GPU),
    Change("none-unmarked", "none", UNMARK, NOTHING),
    Change("none-everything", "none", {**NATIVE, "spec": {"affinity": AFFINITY}}, NOTHING),
]


@pytest.fixture(scope="module")
def hooks_called(kubectl: Kubectl, webhook: RecordingWebhook) -> Mapping[str, set[str]]:
    """The hooks that were called per change, after all were made."""
    kubectl.succeed("create", "namespace", NAMESPACE)
    in_namespace = kubectl.in_namespace(NAMESPACE)
    pods = [named(EXISTING[c.existing], c.id) for c in CHANGES]
    in_namespace.succeed("create", "-f", "-", stdin=list_of(pods))
    with registered(kubectl, webhook):
        for change in CHANGES:
            kind = "merge" if isinstance(change.patch, Mapping) else "json"
            patch = ["patch", "pod", change.id, f"--type={kind}", f"-p={json.dumps(change.patch)}"]
            if change.subresource:
                patch.append(f"--subresource={change.subresource}")
            in_namespace.succeed(*patch)
        return {c.id: webhook.hooks_called("UPDATE", c.id) for c in CHANGES}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.id)
def test_change_is_shown_to(hooks_called: Mapping[str, set[str]], change: Change) -> None:
    assert hooks_called[change.id] == change.hooks


@pytest.mark.usefixtures("hooks_called")
def test_no_expression_failed_or_ran_out_of_budget(kubectl: Kubectl) -> None:
    assert failed_evaluations(kubectl) == []


def test_end_of_a_pod_is_not_shown(
    kubectl: Kubectl, webhook: RecordingWebhook, namespace: str
) -> None:
    in_namespace = kubectl.in_namespace(namespace)
    ending = {**FINALIZER["metadata"], "annotations": MARKED}
    manifest = pod(container(OFFLINE_LIMITS), metadata=ending)
    in_namespace.succeed("create", "-f", "-", stdin=json.dumps(named(manifest, "ending")))
    with registered(kubectl, webhook):
        in_namespace.succeed("delete", "pod", "ending", "--wait=false")
        assert "deletionTimestamp" in str(in_namespace.read("get", "pod", "ending"))
        for patch in (UNMARK, {"metadata": {"finalizers": None}}):
            in_namespace.succeed(
                "patch", "pod", "ending", "--type=merge", f"-p={json.dumps(patch)}"
            )
        assert in_namespace("get", "pod", "ending").code == 1

        assert [call for call in webhook.calls if call.name == "ending"] == []
