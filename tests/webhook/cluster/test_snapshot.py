"""How what the watch heard becomes the snapshot: the watch is fed by hand, without a server."""

from pathlib import Path

from prometheus_client import CollectorRegistry

from tests.builders import Object, node
from tests.webhook.cluster.watching import Watching
from webhook.metrics import Metrics
from webhook.readiness import Readiness
from webhook.reload import Reloader
from webhook.settings import ServeSettings
from webhook.state import Snapshot, State

HEAD = "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\n"


class Process:
    """The parts that make a snapshot."""

    def __init__(self, folder: Path, settings: ServeSettings | None = None) -> None:
        self.watching = Watching(folder / "none.kubeconfig")
        self.registry = CollectorRegistry()
        self.state = State()
        self.readiness = Readiness()
        self.reloader = Reloader(
            settings or ServeSettings(kubeconfig=folder),
            self.state,
            self.readiness,
            Metrics(self.registry),
            self.watching.watch,
        )

    def list_nodes(self, *nodes: Object) -> None:
        page = {"metadata": {"resourceVersion": "7"}, "items": list(nodes)}
        self.watching.live.take_list([page])
        self.watching.live.hear()

    def tick(self) -> Snapshot:
        self.reloader.tick_watch(self.watching.clock.seconds)
        assert self.state.current is not None
        return self.state.current

    def names(self) -> list[str]:
        inventory = self.tick().inventory
        assert inventory is not None
        return [each.name for each in inventory.nodes]


def test_before_the_first_list_there_is_a_policy_and_no_inventory(tmp_path: Path) -> None:
    process = Process(tmp_path)
    assert process.readiness.nodes == "node snapshot: not read yet"
    assert process.tick().inventory is None
    assert process.readiness.nodes == "node snapshot: not synced yet"


def test_a_list_becomes_the_inventory_and_a_metric(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.list_nodes(node("a"), node("b"))
    assert process.names() == ["a", "b"]
    assert process.readiness.nodes == ""
    assert process.registry.get_sample_value("mgpu_hybrid_nodes") == 2


def test_without_a_change_the_snapshot_stays_the_same(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.list_nodes(node("a"))
    before = process.tick()
    process.watching.live.take_event({"type": "MODIFIED", "object": node("a")})
    assert process.tick() is before


def test_many_events_between_two_looks_are_one_inventory(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.list_nodes(node("a"))
    before = process.tick()
    for number in range(50):
        process.watching.live.take_event({"type": "ADDED", "object": node(f"n-{number:02d}")})
    assert before.inventory is not None
    assert len(before.inventory.nodes) == 1
    assert len(process.names()) == 51


def test_stale_nodes_are_told_and_stay(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.list_nodes(node("a"))
    process.watching.live.complain("no way there")
    process.watching.clock.seconds += 61.0
    assert process.names() == ["a"]
    assert process.readiness.stale_nodes == (
        "node snapshot: 61 s old, the last one counts on: no way there"
    )
    assert process.readiness.nodes == ""
    process.watching.live.hear()
    process.tick()
    assert process.readiness.stale_nodes == ""


def test_a_new_version_comes_without_new_nodes(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.list_nodes(node("a"))
    before = process.tick()
    process.watching.live.server_version = "v1.30.4-vke.3"
    assert process.tick().cluster_version == "v1.30.4-vke.3"
    assert process.tick().inventory is before.inventory


def test_a_version_that_is_given_goes_before(tmp_path: Path) -> None:
    process = Process(tmp_path, ServeSettings(kubeconfig=tmp_path, kubernetes_version="v1.28.1"))
    process.watching.live.server_version = "v1.30.4-vke.3"
    assert process.tick().cluster_version == "v1.28.1"


def test_a_new_policy_reads_the_nodes_anew_and_keeps_its_old_injection(tmp_path: Path) -> None:
    policy_file = tmp_path / "policy.yaml"
    policy_file.write_text(HEAD + "spec: {}\n")
    process = Process(tmp_path, ServeSettings(kubeconfig=tmp_path, policy_path=policy_file))
    process.reloader.tick(0.0)
    process.list_nodes(node("a", annotations={"mgpu-hybrid.io/addon-version": None}))
    old = process.tick()
    policy_file.write_text(HEAD + "spec: {addonVersion: v0.7.0, injection: {env: []}}\n")
    process.reloader.tick(1.0)
    snapshot = process.tick()
    assert snapshot.inventory is not None
    assert snapshot.inventory.nodes[0].profile.addon_version == "v0.7.0"
    assert snapshot.previous_injections == (old.policy.injection,)


def test_nodes_wait_for_a_policy(tmp_path: Path) -> None:
    process = Process(tmp_path, ServeSettings(policy_path=tmp_path / "none", kubeconfig=tmp_path))
    process.list_nodes(node("a"))
    process.reloader.tick_watch(1000.0)
    assert process.state.current is None
