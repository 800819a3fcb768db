"""Pods that would be refused today, but were there before the webhook: they can live on and end."""

from collections.abc import Iterator

import pytest

from demo.server import RunningServer
from tests.builders import COMPUTE_POLICY, QOS_LEVEL
from tests.cluster.admission.manifests import offline, section, text, unmarked, without_memory
from tests.cluster.admission.patches import annotate, patch
from tests.cluster.admission.registered_webhook import registered
from tests.cluster.kubectl import Kubectl

FINALIZED = {"finalizers": ["example.com/tracking"]}


@pytest.fixture(scope="module")
def with_old_pods(module_kubectl: Kubectl, default_server: RunningServer) -> Iterator[Kubectl]:
    """kubectl in a namespace whose pods are older than the registration."""
    native = offline("native", annotations={COMPUTE_POLICY: "native-burst-share"})
    for pod in (unmarked("unmarked", **FINALIZED), without_memory("without-memory"), native):
        module_kubectl.succeed("create", "-f", "-", stdin=text(pod))
    with registered(module_kubectl, default_server):
        yield module_kubectl


@pytest.mark.parametrize("pod", ["unmarked", "without-memory", "native"])
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"labels": {"tier": "gold"}}, id="label"),
        pytest.param({"annotations": {"example.com/note": "x"}}, id="annotation"),
        pytest.param({"finalizers": ["example.com/other"]}, id="finalizer"),
    ],
)
def test_old_pod_can_be_changed(with_old_pods: Kubectl, pod: str, changes: object) -> None:
    done = patch(with_old_pods, pod, {"metadata": changes})

    assert (done.code, done.err) == (0, "")


def test_old_pod_gets_its_status(with_old_pods: Kubectl) -> None:
    running = {"status": {"phase": "Running"}}

    assert patch(with_old_pods, "unmarked", running, "--subresource=status").code == 0


def test_old_pod_can_be_mended(with_old_pods: Kubectl) -> None:
    assert annotate(with_old_pods, "unmarked", {QOS_LEVEL: "reclaimed_cores"}).code == 0


def test_old_pod_cannot_be_made_worse(with_old_pods: Kubectl) -> None:
    done = annotate(with_old_pods, "without-memory", {QOS_LEVEL: "Reclaimed_cores"})

    assert done.code == 1
    assert "[qos-level]" in done.err
    assert "[offline-memory]" not in done.err


def test_old_pod_can_end(with_old_pods: Kubectl) -> None:
    with_old_pods.succeed("delete", "pod", "native", "--wait=false")
    metadata = section(with_old_pods.read("get", "pod", "native"), "metadata")
    assert metadata["deletionTimestamp"]

    assert patch(with_old_pods, "native", {"metadata": {"finalizers": None}}).code == 0
    assert with_old_pods("get", "pod", "native").code == 1
