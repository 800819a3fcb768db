"""`serve --kubeconfig` against a real API server: verdicts follow what kubectl does to nodes."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from demo.server import RunningServer, running_server
from tests.builders import Object, bare_offline_pod, node
from tests.cluster.conftest import CreateNode
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.waiting import eventually

POOL = "live-nodes"
COMPUTE_POLICY = "vke.volcengine.com/mgpu-compute-policy"
STALE_SECONDS = 2


@pytest.fixture(scope="module")
def server(
    control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    arguments = ["--kubeconfig", str(control_plane.kubeconfig)]
    arguments += ["--nodes-stale-after", str(STALE_SECONDS)]
    folder = tmp_path_factory.mktemp("live-nodes") / "tls"
    with running_server(folder, arguments) as running:
        eventually(lambda: readyz(running).status_code == 200, "the nodes are synced")
        yield running


def readyz(server: RunningServer) -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{server.health_port}/readyz", timeout=30)


def metric(server: RunningServer, name: str) -> float:
    text = httpx.get(f"http://127.0.0.1:{server.health_port}/metrics", timeout=30).text
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


def a_node(name: str = "live-1", **labels: str) -> Object:
    return node(name, labels={"pool": POOL, **labels})


def rules_that_speak(server: RunningServer) -> set[str]:
    """The ids of the node rules that refuse or warn of an offline pod of the pool."""
    admission = server.client.create(bare_offline_pod(nodeSelector={"pool": POOL}))
    said = " ".join([admission.message, *admission.warnings])
    ids = ("node-match", "node-compute-policy", "node-image", "node-driver-version")
    return {rule for rule in ids if f"[{rule}]" in said}


def follows(server: RunningServer, rules: set[str], what: str) -> None:
    eventually(lambda: rules_that_speak(server) == rules, what)


def test_without_a_node_the_pod_matches_none(server: RunningServer) -> None:
    assert rules_that_speak(server) == {"node-match"}


def test_verdicts_follow_the_node(
    server: RunningServer, kubectl: Kubectl, add_node: CreateNode
) -> None:
    name = add_node(a_node())
    follows(server, set(), "a good node is there")

    kubectl.succeed("label", "node", name, f"{COMPUTE_POLICY}=native-burst-share", "--overwrite")
    follows(server, {"node-compute-policy"}, "the node has another compute policy")

    kubectl.succeed(
        "annotate", "node", name, "mgpu-hybrid.io/driver-version=0.07.1.1", "--overwrite"
    )
    follows(server, {"node-compute-policy", "node-driver-version"}, "and an old driver")

    kubectl.succeed("taint", "node", name, "team=ads:NoSchedule")
    follows(server, {"node-match"}, "the taint excludes the node")

    kubectl.succeed("taint", "node", name, "team-")
    follows(server, {"node-compute-policy", "node-driver-version"}, "the taint is gone")

    kubectl.succeed("delete", "node", name)
    follows(server, {"node-match"}, "the node is gone")


def test_an_api_server_that_hangs_and_comes_back(
    server: RunningServer, control_plane: ControlPlane, kubectl: Kubectl, add_node: CreateNode
) -> None:
    name = add_node(a_node("live-2", **{COMPUTE_POLICY: "native-burst-share"}))
    follows(server, {"node-compute-policy"}, "the node is there")
    api_server = control_plane.pids[1]
    os.kill(api_server, signal.SIGSTOP)
    try:
        eventually(lambda: "old, the last one counts on" in readyz(server).text, "stale is told")
        assert readyz(server).status_code == 200
        assert metric(server, "mgpu_hybrid_node_snapshot_age_seconds") > STALE_SECONDS
        assert rules_that_speak(server) == {"node-compute-policy"}
    finally:
        os.kill(api_server, signal.SIGCONT)
    kubectl.succeed("label", "node", name, f"{COMPUTE_POLICY}=fixed-share", "--overwrite")
    follows(server, set(), "the node is followed again")
    eventually(lambda: readyz(server).text == "ok\n", "nothing is stale any more")


def test_two_workers_watch_each_for_itself(
    control_plane: ControlPlane, add_node: CreateNode, tmp_path: Path
) -> None:
    add_node(a_node("live-3", **{COMPUTE_POLICY: "native-burst-share"}))
    arguments = ["--kubeconfig", str(control_plane.kubeconfig), "--workers", "2"]
    with running_server(tmp_path / "tls", arguments) as running:
        eventually(lambda: metric(running, "mgpu_hybrid_nodes") == 1, "the workers are synced")
        for _ in range(10):
            follows(running, {"node-compute-policy"}, "both workers know the node")
