"""The watch of the nodes, against an API server that goes away, forgets, and talks nonsense."""

import logging
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from policies.node import Inventory, inventory_of
from policies.policy import Policy
from tests.builders import node
from tests.cluster.waiting import eventually
from tests.webhook.cluster.standin import GONE_EVENT, ApiStandIn, Scripted, event, refused
from tests.webhook.cluster.watching import POLICY, Watching
from webhook.cluster import node_watch
from webhook.cluster.api import KubeApi


def told(kind: str, name: str, version: int) -> bytes:
    raw = node(name)
    return event(kind, {**raw, "metadata": {"name": name, "resourceVersion": str(version)}})


BOOKMARK = event("BOOKMARK", {"kind": "Node", "metadata": {"resourceVersion": "500"}})


@pytest.fixture
def watching(standin: ApiStandIn, tmp_path: Path) -> Watching:
    return Watching(standin.kubeconfig(tmp_path))


@pytest.fixture
def synced(standin: ApiStandIn, watching: Watching) -> Watching:
    """After a first round, with the nodes a and b."""
    standin.put(node("a"))
    standin.put(node("b"))
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert watching.round() == 0.0
    assert watching.names() == ["a", "b"]
    return watching


@pytest.fixture
def running(standin: ApiStandIn, watching: Watching) -> Iterator[Watching]:
    """In its own thread, after the first list."""
    standin.put(node("a"))
    watching.watch.start()
    eventually(lambda: watching.names() == ["a"], "the first list is taken up")
    yield watching
    watching.watch.stop()
    assert not watching.watch._thread.is_alive()


def test_before_the_first_list_there_is_no_inventory(watching: Watching) -> None:
    assert watching.names() is None
    assert not watching.live.freshness.is_synced


def test_the_first_round_asks_the_version_lists_in_pages_and_watches_on(
    standin: ApiStandIn, synced: Watching
) -> None:
    assert synced.watch.server_version == "v1.30.4-vke.3"
    assert synced.live.freshness.is_synced
    assert [query["limit"] for query in standin.lists] == ["250"]
    (query,) = standin.watches
    assert query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "102",
        "timeoutSeconds": "30",
    }


def test_without_a_change_there_is_no_new_inventory(synced: Watching) -> None:
    assert synced.names() is None


def test_events_are_taken_up_and_the_next_watch_goes_on_after_them(
    standin: ApiStandIn, synced: Watching
) -> None:
    more = [event("ADDED", node("c")), told("DELETED", "a", 600)]
    standin.next_watches.append(Scripted(pieces=more))
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert synced.round() == synced.round() == 0.0
    assert synced.names() == ["b", "c"]
    assert [query["resourceVersion"] for query in standin.watches] == ["102", "500", "600"]
    assert len(standin.lists) == 1


def test_a_cut_in_an_event_loses_none(standin: ApiStandIn, synced: Watching) -> None:
    whole, half = event("ADDED", node("c")), told("ADDED", "d", 700)
    standin.next_watches.append(Scripted(pieces=[told("DELETED", "a", 600), half[:-9]], end="cut"))
    standin.next_watches.append(Scripted(pieces=[half, whole]))
    assert synced.round() == 1.0
    assert synced.names() == ["b"]
    assert synced.round() == 0.0
    assert standin.watches[-1]["resourceVersion"] == "600"
    assert synced.restarts("unavailable") == 1
    assert len(standin.lists) == 1


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        pytest.param(Scripted(pieces=[GONE_EVENT]), "gone", id="gone, as an event"),
        pytest.param(refused(410, "Expired"), "gone", id="gone, as a status"),
        pytest.param(Scripted(pieces=[b"}{ garbage\n"]), "unreadable", id="a garbage line"),
        pytest.param(
            Scripted(pieces=[b'{"type": "ADDED", "object": {"metadata": "x"}}\n']),
            "unreadable",
            id="an object without metadata",
        ),
    ],
)
def test_what_breaks_the_history_leads_to_another_list(
    script: Scripted, reason: str, standin: ApiStandIn, synced: Watching
) -> None:
    standin.remove("a")
    standin.put(node("z"))
    standin.next_watches.append(script)
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert synced.round() == 1.0
    assert synced.restarts(reason) == 1
    assert synced.names() is None
    assert synced.round() == 0.0
    assert synced.names() == ["b", "z"]
    assert len(standin.lists) == 2
    assert synced.trouble == ""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Scripted(pieces=[b'{"items": [{"metadata"'], end="cut"), id="half a page"),
        pytest.param(Scripted(pieces=[b'{"items": 7}']), id="a page without items"),
        pytest.param(Scripted(pieces=[b'{"items": []}']), id="a page without a version"),
        pytest.param(refused(500, "InternalError"), id="an error"),
    ],
)
def test_a_list_that_fails_is_no_first_sync(
    script: Scripted, standin: ApiStandIn, watching: Watching
) -> None:
    standin.put(node("a"))
    standin.next_lists.append(script)
    assert watching.round() == 1.0
    assert watching.names() is None
    assert watching.live.freshness.missing().startswith("node snapshot: not synced yet: ")
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert watching.round() == 0.0
    assert watching.names() == ["a"]


