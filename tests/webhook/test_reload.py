"""Files change, and the snapshot follows; what is broken keeps the last good state."""

import json
import logging
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from tests.builders import Object, node
from webhook.metrics import Metrics
from webhook.readiness import Readiness
from webhook.reload import Reloader
from webhook.settings import ServeSettings
from webhook.state import Snapshot, State

HEAD = "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\n"
PLAIN = HEAD + "spec: {}\n"
OTHER_ENV = HEAD + "spec: {injection: {env: [{name: MGPU_TASK_CLASS, value: other}]}}\n"
NO_NAMES = HEAD + "spec: {showNodeNames: false}\n"
BROKEN = HEAD + "spec: {showNodeNames: 7, injectionGraceSeconds: x}\n"


class Process:
    """The parts that a reload touches, on files below a directory."""

    def __init__(self, directory: Path, settings: ServeSettings) -> None:
        self.directory = directory
        self.registry = CollectorRegistry()
        self.state = State()
        self.readiness = Readiness()
        self.reloader = Reloader(settings, self.state, self.readiness, Metrics(self.registry))

    @property
    def snapshot(self) -> Snapshot:
        assert self.state.current is not None
        return self.state.current

    def count(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"mgpu_hybrid_{name}", labels)


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(PLAIN)
    return path


def with_policy(path: Path) -> Process:
    return Process(path.parent, ServeSettings(policy_path=path))


def nodes_json(*nodes: Object) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(nodes)})


def names(process: Process) -> list[str]:
    inventory = process.snapshot.inventory
    assert inventory is not None
    return [each.name for each in inventory.nodes]


def addon_version(process: Process) -> str | None:
    inventory = process.snapshot.inventory
    assert inventory is not None
    return inventory.nodes[0].profile.addon_version


def test_without_files_the_built_in_policy_is_in_force_at_once(tmp_path: Path) -> None:
    process = Process(tmp_path, ServeSettings(kubernetes_version="v1.30.4-vke.3"))
    assert process.snapshot.policy.digest == "built-in"
    assert process.snapshot.cluster_version == "v1.30.4-vke.3"
    assert process.snapshot.inventory is None
    assert process.readiness.policy == ""
    assert process.readiness.nodes == ""


def test_a_policy_file_is_read_and_its_digest_is_a_metric(policy_file: Path) -> None:
    process = with_policy(policy_file)
    assert process.state.current is None
    process.reloader.tick(0.0)
    digest = process.snapshot.policy.digest
    assert digest != "built-in"
    assert process.count("policy_info", digest=digest) == 1
    assert process.readiness.policy == ""


def test_nothing_changes_while_the_file_does_not(policy_file: Path) -> None:
    process = with_policy(policy_file)
    process.reloader.tick(0.0)
    before = process.snapshot
    process.reloader.tick(1.0)
    assert process.snapshot is before


def test_a_changed_policy_takes_force_and_the_old_injection_counts_on(policy_file: Path) -> None:
    process = with_policy(policy_file)
    process.reloader.tick(0.0)
    old = process.snapshot.policy
    policy_file.write_text(OTHER_ENV)
    process.reloader.tick(10.0)
    assert process.snapshot.policy.injection.env[0].value == "other"
    assert process.snapshot.previous_injections == (old.injection,)
    assert process.count("policy_info", digest=old.digest) == 0
    process.reloader.tick(159.0)
    assert process.snapshot.mutating_policy.injection == old.injection
    process.reloader.tick(160.0)
    assert process.snapshot.mutating_policy is process.snapshot.policy
    process.reloader.tick(309.0)
    assert process.snapshot.previous_injections == (old.injection,)
    process.reloader.tick(310.0)
    assert not process.snapshot.previous_injections


