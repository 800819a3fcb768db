"""The registration for Kubernetes 1.26 on a real API server: without matchConditions, for every pod."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import cast

import pytest

from demo.server import RunningServer
from tests.builders import Object
from tests.cluster.admission.live_nodes import CALLS, metric
from tests.cluster.admission.manifests import offline, other, section, without_memory
from tests.cluster.admission.registered_webhook import registered, serving
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import Reply, create_pod, read, send
from tests.cluster.kubectl import Kubectl

pytestmark = pytest.mark.usefixtures("server")
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture(scope="module")
def server(
    kubectl: Kubectl, module_namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("old-registration") / "tls"
    with (
        serving(folder, version="v1.26.15-vke.26") as running,
        registered(kubectl.in_namespace(module_namespace), running, server_minor=26),
    ):
        yield running


class Create:
    """Creates pods while that registration stands."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self._plane = plane
        self._namespace = namespace

    def __call__(self, pod: Object) -> Reply:
        return send(self._plane, create_pod(self._namespace, pod))


@pytest.fixture
def create(control_plane: ControlPlane, module_namespace: str) -> Create:
    return Create(control_plane, module_namespace)


def test_no_hook_has_a_condition_or_stops_anything(control_plane: ControlPlane) -> None:
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        stored = read(control_plane, f"{CONFIGURATIONS}/{kind}/mgpu-hybrid")
        hooks = cast("list[Object]", stored["webhooks"])
        assert {hook["failurePolicy"] for hook in hooks} == {"Ignore"}
        assert not [hook for hook in hooks if "matchConditions" in hook]


def test_good_offline_pod_is_marked(create: Create) -> None:
    reply = create(offline("good"))

    assert reply.code == HTTPStatus.CREATED
    assert section(reply.body, "metadata")["labels"] == {"mgpu-hybrid.io/class": "offline"}
    assert "node-restriction.kubernetes.io/eligible" in str(section(reply.body, "spec", "affinity"))


def test_bad_offline_pod_is_refused(create: Create) -> None:
    reply = create(without_memory("bad"))

    assert reply.code == HTTPStatus.FORBIDDEN
    assert reply.body["message"] == (
        'admission webhook "pods.mgpu-hybrid.io" denied the request: [offline-memory] container worker '
        "asks reclaimed compute but no vke.volcengine.com/mgpu-memory; ask vke.volcengine.com/mgpu-memory "
        "of at least 256 (MiB), the same in limits and requests, in each container that asks "
        "reclaimed-mgpu-core"
    )


def test_pod_without_a_gpu_is_asked_about_and_left_alone(
    create: Create, server: RunningServer
) -> None:
    before = metric(server, CALLS)

    reply = create(other("plain"))

    assert reply.code == HTTPStatus.CREATED
    assert "labels" not in section(reply.body, "metadata")
    assert "affinity" not in section(reply.body, "spec")
    assert metric(server, CALLS) == before + 2
