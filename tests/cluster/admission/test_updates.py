"""Changes of admitted pods under the built-in policy: their class is for life, all else is as ever."""

import pytest

from tests.builders import (
    ASSUMED,
    COMPUTE_POLICY,
    GPU_INDEX,
    MGPU_CORE,
    MGPU_MEMORY,
    MULTI_CARD,
    QOS_LEVEL,
    container,
)
from tests.cluster.admission.manifests import offline, other, section, text
from tests.cluster.admission.messages import joined, refused
from tests.cluster.admission.patches import annotate, bind, patch
from tests.cluster.kubectl import Kubectl

CHANGE_REMEDY = "create a new pod with the wanted annotation"
ALONE = "leave them alone; if this user is the scheduler, add it to the policy's `schedulers`"
MARK_REMEDY = (
    'set the annotation katalyst.kubewharf.io/qos_level: "reclaimed_cores" on the pod, or ask mgpu-core '
    "if it is online"
)
COMPUTE_REMEDY = (
    "ask vke.volcengine.com/reclaimed-mgpu-core as a whole number from 1 to 100, the same in limits and "
    "requests, and leave vke.volcengine.com/mgpu-core out"
)


@pytest.fixture(scope="module")
def with_pods(in_cluster: Kubectl) -> Kubectl:
    """An offline pod, one of Kubernetes' own and an online one."""
    online = other("online", container({MGPU_CORE: "30", MGPU_MEMORY: "4096"}))
    for pod in (offline("batch", metadata={"finalizers": ["example.com/x"]}), online, other("web")):
        in_cluster.succeed("create", "-f", "-", stdin=text(pod))
    return in_cluster


REFUSED = {
    "unmarked": (
        "batch",
        {QOS_LEVEL: "shared_cores"},
        (
            "[offline-annotation] container worker asks vke.volcengine.com/reclaimed-mgpu-core, but "
            'annotation katalyst.kubewharf.io/qos_level is "shared_cores"; ' + MARK_REMEDY,
        ),
    ),
    "mark-removed": (
        "batch",
        {QOS_LEVEL: None},
        (
            "[offline-annotation] container worker asks vke.volcengine.com/reclaimed-mgpu-core, but "
            "annotation katalyst.kubewharf.io/qos_level is absent; " + MARK_REMEDY,
        ),
    ),
    "compute-policy": (
        "batch",
        {COMPUTE_POLICY: "guaranteed-burst-share"},
        (
            "[class-change] update changes the pod's compute policy from fixed-share to "
            "guaranteed-burst-share (annotation vke.volcengine.com/mgpu-compute-policy); "
            + CHANGE_REMEDY,
        ),
    ),
    "card-counts": (
        "batch",
        {MULTI_CARD: "1"},
        (
            "[class-change] update changes the pod's card counts from none to 1 (annotation "
            "vke.volcengine.com/container-multiple-gpu); " + CHANGE_REMEDY,
        ),
    ),
    "online-marked": (
        "online",
        {QOS_LEVEL: "reclaimed_cores"},
        (
            "[offline-compute] container worker of an offline pod asks vke.volcengine.com/mgpu-core: 30, "
            "which is compute of online pods; " + COMPUTE_REMEDY,
            "[offline-compute] offline pod asks no vke.volcengine.com/reclaimed-mgpu-core in any "
            "container; " + COMPUTE_REMEDY,
            "[class-change] update changes the pod's class from online to offline (annotation "
            "katalyst.kubewharf.io/qos_level); " + CHANGE_REMEDY,
        ),
    ),
}


@pytest.mark.parametrize("status", [False, True], ids=["pod", "status"])
@pytest.mark.parametrize("case", REFUSED)
def test_change_of_class_is_refused(with_pods: Kubectl, case: str, *, status: bool) -> None:
    pod, annotations, findings = REFUSED[case]
    done = annotate(with_pods, pod, annotations, *(["--subresource=status"] if status else []))

    assert done.code == 1
    assert [line for line in done.err.splitlines() if not line.startswith("Warning: ")] == (
        refused("offline-pod-changes", *findings, doing="").splitlines()
    )


def test_placement_by_another_user_is_warned_of(with_pods: Kubectl) -> None:
    done = annotate(with_pods, "batch", {ASSUMED: "true", GPU_INDEX: "0"})

    assert done.code == 0
    assert joined(done.err, "scheduler-annotations") == (
        '[scheduler-annotations] annotation vke.volcengine.com/assumed is set to "true" by admin, but '
        f"only the scheduler places containers; {ALONE} "
        "[scheduler-annotations] annotation vke.volcengine.com/gpu-index-container-worker is set to "
        f'"0" by admin, but only the scheduler places containers; {ALONE}'
    )
    assert section(with_pods.read("get", "pod", "batch"), "metadata", "annotations")[ASSUMED]


def test_placement_in_a_binding_is_warned_of(with_pods: Kubectl) -> None:
    with_pods.succeed("create", "-f", "-", stdin=text(offline("bound")))
    done = bind(with_pods, "bound", {ASSUMED: "true"})

    assert done.code == 0
    assert joined(done.err, "scheduler-annotations") == (
        '[scheduler-annotations] annotation vke.volcengine.com/assumed is set to "true" by admin, but '
        f"only the scheduler places containers; {ALONE}"
    )


def test_class_in_a_binding_is_warned_of(with_pods: Kubectl) -> None:
    with_pods.succeed("create", "-f", "-", stdin=text(offline("unbound")))
    done = bind(with_pods, "unbound", {QOS_LEVEL: "shared_cores"})

    assert done.code == 0
    assert joined(done.err, "class-change") == (
        "[class-change] Binding sets annotation katalyst.kubewharf.io/qos_level of its pod to "
        '"shared_cores"; leave this annotation out of the Binding'
    )


@pytest.mark.parametrize("pod", ["batch", "online", "web"])
def test_other_changes_are_untouched(with_pods: Kubectl, pod: str) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1-2"}
    changes = {
        "labels": {"tier": "gold"},
        "annotations": {"example.com/note": "x"},
        "finalizers": ["example.com/x", "example.com/y"],
        "ownerReferences": [owner],
    }
    done = patch(with_pods, pod, {"metadata": changes})
    metadata = section(with_pods.read("get", "pod", pod), "metadata")

    assert (done.code, done.err) == (0, "")
    assert {key: metadata[key] for key in ("finalizers", "ownerReferences")} == {
        key: changes[key] for key in ("finalizers", "ownerReferences")
    }
    assert section(metadata, "labels")["tier"] == "gold"


def test_status_of_an_offline_pod_is_untouched(with_pods: Kubectl) -> None:
    running = {"status": {"phase": "Running", "podIP": "10.0.0.7"}}
    done = patch(with_pods, "batch", running, "--subresource=status")

    assert (done.code, done.err) == (0, "")
    assert section(with_pods.read("get", "pod", "batch"), "status")["phase"] == "Running"
