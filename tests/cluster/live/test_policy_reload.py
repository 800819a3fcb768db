"""The policy file is broken and mended while pods are created: nobody is answered wrongly."""

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from demo.server import RunningServer
from tests.cluster.admission.live_nodes import metric
from tests.cluster.admission.manifests import offline, without_memory
from tests.cluster.admission.registered_webhook import registered, serving
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import create_pod, send, send_all
from tests.cluster.kubectl import Kubectl
from tests.cluster.live.served import is_ready, readyz
from tests.cluster.waiting import eventually

HEAD = "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\n"
FIRST = HEAD + "spec: {rules: {offline-deadline: Warn}}\n"
BROKEN = HEAD + "spec: {rules: {offline-deadline: Denny}, nonsense: 1}\n"
SECOND = HEAD + "spec: {rules: {offline-deadline: Deny}}\n"
FAILURES = "mgpu_hybrid_policy_reload_failures_total"
AT_LEAST = 200
BATCH = 20
MOST_BATCHES = 100


@dataclass(frozen=True, slots=True)
class Replaced:
    """A registered webhook and its policy file."""

    plane: ControlPlane
    server: RunningServer
    policy: Path
    namespace: str

    def write(self, text: str) -> None:
        """Replace the file at once, as an editor or a mounted ConfigMap does."""
        new = self.policy.with_suffix(".new")
        new.write_text(text)
        os.replace(new, self.policy)  # noqa: PTH105 - says what it does

    def digests(self) -> set[str]:
        """The policies in force."""
        url = f"http://127.0.0.1:{self.server.health_port}/metrics"
        lines = httpx.get(url, timeout=30).text.splitlines()
        return {
            line
            for line in lines
            if line.startswith("mgpu_hybrid_policy_info{")
            if line[-3:] == "1.0"
        }


@pytest.fixture
def replaced(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[Replaced]:
    with (
        serving(tmp_path / "tls", policy_text=FIRST) as server,
        registered(kubectl.in_namespace(namespace), server, policy_text=FIRST),
    ):
        yield Replaced(control_plane, server, tmp_path / "tls.policy.yaml", namespace)


def test_policy_is_broken_and_mended_under_load(replaced: Replaced) -> None:
    numbers = itertools.count()
    first = replaced.digests()
    assert len(first) == 1
    answered = load_until(replaced, numbers, lambda: True)

    replaced.write(BROKEN)
    answered += load_until(replaced, numbers, lambda: metric(replaced.server, FAILURES) == 1)
    assert "policy: the last good one, the file has mistakes" in readyz(replaced.server).text
    assert readyz(replaced.server).status_code == HTTPStatus.OK
    assert replaced.digests() == first
    assert with_deadline(replaced, "still-warned") == HTTPStatus.CREATED

    replaced.write(SECOND)
    answered += load_until(replaced, numbers, lambda: replaced.digests() != first)
    while answered < AT_LEAST:
        answered += load_until(replaced, numbers, lambda: True)
    assert len(replaced.digests()) == 1
    assert metric(replaced.server, FAILURES) == 1
    eventually(lambda: is_ready(replaced.server), "nothing is stale")
    assert with_deadline(replaced, "now-denied") == HTTPStatus.FORBIDDEN
    assert metric(replaced.server, "mgpu_hybrid_rule_errors_total") == 0


def load_until(replaced: Replaced, numbers: Iterator[int], is_so: Callable[[], bool]) -> int:
    """Create good and bad pods until it is so, each answered as both policies say. Returns how many."""
    answered = 0
    for _ in range(MOST_BATCHES):
        pods = [
            make(f"load-{next(numbers)}")
            for _ in range(BATCH // 2)
            for make in (offline, without_memory)
        ]
        replies = send_all(replaced.plane, [create_pod(replaced.namespace, pod) for pod in pods])
        codes = [reply.code for reply in replies]
        assert codes == [HTTPStatus.CREATED, HTTPStatus.FORBIDDEN] * (BATCH // 2)
        answered += len(replies)
        if is_so():
            return answered
    raise AssertionError(f"not within {answered} admissions")


def with_deadline(replaced: Replaced, name: str) -> int:
    """How the creation of a pod is answered on which the two policies differ."""
    pod = offline(name, activeDeadlineSeconds=60)
    return send(replaced.plane, create_pod(replaced.namespace, pod)).code