def test_a_list_that_fails_later_removes_nothing(standin: ApiStandIn, synced: Watching) -> None:
    standin.next_watches.append(Scripted(pieces=[GONE_EVENT]))
    standin.next_lists.append(Scripted(pieces=[b'{"items": []'], end="cut"))
    synced.round()
    assert synced.round() == 1.0
    assert synced.names() is None


def test_away_and_back(standin: ApiStandIn, synced: Watching) -> None:
    synced.clock.step_seconds = 1.0
    heard = synced.live.freshness.heard_seconds
    standin.go_away()
    assert synced.round() == 1.0
    assert synced.round() == 1.0
    assert synced.names() is None
    assert synced.trouble.startswith("GET /version: the connection failed")
    assert synced.live.freshness.heard_seconds == heard
    assert synced.restarts("unavailable") == 2
    standin.come_back()
    standin.version = "v1.32.1-vke.1"
    standin.remove("a")
    standin.next_watches.append(Scripted(pieces=[told("DELETED", "a", 600)]))
    assert synced.round() == 0.0
    assert synced.names() == ["b"]
    assert synced.trouble == ""
    assert synced.live.freshness.heard_seconds > heard
    assert synced.watch.server_version == "v1.32.1-vke.1"


def test_the_same_trouble_is_logged_once(
    standin: ApiStandIn, synced: Watching, caplog: pytest.LogCaptureFixture
) -> None:
    standin.go_away()
    with caplog.at_level(logging.WARNING):
        synced.round()
        synced.round()
    assert [record.message for record in caplog.records] == ["nodes cannot be watched"]


def test_a_connection_that_is_silent_for_too_long_is_given_up(
    standin: ApiStandIn, synced: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_watch, "IDLE_GRACE_SECONDS", -29.7)
    standin.next_watches.append(Scripted(pieces=[told("DELETED", "a", 600)], end="silence"))
    assert synced.round() == 1.0
    assert "no answer in time" in synced.trouble
    assert synced.names() == ["b"]


def test_a_server_that_asks_for_a_pause_gets_it(standin: ApiStandIn, watching: Watching) -> None:
    standin.next_lists.append(refused(429, "TooManyRequests", Retry_After="7"))
    assert watching.round() == 7.0
    assert watching.restarts("refused") == 1


def test_a_watch_that_ends_at_once_is_not_opened_again_at_once(
    standin: ApiStandIn, synced: Watching
) -> None:
    standin.next_watches.append(Scripted())
    assert synced.round() == 1.0
    assert synced.restarts("short") == 1
    synced.clock.step_seconds = 1.0
    standin.next_watches.append(Scripted())
    assert synced.round() == 0.0


def test_a_refused_credential_is_read_anew(standin: ApiStandIn, synced: Watching) -> None:
    standin.next_watches.append(refused(401, "Unauthorized"))
    standin.next_watches.append(refused(403, "Forbidden"))
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert synced.round() == 1.0
    assert synced.connections == 1
    assert synced.round() == 1.0
    assert synced.connections == 2
    assert synced.round() == 0.0
    assert synced.connections == 2


def test_a_kubeconfig_that_comes_later(standin: ApiStandIn, tmp_path: Path) -> None:
    watching = Watching(tmp_path / "standin.kubeconfig")
    assert watching.round() == 1.0
    assert watching.restarts("settings") == 1
    standin.kubeconfig(tmp_path)
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert watching.round() == 0.0


