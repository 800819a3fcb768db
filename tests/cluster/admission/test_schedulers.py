"""Placement annotations where the policy knows the scheduler: it may write them, nobody else may.

In a Binding they reach the pod as well, so they are judged there too.
"""

from collections.abc import Iterator

import pytest

from tests.builders import ASSUMED, QOS_LEVEL, Object
from tests.cluster.admission.manifests import MARKED, offline, section, text
from tests.cluster.admission.messages import refused
from tests.cluster.admission.patches import annotate, bind
from tests.cluster.admission.registered_webhook import registered, serving
from tests.cluster.kubectl import Kubectl

SCHEDULER = "system:serviceaccount:kube-system:gpu-scheduler"
SCHEDULERS = f"""
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  schedulers: ["{SCHEDULER}"]
"""
AS_SCHEDULER = (f"--as={SCHEDULER}", "--as-group=system:masters")
FINDING = (
    '[scheduler-annotations] annotation vke.volcengine.com/assumed is set to "true" by admin, but only '
    "the scheduler places containers; leave them alone; if this user is the scheduler, add it to the "
    "policy's `schedulers`"
)


@pytest.fixture(scope="module")
def with_scheduler(
    module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("schedulers") / "tls"
    with (
        serving(folder, policy_text=SCHEDULERS) as server,
        registered(module_kubectl, server, policy_text=SCHEDULERS),
    ):
        yield module_kubectl


def test_update_by_another_user_is_refused(with_scheduler: Kubectl) -> None:
    _create(with_scheduler, "annotated")
    done = annotate(with_scheduler, "annotated", {ASSUMED: "true"})

    assert done.code == 1
    assert done.err == refused("offline-pod-changes", FINDING, doing="")
    assert ASSUMED not in _annotations(with_scheduler, "annotated")


def test_update_by_the_scheduler_passes(with_scheduler: Kubectl) -> None:
    _create(with_scheduler, "scheduled")
    done = annotate(with_scheduler, "scheduled", {ASSUMED: "true"}, *AS_SCHEDULER)

    assert (done.code, done.err) == (0, "")


def test_not_even_the_scheduler_creates_a_placed_pod(with_scheduler: Kubectl) -> None:
    placed = offline("placed", annotations={ASSUMED: "true"})
    done = with_scheduler("create", "-f", "-", *AS_SCHEDULER, stdin=text(placed))

    assert done.code == 1
    assert f'is set to "true" by {SCHEDULER}' in done.err


def test_binding_by_another_user_is_refused(with_scheduler: Kubectl) -> None:
    _create(with_scheduler, "forged")
    done = bind(with_scheduler, "forged", {ASSUMED: "true"})

    assert done.code == 1
    assert done.err == refused("bindings", FINDING, doing="")
    assert ASSUMED not in _annotations(with_scheduler, "forged")


def test_class_in_a_binding_by_another_user_is_refused(with_scheduler: Kubectl) -> None:
    _create(with_scheduler, "unmarked")
    done = bind(with_scheduler, "unmarked", {QOS_LEVEL: "shared_cores"})

    assert done.code == 1
    assert done.err == refused(
        "bindings",
        "[class-change] Binding sets annotation katalyst.kubewharf.io/qos_level of its pod to "
        '"shared_cores"; leave this annotation out of the Binding',
        doing="",
    )
    assert _annotations(with_scheduler, "unmarked") == MARKED


def test_binding_by_the_scheduler_passes(with_scheduler: Kubectl) -> None:
    _create(with_scheduler, "bound")
    done = bind(with_scheduler, "bound", {ASSUMED: "true"}, *AS_SCHEDULER)

    assert (done.code, done.err) == (0, "")
    assert _annotations(with_scheduler, "bound")[ASSUMED] == "true"
    assert section(with_scheduler.read("get", "pod", "bound"), "spec")["nodeName"] == "serving-a-1"


def _create(kubectl: Kubectl, name: str) -> None:
    kubectl.succeed("create", "-f", "-", stdin=text(offline(name)))


def _annotations(kubectl: Kubectl, pod: str) -> Object:
    return section(kubectl.read("get", "pod", pod), "metadata", "annotations")
