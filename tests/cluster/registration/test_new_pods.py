"""Which hooks a real API server calls for which new pod, against expectations written by hand."""

import json
from collections.abc import Mapping

import pytest

from tests.cluster.kubectl import Kubectl
from tests.cluster.registration.pod_shapes import (
    ASSUMED,
    DEVICE_CLASS,
    GPU_INDEX,
    MARKED,
    MGPU_CORE,
    MGPU_MEMORY,
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
    GPU,
    MUTATE,
    NOTHING,
    OFFLINE,
    ONLINE,
    RecordingWebhook,
    failed_evaluations,
    registered,
)

TABLE_NAMESPACE = "match-conditions"

CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
SIDECAR = {"name": "side", "restartPolicy": "Always"}
INIT = {"name": "setup"}
PLAIN_INIT = container(name="setup")

# What is created, and the hooks that must be called for it, no others.
SHAPES: Mapping[str, tuple[Object, set[str]]] = {
    "no-resources": (pod(), NOTHING),
    "empty-resources": (pod(container(resources={})), NOTHING),
    "null-limits": (pod(container(resources={"limits": None})), NOTHING),
    "cpu-only": (pod(container({"cpu": "1"})), NOTHING),
    "no-gpu-with-init": (pod(initContainers=[PLAIN_INIT]), NOTHING),
    "null-init-containers": (pod(initContainers=None), NOTHING),
    "null-annotations": (pod(metadata={"annotations": None}), NOTHING),
    "marked-without-gpu": (pod(annotations=MARKED), NOTHING),
    "assumed-without-gpu": (pod(annotations={ASSUMED: "true"}), NOTHING),
    "other-vendor": (pod(container({"amd.com/gpu": "1"})), NOTHING),
    "longer-name": (pod(container({MGPU_CORE + "s": "1"})), NOTHING),
    "no-claims": (pod(resourceClaims=[]), NOTHING),
    "many-containers": (
        pod(*(container({"cpu": "1m"}, name=f"c{n}") for n in range(1000))),
        NOTHING,
    ),
    "online": (pod(container(ONLINE_LIMITS)), ONLINE),
    "online-core-only": (pod(container({MGPU_CORE: "100"})), ONLINE),
    "online-memory-only": (pod(container({MGPU_MEMORY: "256"})), ONLINE),
    "online-zero": (pod(container({MGPU_CORE: "0"})), ONLINE),
    "online-limits-and-requests": (
        pod(container(resources={"limits": ONLINE_LIMITS, "requests": ONLINE_LIMITS})),
        ONLINE,
    ),
    "online-second-container": (
        pod(container(name="web"), container(ONLINE_LIMITS)),
        ONLINE,
    ),
    "online-init": (pod(initContainers=[container(ONLINE_LIMITS, **INIT)]), ONLINE),
    "online-sidecar": (pod(initContainers=[container(ONLINE_LIMITS, **SIDECAR)]), ONLINE),
    "online-shared": (
        pod(container(ONLINE_LIMITS), annotations={QOS_LEVEL: "shared_cores"}),
        ONLINE,
    ),
    "online-with-label": (pod(container(ONLINE_LIMITS), metadata={"labels": MARKED}), ONLINE),
    "online-other-case": (
        pod(container(ONLINE_LIMITS), annotations={QOS_LEVEL: "Reclaimed_Cores"}),
        ONLINE,
    ),
    "online-scheduled": (pod(container(ONLINE_LIMITS), annotations={GPU_INDEX: "0"}), ONLINE),
    "marked-core": (pod(container(ONLINE_LIMITS), annotations=MARKED), OFFLINE),
    "marked-memory-in-init": (
        pod(initContainers=[container({MGPU_MEMORY: "256"}, **INIT)], annotations=MARKED),
        OFFLINE,
    ),
    "offline": (pod(container(OFFLINE_LIMITS), annotations=MARKED), OFFLINE),
    "offline-unmarked": (pod(container(OFFLINE_LIMITS)), OFFLINE),
    "offline-reclaimed-only": (pod(container({RECLAIMED: "1"})), OFFLINE),
    "offline-init": (pod(initContainers=[container(OFFLINE_LIMITS, **INIT)]), OFFLINE),
    "offline-sidecar": (pod(initContainers=[container({RECLAIMED: "1"}, **SIDECAR)]), OFFLINE),
    "offline-after-online": (
        pod(container(ONLINE_LIMITS), container(OFFLINE_LIMITS, name="batch")),
        OFFLINE,
    ),
    "offline-and-whole-card": (pod(container({**OFFLINE_LIMITS, WHOLE_CARD: "1"})), OFFLINE),
    "offline-many-containers": (
        pod(*(container({RECLAIMED: "1"} if n == 499 else {}, name=f"c{n}") for n in range(500))),
        OFFLINE,
    ),
    "online-and-whole-card": (pod(container({**ONLINE_LIMITS, WHOLE_CARD: "1"})), ONLINE),
    "online-and-claim": (pod(container(ONLINE_LIMITS), resourceClaims=CLAIMS), ONLINE),
    "whole-card": (pod(container({WHOLE_CARD: "1"})), GPU),
    "whole-card-marked": (pod(container({WHOLE_CARD: "1"}), annotations=MARKED), GPU),
    "whole-card-init": (pod(initContainers=[container({WHOLE_CARD: "1"}, **INIT)]), GPU),
    "device-class": (pod(container({DEVICE_CLASS: "1"})), GPU),
    "claim": (pod(resourceClaims=CLAIMS), GPU),
}

# Refused by the API server itself, after the mutating phase and before the validating one.
REFUSED: Mapping[str, tuple[Object, set[str]]] = {
    "null-containers": ({**pod(), "spec": {"containers": None}}, NOTHING),
    "no-spec": ({**pod(), "spec": {}}, NOTHING),
    "null-spec": ({**pod(), "spec": None}, NOTHING),
    "request-without-limit": (
        pod(container(resources={"requests": {RECLAIMED: "1"}})),
        {MUTATE},
    ),
    "null-containers-gpu-init": (
        {**pod(), "spec": {"initContainers": [container(ONLINE_LIMITS)], "containers": None}},
        {MUTATE},
    ),
}


@pytest.fixture(scope="module")
def hooks_called(kubectl: Kubectl, webhook: RecordingWebhook) -> Mapping[str, set[str]]:
    """The hooks that were called per shape, after all were created."""
    kubectl.succeed("create", "namespace", TABLE_NAMESPACE)
    with registered(kubectl, webhook):
        pods = [named(manifest, name) for name, (manifest, _) in SHAPES.items()]
        kubectl.in_namespace(TABLE_NAMESPACE).succeed("create", "-f", "-", stdin=list_of(pods))
        url = f"--raw=/api/v1/namespaces/{TABLE_NAMESPACE}/pods"
        for name, (manifest, _) in REFUSED.items():
            done = kubectl("create", url, "-f", "-", stdin=json.dumps(named(manifest, name)))
            assert "is invalid" in done.err, (name, done)
        return {name: webhook.hooks_called("CREATE", name) for name in (*SHAPES, *REFUSED)}


@pytest.mark.parametrize("name", [*SHAPES, *REFUSED])
def test_new_pod_is_shown_to(hooks_called: Mapping[str, set[str]], name: str) -> None:
    _, hooks = {**SHAPES, **REFUSED}[name]

    assert hooks_called[name] == hooks


@pytest.mark.usefixtures("hooks_called")
def test_no_expression_failed_or_ran_out_of_budget(kubectl: Kubectl) -> None:
    assert failed_evaluations(kubectl) == []
