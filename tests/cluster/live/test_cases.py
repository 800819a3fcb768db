"""Every case of tests/cases, created on the API server: the same answer as the webhook gives from files.

The nodes are those of demo/nodes.yaml, once as a file and once as Node objects, labelled by the controller.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus

import pytest
import yaml

from demo.server import RunningServer
from tests.cases import NODES, Case, admission_cases, request_cases
from tests.cluster.admission.manifests import section
from tests.cluster.admission.registered_webhook import registered, serving, serving_live
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import create_pod, send
from tests.cluster.kubectl import Kubectl
from tests.cluster.live.fleet import add_nodes, remove_nodes, wait_for_labels

CASES = [*admission_cases(), *request_cases()]
WITHOUT_GPU = {"cpu-1"}
REFUSAL = re.compile(r'admission webhook "[a-z-]+\.mgpu-hybrid\.io" denied the request: ')
LEADING_ID = re.compile(r"^\[([a-z-]+)\]", re.MULTILINE)

API_SERVER_REFUSES = {
    "half a percent": HTTPStatus.UNPROCESSABLE_ENTITY,
    "counts None asks -20/6k": HTTPStatus.UNPROCESSABLE_ENTITY,
    "counts None asks 0.5/4096": HTTPStatus.UNPROCESSABLE_ENTITY,
    "counts None asks 30/abc": HTTPStatus.BAD_REQUEST,
}
"""Cases that are no valid pods: it says so itself, before it asks a validating webhook."""


@dataclass(frozen=True, slots=True)
class Both:
    """The API server that asks a live webhook, and a webhook with the same nodes from a file."""

    plane: ControlPlane
    from_files: RunningServer


@pytest.fixture(scope="module")
def both(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    module_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    for namespace in ("research", "serving"):
        kubectl.succeed("create", "namespace", namespace)
    folder = tmp_path_factory.mktemp("cases")
    arguments = ["--lease-namespace", module_namespace]
    with (
        serving(folder / "files") as from_files,
        serving_live(folder / "live", control_plane.kubeconfig, *arguments) as live,
    ):
        names = add_nodes(control_plane, yaml.safe_load(NODES.read_text())["items"])
        judged = [name for name in names if name not in WITHOUT_GPU]
        wait_for_labels(control_plane, judged)
        with registered(kubectl, live):
            yield Both(control_plane, from_files)
    remove_nodes(control_plane, names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answer_is_the_same_as_from_files(both: Both, case: Case) -> None:
    expected = both.from_files.client.create(case.pod, is_dry_run=True)
    namespace = str(section(case.pod, "metadata")["namespace"])

    reply = send(both.plane, create_pod(namespace, case.pod, query="?dryRun=All"))

    if case.name in API_SERVER_REFUSES:
        assert (reply.code, expected.allowed) == (API_SERVER_REFUSES[case.name], False)
        return
    message, refusals = REFUSAL.subn("", str(reply.body.get("message", "")))
    assert reply.code == (HTTPStatus.FORBIDDEN if case.deny else HTTPStatus.CREATED)
    assert refusals == bool(case.deny)
    assert message == expected.message.replace("by demo,", "by admin,")
    assert set(LEADING_ID.findall(message)) == case.deny
    assert reply.warnings == as_passed_on(expected.warnings)
    assert set(LEADING_ID.findall("\n".join(reply.warnings))) == case.warn


def as_passed_on(warnings: Iterable[str]) -> tuple[str, ...]:
    """The same warnings from the API server: it leaves out what it has said already.

    Its plugin DefaultTolerationSeconds has made a list of tolerations before we are asked.
    """
    told = [text.replace("/spec/tolerations:", "/spec/tolerations/-:") for text in warnings]
    return tuple(dict.fromkeys(told))
