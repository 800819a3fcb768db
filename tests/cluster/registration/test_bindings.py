"""Which bindings a real API server shows to the webhook: those whose annotations would change the pod."""

import json
from collections.abc import Mapping

import pytest

from tests.cluster.kubectl import Kubectl
from tests.cluster.registration.pod_shapes import (
    ASSUMED,
    GPU_INDEX,
    MARKED,
    ONLINE_LIMITS,
    container,
    list_of,
    named,
    pod,
)
from tests.cluster.registration.recording_webhook import RecordingWebhook, registered

NAMESPACE = "bindings"
SHOWN = {"validate/bindings"}
NOTHING: set[str] = set()

BINDINGS: Mapping[str, tuple[Mapping[str, str] | None, set[str]]] = {
    "no-annotations": (None, NOTHING),
    "another-annotation": ({"example.com/note": "x"}, NOTHING),
    "card": ({GPU_INDEX: "0"}, SHOWN),
    "assumed": ({ASSUMED: "true"}, SHOWN),
    "mark-that-changes-the-class": (MARKED, SHOWN),
}
ADDRESSES = ("pods/{name}/binding", "bindings")


@pytest.fixture(scope="module")
def hooks_called(kubectl: Kubectl, webhook: RecordingWebhook) -> Mapping[str, set[str]]:
    """The hooks that were called per address and binding, after all were made."""
    kubectl.succeed("create", "namespace", NAMESPACE)
    cases = [
        (f"{kind}-{n}", address, kind) for n, address in enumerate(ADDRESSES) for kind in BINDINGS
    ]
    pods = [named(pod(container(ONLINE_LIMITS)), name) for name, _, _ in cases]
    kubectl.in_namespace(NAMESPACE).succeed("create", "-f", "-", stdin=list_of(pods))
    with registered(kubectl, webhook):
        for name, address, kind in cases:
            binding = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": name, "annotations": BINDINGS[kind][0]},
                "target": {"apiVersion": "v1", "kind": "Node", "name": "some-node"},
            }
            url = f"--raw=/api/v1/namespaces/{NAMESPACE}/{address.format(name=name)}"
            kubectl.succeed("create", url, "-f", "-", stdin=json.dumps(binding))
        return {name: webhook.hooks_called("CREATE", name) for name, _, _ in cases}


@pytest.mark.parametrize("kind", BINDINGS)
@pytest.mark.parametrize("address", range(len(ADDRESSES)), ids=ADDRESSES)
def test_binding_is_shown_when_it_annotates_the_pod(
    hooks_called: Mapping[str, set[str]], address: int, kind: str
) -> None:
    assert hooks_called[f"{kind}-{address}"] == BINDINGS[kind][1]


@pytest.mark.usefixtures("hooks_called")
@pytest.mark.parametrize("address", range(len(ADDRESSES)), ids=ADDRESSES)
def test_annotations_of_a_binding_do_reach_the_pod(kubectl: Kubectl, address: int) -> None:
    stored = kubectl.in_namespace(NAMESPACE).read("get", "pod", f"card-{address}")

    assert str({GPU_INDEX: "0"}) in str(stored)
