"""SIGTERM to the webhook in the middle of many creations: no pod gets in without its marks."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.builders import Object
from tests.cluster.admission.manifests import offline, section
from tests.cluster.admission.registered_webhook import registered_unwatched, serving
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import Reply, create_pod, send_all
from tests.cluster.kubectl import Kubectl

PODS = 240
STOP_AFTER = 80
AWAY = 'failed calling webhook "offline-pods.mgpu-hybrid.io"'


@dataclass(frozen=True, slots=True)
class Stream:
    """What became of the creations: each answer, and the pods that stand in the cluster after them."""

    replies: list[Reply]
    pods: list[Object]


@pytest.fixture(scope="module")
def stream(
    control_plane: ControlPlane, module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stream]:
    folder = tmp_path_factory.mktemp("termination") / "tls"
    namespace = module_kubectl.namespace
    pods = [create_pod(namespace, offline(f"pod-{number}")) for number in range(PODS)]
    with serving(folder) as server, registered_unwatched(module_kubectl, server):

        def stop_once(answered: int) -> None:
            if answered == STOP_AFTER:
                os.kill(server.pid, signal.SIGTERM)

        replies = send_all(control_plane, pods, stop_once)
        stored = module_kubectl.read("get", "pods")["items"]
        assert isinstance(stored, list)
        yield Stream(replies, stored)


def test_pods_are_created_until_the_webhook_stops(stream: Stream) -> None:
    codes = Counter(reply.code for reply in stream.replies)

    assert set(codes) == {201, 500}
    assert codes[201] >= STOP_AFTER
    assert codes.total() == PODS


def test_no_call_is_cut_off_and_every_failure_says_why(stream: Stream) -> None:
    """With another replica behind the same Service, a refused connection would have gone there."""
    failures = [reply.body for reply in stream.replies if reply.code != 201]

    assert {failure["reason"] for failure in failures} == {"InternalError"}
    for failure in failures:
        assert AWAY in str(failure["message"])
        assert str(failure["message"]).endswith("connect: connection refused")


def test_every_pod_that_exists_is_marked(stream: Stream) -> None:
    assert len(stream.pods) == sum(reply.code == 201 for reply in stream.replies)
    for pod in stream.pods:
        spec = section(pod, "spec")
        assert section(pod, "metadata")["labels"] == {"mgpu-hybrid.io/class": "offline"}
        assert "'MGPU_TASK_CLASS', 'value': 'offline'" in str(spec["containers"])
        assert "mgpu-hybrid.io/reclaimed" in str(spec["tolerations"])
        assert "node-restriction.kubernetes.io/eligible" in str(spec["affinity"])