def test_a_fault_of_our_own_does_not_end_the_watch(
    standin: ApiStandIn, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faults = [RuntimeError("ours")]

    def connect() -> KubeApi:
        if faults:
            raise faults.pop()
        return KubeApi.connect(standin.kubeconfig(tmp_path))

    watching = Watching(tmp_path, connect)
    assert watching.round() == 1.0
    assert watching.restarts("fault") == 1
    assert "watching the nodes failed" in caplog.text
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert watching.round() == 0.0


def test_malformed_nodes_are_counted(standin: ApiStandIn, synced: Watching) -> None:
    bad = {"metadata": {"name": "bad", "labels": 7, "resourceVersion": "600"}}
    standin.next_watches.append(Scripted(pieces=[event("ADDED", bad)]))
    assert synced.round() == 0.0
    synced.clock.seconds += 12.0
    synced.watch.measure(synced.clock.seconds)
    sample = synced.registry.get_sample_value
    assert sample("mgpu_hybrid_malformed_nodes") == 1
    assert sample("mgpu_hybrid_node_snapshot_age_seconds") == 12.0


def test_a_policy_that_changed_while_the_server_was_away(
    standin: ApiStandIn, synced: Watching
) -> None:
    policy = replace(Policy(), addon_version="v9")
    standin.go_away()
    synced.round()
    inventory = synced.inventory(policy)
    assert inventory is not None
    assert len(inventory.nodes) == 2
    assert synced.inventory(policy) is None


def test_a_policy_that_reads_more_keeps_the_old_inventory_until_the_nodes_are_listed(
    standin: ApiStandIn, synced: Watching
) -> None:
    policy = replace(Policy(), keys=replace(Policy().keys, driver_version="x/driver"))
    standin.put(node("a", annotations={"x/driver": "9"}))
    assert synced.inventory(policy) is None
    standin.next_lists.append(refused(500, "InternalError"))
    assert synced.round() == 1.0
    assert synced.inventory(policy) is None
    standin.next_watches.append(Scripted(pieces=[BOOKMARK]))
    assert synced.round() == 0.0
    inventory = synced.inventory(policy)
    assert inventory is not None
    assert inventory.nodes[0].profile.driver_version == "9"


def test_a_running_watch_follows(standin: ApiStandIn, running: Watching) -> None:
    standin.put(node("b"))
    eventually(lambda: running.names() == ["a", "b"], "a new node comes by the watch")
    standin.remove("a")
    eventually(lambda: running.names() == ["b"], "a deleted node goes by the watch")
    assert len(standin.lists) == 1


def test_a_policy_that_reads_more_ends_a_running_watch(
    standin: ApiStandIn, running: Watching
) -> None:
    policy = replace(Policy(), keys=replace(Policy().keys, driver_version="x/driver"))
    eventually(lambda: running.inventory(policy) is not None, "the nodes are listed again")
    assert len(standin.lists) == 2


def test_a_stop_while_the_watch_is_opened_ends_it(standin: ApiStandIn, synced: Watching) -> None:
    """The server never ends this watch, so that the round would last for half a minute."""
    standin.next_watches.append(Scripted(pieces=[BOOKMARK], end="silence"))
    synced.watch._stopping.set()
    assert synced.round() == 0.0
    assert synced.trouble == ""


class NoPause(Event):
    """Does not wait between tries."""

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - as inherited
        return self.is_set()


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_the_nodes_are_the_servers_in_the_end(
    seed: int, standin: ApiStandIn, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    watching = Watching(standin.kubeconfig(tmp_path), stop=NoPause())
    faults = [
        Scripted(pieces=[GONE_EVENT]),
        Scripted(pieces=[b"garbage\n"]),
        Scripted(pieces=[event("ADDED", node("x"))[:-30]], end="cut"),
        refused(500, "InternalError"),
        Scripted(),
    ]

    def put() -> None:
        label = {"zone": chance.choice("abc")}
        standin.put(node(f"n-{chance.randrange(20)}", labels=label))

    def remove() -> None:
        if standin.nodes:
            standin.remove(chance.choice(sorted(standin.nodes)))

    def away() -> None:
        standin.go_away()
        standin.come_back()

    def fault() -> None:
        chance.choice([standin.next_watches, standin.next_lists]).append(chance.choice(faults))
        standin.end_watches()

    actions = [put] * 6 + [remove] * 3 + [standin.end_watches, standin.compact, away, fault, fault]
    watching.watch.start()
    for _ in range(80):
        chance.choice(actions)()
    standin.next_watches.clear()
    standin.next_lists.clear()
    standin.put(node("last"))

    found: list[Inventory] = []

    def agrees() -> bool:
        found.extend(each for each in [watching.inventory()] if each is not None)
        return found[-1:] == [inventory_of(standin.nodes.values(), POLICY)]

    eventually(agrees, "the nodes are those of the server")
    watching.watch.stop()
