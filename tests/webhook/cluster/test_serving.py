"""The whole server with a watch: what it says while the API server is away, and whose version counts."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.builders import node, offline_pod
from tests.cluster.waiting import eventually
from tests.webhook.cluster.standin import ApiStandIn
from tests.webhook.reviews import body, response
from tests.webhook.running import RunningServer, trusting
from webhook import server
from webhook.settings import ServeSettings

NATIVE_BURST = {"vke.volcengine.com/mgpu-compute-policy": "native-burst-share"}
START = Callable[..., RunningServer]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[START]:
    """A function that starts a server with these settings; it is ended after the test."""
    started: list[RunningServer] = []

    def begin(**settings: object) -> RunningServer:
        started.append(RunningServer(self_signed_dir=tmp_path / "tls", **settings))
        assert started[-1].urls
        return started[-1]

    yield begin
    for running in started:
        running.__exit__(None, None, None)


def message(running: RunningServer, folder: Path) -> str:
    """What an offline pod is refused with, "" when it is allowed."""
    answer = running.post("validate", body(offline_pod()), trusting(folder / "tls"))
    status = response(answer.content).get("status")
    return str(status)


def test_unready_until_the_first_list_then_ready_whatever_happens(
    standin: ApiStandIn, start: START, tmp_path: Path
) -> None:
    kubeconfig = standin.kubeconfig(tmp_path)
    standin.put(node("a", labels=NATIVE_BURST))
    standin.go_away()
    running = start(kubeconfig=kubeconfig, nodes_stale_after_seconds=1.0)

    def ready_text() -> str:
        return running.get("/readyz").text

    eventually(lambda: "node snapshot: not synced yet: GET /version" in ready_text(), "the reason")
    assert running.get("/readyz").status_code == 503
    assert "node-compute-policy" not in message(running, tmp_path)

    standin.come_back()
    eventually(lambda: running.get("/readyz").status_code == 200, "the first list")
    assert "node-compute-policy" in message(running, tmp_path)

    standin.go_away()
    eventually(lambda: "old, the last one counts on: " in ready_text(), "stale is told")
    assert running.get("/readyz").status_code == 200
    assert "node-compute-policy" in message(running, tmp_path)

    standin.remove("a")
    standin.come_back()
    eventually(lambda: "node-compute-policy" not in message(running, tmp_path), "the node is gone")
    assert running.stop() == 0


def test_the_servers_version_counts_and_is_asked_again(
    standin: ApiStandIn, start: START, tmp_path: Path
) -> None:
    standin.version = "v1.28.15-vke.18"
    running = start(kubeconfig=standin.kubeconfig(tmp_path))
    eventually(lambda: "v1.28.15-vke.18" in message(running, tmp_path), "too old a version refuses")
    standin.version = "v1.30.4-vke.3"
    standin.bookmark()
    standin.end_watches()
    eventually(lambda: "cluster-version" not in message(running, tmp_path), "the upgrade is seen")


def test_a_version_that_is_given_goes_before(
    standin: ApiStandIn, start: START, tmp_path: Path
) -> None:
    standin.version = "v1.28.15-vke.18"
    running = start(kubeconfig=standin.kubeconfig(tmp_path), kubernetes_version="v1.30.4-vke.3")
    eventually(lambda: running.get("/readyz").status_code == 200, "the first list")
    assert "cluster-version" not in message(running, tmp_path)


def test_a_kubeconfig_that_cannot_be_used_is_told(start: START, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("users: [{user: {token: very-secret")
    running = start(kubeconfig=kubeconfig)
    reason = f"{kubeconfig}, line 1: is not YAML"
    eventually(lambda: reason in running.get("/readyz").text, "the reason")
    assert running.get("/readyz").status_code == 503
    assert "very-secret" not in "".join(running.lines)


@pytest.mark.parametrize(
    ("settings", "mistake"),
    [
        pytest.param({"nodes_path": Path("a")}, "", id="a file alone"),
        pytest.param({"kubeconfig": Path("b")}, "", id="a kubeconfig alone"),
        pytest.param(
            {"nodes_path": Path("a"), "kubeconfig": Path("b")}, "only one", id="file and kubeconfig"
        ),
        pytest.param(
            {"kubeconfig": Path("b"), "in_cluster": True},
            "only one",
            id="kubeconfig and in-cluster",
        ),
        pytest.param(
            {"in_cluster": True, "nodes_stale_after_seconds": 0.0}, "0 seconds", id="stale at once"
        ),
    ],
)
def test_settings_that_exclude_each_other(
    settings: dict[str, object], mistake: str, tmp_path: Path
) -> None:
    given = ServeSettings(self_signed_dir=tmp_path, **settings)  # type: ignore[arg-type]
    found = server._mistake(given)
    assert mistake in found
    assert bool(found) is bool(mistake)
