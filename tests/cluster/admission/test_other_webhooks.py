"""Other mutating webhooks beside ours: what they add is marked too, what they undo is noticed."""

from typing import cast

import pytest

from tests.builders import OFFLINE_ASKS, Object, container
from tests.cluster.admission.manifests import offline, section, text
from tests.cluster.admission.messages import refused
from tests.cluster.admission.patching_webhook import MakePatch, Patch, patching_webhook
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Kubectl

BEFORE_OURS, AFTER_OURS = "aa-other", "zz-other"
MARK = {"name": "MGPU_TASK_CLASS", "value": "offline"}
TAINT = "mgpu-hybrid.io/reclaimed"


def adding(sidecar: Object) -> MakePatch:
    """A webhook that adds a container unless it is there."""

    def make_patch(pod: Object) -> Patch:
        if any(c["name"] == sidecar["name"] for c in _containers(pod)):
            return []
        return [{"op": "add", "path": "/spec/containers/-", "value": sidecar}]

    return make_patch


def removing_our_toleration(pod: Object) -> Patch:
    """A webhook that undoes a part of the injection."""
    kept = [t for t in _tolerations(pod) if t.get("key") != TAINT]
    if kept == _tolerations(pod):
        return []
    return [{"op": "replace", "path": "/spec/tolerations", "value": kept}]


@pytest.mark.parametrize("name", [BEFORE_OURS, AFTER_OURS])
def test_added_container_that_asks_mgpu_is_marked(
    in_cluster: Kubectl, control_plane: ControlPlane, name: str
) -> None:
    add = adding(container(OFFLINE_ASKS, "helper"))
    with patching_webhook(in_cluster, control_plane.authority, add, name=name):
        in_cluster.succeed("create", "-f", "-", stdin=text(offline(name)))
    pod = in_cluster.read("get", "pod", name)

    assert {c["name"]: c.get("env") for c in _containers(pod)} == {
        "worker": [MARK],
        "helper": [MARK],
    }


def test_added_container_without_mgpu_is_left_alone(
    in_cluster: Kubectl, control_plane: ControlPlane
) -> None:
    add = adding(container(name="mesh"))
    with patching_webhook(in_cluster, control_plane.authority, add, name=AFTER_OURS):
        in_cluster.succeed("create", "-f", "-", stdin=text(offline("meshed")))
    pod = in_cluster.read("get", "pod", "meshed")

    assert {c["name"]: c.get("env") for c in _containers(pod)} == {"worker": [MARK], "mesh": None}


def test_injection_that_is_undone_once_is_done_again(
    in_cluster: Kubectl, control_plane: ControlPlane
) -> None:
    remove, authority = removing_our_toleration, control_plane.authority
    with patching_webhook(in_cluster, authority, remove, name=AFTER_OURS):
        in_cluster.succeed("create", "-f", "-", stdin=text(offline("healed")))
    pod = in_cluster.read("get", "pod", "healed")

    assert [t["key"] for t in _tolerations(pod)].count(TAINT) == 1


def test_injection_that_stays_undone_is_refused(
    in_cluster: Kubectl, control_plane: ControlPlane
) -> None:
    remove, authority = removing_our_toleration, control_plane.authority
    with patching_webhook(in_cluster, authority, remove, name=AFTER_OURS, reinvocation="IfNeeded"):
        done = in_cluster("create", "-f", "-", stdin=text(offline("undone")))

    assert done.code == 1
    assert done.err == refused(
        "offline-pods",
        "[injected] offline pod lacks what the mutating webhook injects: spec.tolerations; create the "
        "pod again; if it happens again, the mutating webhook of mgpu-hybrid is not reached or another "
        "webhook undoes its changes: see its status and logs",
    )
    assert in_cluster("get", "pod", "undone").code == 1


def _containers(pod: Object) -> list[Object]:
    return cast("list[Object]", section(pod, "spec")["containers"])


def _tolerations(pod: Object) -> list[Object]:
    return cast("list[Object]", section(pod, "spec")["tolerations"])
