"""The leader's loop: what it writes, what it leaves, and what it does when the API server says no."""

from collections.abc import Callable

import pytest

from policies.node import Inventory
from policies.policy import DEFAULT_ACTIONS, Action, NodePool, Policy
from tests.builders import COMPUTE_POLICY, DRIVER_VERSION, GPU_SCHEDULE, node
from tests.webhook.controller.scene import NODES, Scene
from webhook.cluster.errors import ClusterError, ClusterUnavailableError, status_error
from webhook.controller.bucket import BURST_WRITES, WRITES_PER_SECOND
from webhook.controller.eligibility_loop import (
    REST_SECONDS,
    RESYNC_SECONDS,
    TICK_SECONDS,
)
from webhook.controller.memory import ECHO_SECONDS
from webhook.controller.plan import OnNode
from webhook.state import Snapshot

NATIVE = {COMPUTE_POLICY: "native-burst-share"}
SHARED = {COMPUTE_POLICY: "fixed-share"}
BAD: dict[str, str | None] = {**NATIVE}
WHY = "node-compute-policy"
GOOD = OnNode("true", None)
REFUSED = OnNode("false", WHY)


def paths(*names: str) -> list[str]:
    return [f"{NODES}/{name}" for name in names]


@pytest.fixture
def scene() -> Scene:
    """A good and a bad node, both written."""
    made = Scene()
    made.add(node("bad", labels=BAD), node("good"))
    made.tick()
    assert (made.on("good"), made.on("bad")) == (GOOD, REFUSED)
    made.api.sent.clear()
    return made


def fail_on(
    name: str, make: Callable[[str], ClusterError]
) -> Callable[[str, str], ClusterError | None]:
    return lambda method, path: (
        make(path) if (method, path) == ("PATCH", f"{NODES}/{name}") else None
    )


def test_what_was_written_is_not_written_again_before_the_watch_shows_it(scene: Scene) -> None:
    assert scene.snapshot is not None
    inventory = scene.snapshot.inventory
    assert inventory is not None
    scene.snapshot = Snapshot(scene.policy, Inventory(inventory.nodes))
    scene.tick()
    assert scene.api.writes() == []


def test_nothing_is_written_when_nothing_changed(scene: Scene) -> None:
    scene.watch()
    assert scene.tick(RESYNC_SECONDS) == TICK_SECONDS
    assert scene.api.writes() == []


def test_only_what_changed_is_written(scene: Scene) -> None:
    scene.change("good", labels=NATIVE)
    scene.tick()
    assert scene.api.writes() == paths("good")
    assert scene.on("good") == REFUSED


def test_a_node_that_is_added_is_written(scene: Scene) -> None:
    scene.add(node("new"))
    scene.tick()
    assert scene.api.writes() == paths("new")


def test_a_node_without_a_gpu_is_left_alone(scene: Scene) -> None:
    scene.add(node("cpu", labels={GPU_SCHEDULE: None}, allocatable={}))
    scene.tick()
    assert scene.api.writes() == []


def test_a_node_that_loses_its_gpus_keeps_its_label(scene: Scene) -> None:
    scene.change("good", labels={GPU_SCHEDULE: None})
    scene.api.objects[f"{NODES}/good"]["status"] = {}
    scene.watch()
    scene.tick()
    assert scene.api.writes() == []
    assert scene.on("good") == GOOD


def test_a_pool_at_zero_is_no_node(scene: Scene) -> None:
    scene.policy = Policy(node_pools=(NodePool("spare", {GPU_SCHEDULE: "mgpu"}),))
    scene.watch()
    scene.tick()
    assert scene.api.writes() == []
    assert scene.metric("nodes_eligible") == 1


def test_a_label_that_somebody_changed_is_put_right(scene: Scene) -> None:
    scene.watch()
    scene.tick()
    scene.change("bad", labels={"mgpu-hybrid.node-restriction.kubernetes.io/eligible": "true"})
    scene.tick(ECHO_SECONDS)
    assert scene.on("bad") == REFUSED


def test_a_label_that_was_put_back_at_once_is_noticed_later(scene: Scene) -> None:
    """The watch shows what it showed before the write, for longer than a watch lags."""
    scene.change("good", labels=NATIVE)
    scene.tick()
    label = {"mgpu-hybrid.node-restriction.kubernetes.io/eligible": "true"}
    scene.change("good", labels=label)
    scene.tick()
    assert scene.api.writes() == []
    scene.tick(RESYNC_SECONDS)
    assert scene.on("good") == REFUSED


def test_a_node_that_was_deleted_is_not_remembered(scene: Scene) -> None:
    del scene.api.objects[f"{NODES}/bad"]
    scene.watch()
    scene.tick()
    label = {"mgpu-hybrid.node-restriction.kubernetes.io/eligible": "false"}
    scene.add(node("bad", labels={**BAD, **label}))
    scene.tick()
    assert scene.on("bad") == REFUSED


def test_after_a_restart_nothing_is_written(scene: Scene) -> None:
    scene.watch()
    scene.loop = scene.new_loop()
    scene.tick()
    assert scene.api.writes() == []


def test_another_policy_judges_all_nodes_anew(scene: Scene) -> None:
    scene.policy = Policy(actions={**DEFAULT_ACTIONS, WHY: Action.WARN})
    scene.watch()
    scene.tick()
    assert scene.api.writes() == paths("bad")
    assert scene.on("bad") == GOOD