def test_a_swapped_link_is_seen(tmp_path: Path) -> None:
    """As the kubelet updates a mounted ConfigMap: the file's link leads through `..data`."""
    for name, text in (("first", PLAIN), ("second", NO_NAMES)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policy.yaml").write_text(text)
    (tmp_path / "..data").symlink_to("first")
    (tmp_path / "policy.yaml").symlink_to("..data/policy.yaml")
    process = with_policy(tmp_path / "policy.yaml")
    process.reloader.tick(0.0)
    assert process.snapshot.policy.show_node_names
    (tmp_path / "..new").symlink_to("second")
    (tmp_path / "..new").rename(tmp_path / "..data")
    process.reloader.tick(1.0)
    assert not process.snapshot.policy.show_node_names


@pytest.mark.parametrize("fault", [BROKEN, "", "{"], ids=["values", "empty", "cut"])
def test_a_broken_file_keeps_the_last_good_policy_and_is_told_once(
    fault: str, policy_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    process = with_policy(policy_file)
    process.reloader.tick(0.0)
    before = process.snapshot
    policy_file.write_text(fault)
    with caplog.at_level(logging.ERROR):
        process.reloader.tick(1.0)
        process.reloader.tick(2.0)
    assert process.snapshot is before
    assert process.count("policy_reload_failures_total") == 1
    assert len(caplog.records) == 1
    assert process.readiness.missing == ("serving certificate: not loaded yet",)
    assert process.readiness.stale == ("policy: the last good one, the file has mistakes",)
    policy_file.write_text(NO_NAMES)
    process.reloader.tick(3.0)
    assert not process.snapshot.policy.show_node_names
    assert not process.readiness.stale


@pytest.mark.parametrize(
    ("instead", "reason"),
    [("nothing", "No such file or directory"), ("directory", "Is a directory")],
)
def test_a_file_that_cannot_be_read_keeps_the_last_good_policy_and_is_told_as_such(
    instead: str, reason: str, policy_file: Path
) -> None:
    process = with_policy(policy_file)
    process.reloader.tick(0.0)
    before = process.snapshot
    policy_file.unlink()
    if instead == "directory":
        policy_file.mkdir()
    process.reloader.tick(1.0)
    process.reloader.tick(2.0)
    assert process.snapshot is before
    assert process.count("policy_reload_failures_total") == 1
    told = f"policy: the last good one, {policy_file}: cannot be read: {reason}"
    assert process.readiness.stale == (told,)


def test_a_file_that_never_could_be_read_makes_unready_and_is_told_as_such(tmp_path: Path) -> None:
    process = with_policy(tmp_path / "policy.yaml")
    process.reloader.tick(0.0)
    told = f"policy: {tmp_path / 'policy.yaml'}: cannot be read: No such file or directory"
    assert process.readiness.policy == told


def test_going_back_to_the_good_text_ends_the_fault(policy_file: Path) -> None:
    process = with_policy(policy_file)
    process.reloader.tick(0.0)
    policy_file.write_text(BROKEN)
    process.reloader.tick(1.0)
    policy_file.write_text(PLAIN)
    process.reloader.tick(2.0)
    assert not process.readiness.stale


def test_all_mistakes_are_logged_at_once(
    policy_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy_file.write_text(BROKEN)
    with caplog.at_level(logging.ERROR):
        with_policy(policy_file).reloader.tick(0.0)
    (record,) = caplog.records
    mistakes = record.__dict__["fields"]["mistakes"]
    assert len(mistakes) == 2
    assert all(str(policy_file) in mistake for mistake in mistakes)


def test_a_policy_that_never_was_valid_makes_unready_until_it_is(policy_file: Path) -> None:
    policy_file.write_text(BROKEN)
    process = with_policy(policy_file)
    process.reloader.tick(0.0)
    assert process.state.current is None
    assert process.readiness.policy.startswith("policy: not valid: ")
    policy_file.write_text(PLAIN)
    process.reloader.tick(1.0)
    assert process.readiness.policy == ""
    assert process.snapshot.policy.digest


def test_nodes_are_read_and_followed(tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(nodes_json(node("a")))
    process = Process(tmp_path, ServeSettings(nodes_path=path))
    assert process.readiness.nodes == "node snapshot: not read yet"
    process.reloader.tick(0.0)
    assert process.readiness.nodes == ""
    assert names(process) == ["a"]
    before = process.snapshot
    process.reloader.tick(1.0)
    assert process.snapshot is before
    path.write_text(nodes_json(node("a"), node("b")))
    process.reloader.tick(2.0)
    assert names(process) == ["a", "b"]


@pytest.mark.parametrize(
    "fault",
    ["{", nodes_json({**node("a"), "metadata": {"labels": "x"}}), None],
    ids=["cut", "labels", "gone"],
)
def test_broken_nodes_keep_the_last_good_ones(fault: str | None, tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    path.write_text(nodes_json(node("a")))
    process = Process(tmp_path, ServeSettings(nodes_path=path))
    process.reloader.tick(0.0)
    before = process.snapshot
    if fault is None:
        path.unlink()
    else:
        path.write_text(fault)
    process.reloader.tick(1.0)
    process.reloader.tick(2.0)
    assert process.snapshot is before
    assert process.count("nodes_reload_failures_total") == 1
    assert process.readiness.nodes == ""
    (stale,) = process.readiness.stale
    assert stale.startswith(f"node snapshot: the last good one: {path}")


def test_nodes_that_never_were_readable_make_unready(tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    process = Process(tmp_path, ServeSettings(nodes_path=path))
    process.reloader.tick(0.0)
    assert process.readiness.nodes.startswith(f"node snapshot: {path}: cannot be read")
    path.write_text(nodes_json(node("a")))
    process.reloader.tick(1.0)
    assert process.readiness.nodes == ""


def test_a_new_policy_judges_the_nodes_anew_and_keeps_them_meanwhile(tmp_path: Path) -> None:
    nodes, policy = tmp_path / "nodes.json", tmp_path / "policy.yaml"
    nodes.write_text(nodes_json(node("a", annotations={"mgpu-hybrid.io/addon-version": None})))
    policy.write_text(PLAIN)
    process = Process(tmp_path, ServeSettings(nodes_path=nodes, policy_path=policy))
    process.reloader.tick(0.0)
    assert addon_version(process) is None
    policy.write_text(HEAD + "spec: {addonVersion: v0.7.0}\n")
    nodes.unlink()
    process.reloader.tick(1.0)
    assert process.snapshot.policy.addon_version == "v0.7.0"
    assert names(process) == ["a"]
    nodes.write_text(nodes_json(node("a", annotations={"mgpu-hybrid.io/addon-version": None})))
    process.reloader.tick(2.0)
    assert addon_version(process) == "v0.7.0"


def test_a_directory_of_nodes_is_followed_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(nodes_json(node("a")))
    process = Process(tmp_path, ServeSettings(nodes_path=tmp_path))
    process.reloader.tick(0.0)
    (tmp_path / "b.json").write_text(nodes_json(node("b"), {"apiVersion": "v1", "kind": "Pod"}))
    process.reloader.tick(1.0)
    assert names(process) == ["a", "b"]
