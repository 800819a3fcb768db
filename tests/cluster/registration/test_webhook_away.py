"""What a real API server still lets through once nobody listens on the webhook's port."""

import json
from collections.abc import Iterator, Mapping

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Completed, Kubectl
from tests.cluster.registration.pod_shapes import (
    ASSUMED,
    COMPUTE_POLICY,
    MARKED,
    OFFLINE_LIMITS,
    ONLINE_LIMITS,
    WHOLE_CARD,
    Object,
    container,
    named,
    pod,
)
from tests.cluster.registration.recording_webhook import RecordingWebhook, registered

FAILED_CALL = 'failed calling webhook "{hook}.mgpu-hybrid.io"'
OFFLINE = pod(container(OFFLINE_LIMITS), annotations=MARKED)


@pytest.fixture(scope="module")
def without_webhook(control_plane: ControlPlane, kubectl: Kubectl) -> Iterator[Kubectl]:
    """kubectl in a namespace with two offline pods and an online one, and the port closed by now."""
    in_namespace = kubectl.in_namespace("webhook-away")
    kubectl.succeed("create", "namespace", in_namespace.namespace)
    webhook = RecordingWebhook(control_plane.authority)
    try:
        with registered(kubectl, webhook):
            finalized = pod(
                container(OFFLINE_LIMITS),
                annotations=MARKED,
                metadata={"finalizers": ["example.com/tracking"]},
            )
            _create(in_namespace, "finalized", finalized)
            _create(in_namespace, "running", OFFLINE)
            _create(in_namespace, "online-before", pod(container(ONLINE_LIMITS)))
            assert webhook.hooks_called("CREATE", "running")
            webhook.stop()
            yield in_namespace
    finally:
        webhook.stop()


@pytest.mark.parametrize(
    ("name", "manifest"),
    [
        ("none", pod()),
        ("online", pod(container(ONLINE_LIMITS))),
        ("whole-card", pod(container({WHOLE_CARD: "1"}))),
        ("marked-without-gpu", pod(annotations=MARKED)),
    ],
)
def test_pod_that_is_not_offline_gets_in(
    without_webhook: Kubectl, name: str, manifest: Object
) -> None:
    done = _create(without_webhook, name, manifest)

    assert (done.code, done.out) == (0, f"pod/{name} created\n")


@pytest.mark.parametrize(
    ("name", "manifest"),
    [
        ("offline", OFFLINE),
        ("unmarked", pod(container(OFFLINE_LIMITS))),
        ("marked-core", pod(container(ONLINE_LIMITS), annotations=MARKED)),
    ],
)
def test_new_offline_pod_is_refused(without_webhook: Kubectl, name: str, manifest: Object) -> None:
    done = _create(without_webhook, name, manifest)

    assert done.code == 1
    assert FAILED_CALL.format(hook="offline-pods") in done.err
    assert without_webhook("get", "pod", name).code == 1


def test_workload_with_offline_template_gets_in(without_webhook: Kubectl) -> None:
    inner = {"metadata": {"labels": {"app": "x"}, "annotations": MARKED}, "spec": OFFLINE["spec"]}
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": inner}
    deployment: Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {},
        "spec": spec,
    }

    assert _create(without_webhook, "batch", deployment).code == 0


@pytest.mark.parametrize(
    ("name", "patch"),
    [
        pytest.param("running", {"metadata": {"labels": {"tier": "batch"}}}, id="label"),
        pytest.param("running", {"spec": {"activeDeadlineSeconds": 60}}, id="deadline"),
        pytest.param(
            "online-before", {"metadata": {"annotations": {ASSUMED: "true"}}}, id="online"
        ),
    ],
)
def test_change_gets_through(
    without_webhook: Kubectl, name: str, patch: Mapping[str, object]
) -> None:
    assert _patch(without_webhook, name, patch).code == 0


@pytest.mark.parametrize(
    ("name", "annotations"),
    [
        pytest.param("running", {next(iter(MARKED)): None}, id="unmarking"),
        pytest.param("running", {COMPUTE_POLICY: "native-burst-share"}, id="another policy"),
        pytest.param("online-before", MARKED, id="marking"),
    ],
)
def test_change_of_what_makes_a_pod_offline_is_refused(
    without_webhook: Kubectl, name: str, annotations: Mapping[str, object]
) -> None:
    done = _patch(without_webhook, name, {"metadata": {"annotations": annotations}})

    assert done.code == 1
    assert FAILED_CALL.format(hook="offline-pod-changes") in done.err


def test_heartbeat_gets_through(without_webhook: Kubectl) -> None:
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}

    assert _patch(without_webhook, "running", ready, "--subresource=status").code == 0


def test_offline_pod_can_end(without_webhook: Kubectl) -> None:
    without_webhook.succeed("delete", "pod", "finalized", "--wait=false")
    assert without_webhook("get", "pod", "finalized").code == 0

    assert _patch(without_webhook, "finalized", {"metadata": {"finalizers": None}}).code == 0

    assert without_webhook("get", "pod", "finalized").code == 1


def _create(kubectl: Kubectl, name: str, manifest: Object) -> Completed:
    return kubectl("create", "-f", "-", stdin=json.dumps(named(manifest, name)))


def _patch(kubectl: Kubectl, name: str, patch: Mapping[str, object], *arguments: str) -> Completed:
    return kubectl("patch", "pod", name, "--type=merge", f"-p={json.dumps(patch)}", *arguments)