def test_an_unknown_fact_turns_no_node_that_was_good(scene: Scene) -> None:
    scene.policy = Policy(unknown_facts=Action.DENY)
    scene.add(node("unknown", annotations={DRIVER_VERSION: None}))
    scene.change("good", annotations={DRIVER_VERSION: None})
    scene.tick()
    assert scene.on("good") == GOOD
    assert scene.on("unknown") == OnNode("false", "node-driver-version")
    scene.change("good", annotations={DRIVER_VERSION: "0.07.35.22"})
    scene.tick()
    assert scene.on("good") == OnNode("false", "node-driver-version")


def test_without_a_snapshot_nothing_happens() -> None:
    scene = Scene()
    assert scene.tick() == TICK_SECONDS
    assert scene.api.sent == []


def test_who_does_not_lead_writes_nothing_and_shows_no_nodes(scene: Scene) -> None:
    assert scene.metric("nodes_eligible") == 1
    scene.leads = False
    scene.change("good", labels=NATIVE)
    scene.tick()
    assert scene.api.writes() == []
    assert scene.metric("nodes_eligible") == 0
    assert scene.metric("nodes_ineligible", rule=WHY) == 0


def test_a_leader_that_loses_the_lease_stops_between_two_writes() -> None:
    scene = Scene()
    scene.add(*(node(f"n{number}") for number in range(5)))

    def lose_after_two(method: str, path: str) -> None:
        if (method, path) == ("PATCH", f"{NODES}/n1"):
            scene.leads = False

    scene.api.before = lose_after_two
    scene.tick()
    assert scene.api.writes() == paths("n0", "n1")
    scene.leads = True
    scene.watch()
    scene.tick()
    assert scene.api.writes() == paths("n2", "n3", "n4")


def test_writes_come_at_the_rate_of_the_bucket() -> None:
    scene = Scene()
    scene.add(*(node(f"n{number:03}") for number in range(100)))
    assert scene.tick() == pytest.approx(1 / WRITES_PER_SECOND)
    assert len(scene.api.writes()) == BURST_WRITES
    scene.tick(1.0)
    assert len(scene.api.writes()) == WRITES_PER_SECOND
    scene.tick(10.0)
    assert len(scene.api.writes()) == 100 - BURST_WRITES - WRITES_PER_SECOND


def test_a_node_that_is_gone_does_not_hold_up_the_others(scene: Scene) -> None:
    scene.add(node("a-gone"), node("b-new"))
    del scene.api.objects[f"{NODES}/a-gone"]
    scene.tick()
    assert scene.on("b-new") == GOOD
    assert scene.metric("eligibility_writes_total", result="gone") == 1


def test_a_conflict_is_planned_anew(scene: Scene) -> None:
    scene.add(node("a-new"), node("b-new"))
    scene.api.fault = fail_on("a-new", lambda path: status_error(path, 409, {"reason": "Conflict"}))
    scene.tick()
    scene.api.fault = lambda _method, _path: None
    assert scene.on("b-new") == GOOD
    scene.tick(TICK_SECONDS)
    assert scene.on("a-new") == GOOD
    assert scene.metric("eligibility_writes_total", result="conflict") == 1


def test_a_node_that_admission_refuses_rests_while_others_are_written(scene: Scene) -> None:
    scene.add(node("a-new"), node("b-new"))
    scene.api.fault = fail_on("a-new", lambda path: status_error(path, 403, {}))
    with pytest.raises(ClusterError):
        scene.tick()
    scene.tick()
    assert scene.on("b-new") == GOOD
    scene.watch()
    scene.tick()
    assert scene.metric("eligibility_writes_total", result="refused") == 1
    scene.api.fault = lambda _method, _path: None
    scene.tick(max(REST_SECONDS, RESYNC_SECONDS))
    assert scene.on("a-new") == GOOD


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ClusterUnavailableError("no answer"), id="no answer"),
        pytest.param(status_error("PATCH", 500, {}), id="500"),
        pytest.param(status_error("PATCH", 429, {}), id="429"),
        pytest.param(status_error("PATCH", 401, {}), id="401"),
    ],
)
def test_when_the_server_is_ill_the_same_node_is_tried_again(
    scene: Scene, error: ClusterError
) -> None:
    scene.add(node("a-new"), node("b-new"))
    scene.api.fault = fail_on("a-new", lambda _path: error)
    with pytest.raises(type(error)):
        scene.tick()
    assert scene.api.writes() == paths("a-new")
    scene.api.fault = lambda _method, _path: None
    scene.tick(TICK_SECONDS)
    assert scene.api.writes() == paths("a-new", "b-new")


def test_flips_and_states_are_counted(scene: Scene) -> None:
    scene.change("good", labels=NATIVE)
    scene.tick()
    scene.change("bad", labels=SHARED)
    scene.tick()
    assert scene.metric("eligibility_flips_total", to="false") == 1
    assert scene.metric("eligibility_flips_total", to="true") == 1
    assert scene.metric("eligibility_writes_total", result="written") == 4
    assert scene.metric("nodes_eligible") == 1
    assert scene.metric("nodes_ineligible", rule=WHY) == 1
    assert scene.metric("nodes_ineligible", rule="node-image") == 0
