"""The webhook's process is gone while it stays registered, and comes back: what a person meets meanwhile."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.builders import MGPU_CORE, MGPU_MEMORY, Object, container
from tests.cluster.admission.manifests import deployment, offline, other, text, without_memory
from tests.cluster.admission.patches import patch
from tests.cluster.admission.registered_webhook import registered_unwatched, serving
from tests.cluster.admission.server_metrics import faults_of_webhook
from tests.cluster.kubectl import Kubectl

ONLINE = {MGPU_CORE: "30", MGPU_MEMORY: "4096"}
FINALIZED = {"finalizers": ["batch.kubernetes.io/job-tracking"]}


@dataclass(slots=True)
class Outage:
    """A webhook that is registered and stopped; `end` starts it again on the same port."""

    kubectl: Kubectl
    folder: Path
    port: int
    running: ExitStack = field(default_factory=ExitStack)

    def end(self) -> None:
        """Serve again, with the same certificate authority."""
        self.running.enter_context(serving(self.folder, "--port", str(self.port)))


@pytest.fixture(scope="module")
def outage(module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outage]:
    """The outage of a webhook that has admitted an offline pod, which has finished by now."""
    folder = tmp_path_factory.mktemp("away") / "tls"
    with ExitStack() as registration:
        with serving(folder) as server:
            registration.enter_context(registered_unwatched(module_kubectl, server))
            finished = offline("finished", metadata=FINALIZED)
            module_kubectl.succeed("create", "-f", "-", stdin=text(finished))
        with ExitStack() as running:
            yield Outage(module_kubectl, folder, server.client.port, running)


ORDINARY: dict[str, Object] = {
    "no-gpu": other("no-gpu"),
    "online": other("online", container(ONLINE)),
    "wrong-online": other("wrong-online", container({MGPU_CORE: "30"})),
    "workload": deployment("workload", without_memory("x")),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_all_else_gets_in(outage: Outage, name: str) -> None:
    done = outage.kubectl("create", "-f", "-", stdin=text(ORDINARY[name]))

    assert (done.code, done.err) == (0, "")


def test_new_offline_pod_is_refused_with_the_reason(outage: Outage) -> None:
    done = outage.kubectl("create", "-f", "-", stdin=text(offline("new")))

    assert (done.code, done.out) == (1, "")
    assert done.err == (
        'Error from server (InternalError): error when creating "STDIN": Internal error occurred: failed '
        'calling webhook "offline-pods.mgpu-hybrid.io": failed to call webhook: Post '
        f'"https://127.0.0.1:{outage.port}/validate?timeout=5s": dial tcp 127.0.0.1:{outage.port}: '
        "connect: connection refused\n"
    )
    assert outage.kubectl("get", "pod", "new").code == 1


def test_the_api_server_counts_the_failed_calls(outage: Outage) -> None:
    before = faults_of_webhook(outage.kubectl)
    outage.kubectl("create", "-f", "-", stdin=text(offline("counted")))
    after = faults_of_webhook(outage.kubectl)

    refused = ("offline-pods.mgpu-hybrid.io CREATE", "calling_webhook_error")
    let_through = ("mgpu-pods.mgpu-hybrid.io", "fail_open")
    assert {key for key in after if after[key] != before.get(key)} == {refused, let_through}


def test_finished_offline_pod_can_end(outage: Outage) -> None:
    kubectl = outage.kubectl
    succeeded = {"status": {"phase": "Succeeded"}}
    assert patch(kubectl, "finished", succeeded, "--subresource=status").code == 0
    assert patch(kubectl, "finished", {"metadata": {"finalizers": None}}).code == 0
    kubectl.succeed("delete", "pod", "finished")

    assert kubectl("get", "pod", "finished").code == 1


def test_webhook_that_is_back_is_called_again(outage: Outage) -> None:
    outage.end()
    created = outage.kubectl.succeed(
        "create", "-o", "json", "-f", "-", stdin=text(offline("later"))
    )
    refused = outage.kubectl("create", "-f", "-", stdin=text(without_memory("wrong")))

    assert '"MGPU_TASK_CLASS"' in created.out
    assert refused.code == 1
    assert "[offline-memory]" in refused.err
