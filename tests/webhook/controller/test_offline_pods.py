"""A node that turns ineligible while offline pods run there."""

from typing import cast

import pytest

from policies.raw import JsonObject
from tests.builders import COMPUTE_POLICY, Object, node, online_pod
from tests.webhook.controller.scene import EVENTS, Scene
from webhook.cluster.errors import ClusterError, status_error
from webhook.controller.offline_pods import MAX_NOTE_BYTES, ineligible_event
from webhook.controller.plan import OnNode

NATIVE = {COMPUTE_POLICY: "native-burst-share"}
REFUSED = OnNode("false", "node-compute-policy")


@pytest.fixture
def scene() -> Scene:
    """Two nodes that are eligible."""
    made = Scene()
    made.add(node("one"), node("two"))
    made.tick()
    made.watch()
    return made


def note(event: JsonObject) -> str:
    return str(event["note"])


def test_the_event_names_the_offline_pods_of_that_node(scene: Scene) -> None:
    scene.add_pod("one", "batch")
    scene.add_pod("two", "elsewhere")
    scene.add_pod("one", "finished", status={"phase": "Succeeded"})
    scene.api.create("/api/v1/namespaces/jobs/pods", online_pod(nodeName="one"))
    scene.change("one", labels=NATIVE)
    scene.tick()
    (event,) = scene.events()
    assert note(event) == (
        "1 offline pod runs on this node, which is not eligible any more (node-compute-policy); the "
        "kubelet ends them when it restarts. Mend the node or move them: jobs/batch"
    )
    assert (event["reason"], event["type"]) == ("HybridIneligible", "Warning")
    uid = cast("Object", scene.api.objects["/api/v1/nodes/one"]["metadata"])["uid"]
    assert event["regarding"] == {"apiVersion": "v1", "kind": "Node", "name": "one", "uid": uid}
    assert scene.metric("offline_pods_on_ineligible_nodes_total") == 1


def test_five_pods_are_named_and_the_rest_counted(scene: Scene) -> None:
    for number in range(7):
        scene.add_pod("one", f"batch-{number}")
    scene.change("one", labels=NATIVE)
    scene.tick()
    (event,) = scene.events()
    assert note(event).startswith("7 offline pods run")
    assert note(event).endswith("jobs/batch-3, jobs/batch-4 and 2 more")
    assert scene.metric("offline_pods_on_ineligible_nodes_total") == 7


def test_a_node_without_offline_pods_makes_no_event(scene: Scene) -> None:
    scene.add_pod("two", "elsewhere")
    scene.change("one", labels=NATIVE)
    scene.tick()
    assert scene.on("one") == REFUSED
    assert scene.events() == []


def test_a_node_that_becomes_eligible_makes_no_event(scene: Scene) -> None:
    scene.change("one", labels=NATIVE)
    scene.tick()
    scene.add_pod("one", "batch")
    scene.change("one", labels={COMPUTE_POLICY: "fixed-share"})
    scene.tick()
    assert scene.on("one") == OnNode("true", None)
    assert scene.events() == []


def test_a_node_that_was_never_judged_is_told_of_as_well(scene: Scene) -> None:
    """With `notRefused` offline pods come to nodes without a label."""
    scene.add_pod("three", "batch")
    scene.add(node("three", labels={**NATIVE}))
    scene.tick()
    assert len(scene.events()) == 1


@pytest.mark.parametrize("path", ["/api/v1/pods", EVENTS], ids=["pods", "event"])
def test_the_label_does_not_wait_for_the_event(scene: Scene, path: str) -> None:
    scene.add_pod("one", "batch")
    scene.change("one", labels=NATIVE)

    def forbid(method: str, asked: str) -> ClusterError | None:
        return status_error(f"{method} {asked}", 403, {}) if asked == path else None

    scene.api.fault = forbid
    scene.tick()
    assert scene.on("one") == REFUSED
    assert scene.events() == []


@pytest.mark.parametrize(
    "letter", [pytest.param("p", id="ascii"), pytest.param("ü", id="cut inside a character")]
)
def test_a_note_that_is_too_long_is_cut(letter: str) -> None:
    pods = [f"{'n' * 63}/{letter * 250}"] * 5
    event = ineligible_event(node("one"), ("node-image",), pods, "me", Scene().clock.wall())
    assert len(note(event).encode()) <= MAX_NOTE_BYTES
    assert note(event).endswith("...")
