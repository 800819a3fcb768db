"""Switches of a node's mode by kubectl, while the webhook asks the real API server which pods are there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from demo.server import RunningServer
from tests.builders import COMPUTE_POLICY, GPU_SCHEDULE
from tests.cluster.admission.live_nodes import (
    CALLS,
    REMEDY,
    drop_pod,
    gpu_node,
    label,
    metric,
    put_pod,
    set_phase,
)
from tests.cluster.admission.messages import refused, warnings
from tests.cluster.admission.registered_webhook import registered, serving_live
from tests.cluster.conftest import CreateNode
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Kubectl

OPERATOR = ("--as=node-operator", "--as-group=system:masters")
POLICY = """
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  modeSwitch: {users: [node-operator]}
"""


@dataclass(frozen=True, slots=True)
class Live:
    """kubectl in the module's namespace, and the webhook that the API server calls."""

    kubectl: Kubectl
    server: RunningServer


@pytest.fixture(scope="module")
def live(
    control_plane: ControlPlane, module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live") / "tls"
    with (
        serving_live(folder, control_plane.kubeconfig, policy_text=POLICY) as server,
        registered(module_kubectl, server, policy_text=POLICY),
    ):
        yield Live(module_kubectl, server)


@pytest.fixture
def held(live: Live, add_node: CreateNode) -> Iterator[str]:
    """An mGPU node with a pod that runs there."""
    name = add_node(gpu_node("held"))
    put_pod(live.kubectl, "server", name)
    yield name
    drop_pod(live.kubectl, "server")


def finding(live: Live, what: str, before: str, after: str) -> str:
    return (
        f"[node-mode-switch] {what} of node held is switched from {before} to {after} while 1 unfinished pod "
        f"holds its GPUs ({live.kubectl.namespace}/server); {REMEDY}"
    )


@pytest.mark.parametrize(
    ("change", "what", "before", "after"),
    [
        pytest.param(f"{GPU_SCHEDULE}=nvidia", "scheduling mode", "mgpu", "nvidia", id="overwrite"),
        pytest.param(f"{GPU_SCHEDULE}-", "scheduling mode", "mgpu", "nvidia", id="remove"),
        pytest.param(
            f"{COMPUTE_POLICY}=fixed-share",
            "compute policy",
            "guaranteed-burst-share",
            "fixed-share",
            id="compute-policy",
        ),
    ],
)
def test_switch_waits_for_the_pod_to_finish(
    live: Live, held: str, change: str, what: str, before: str, after: str
) -> None:
    done = label(live.kubectl, held, change)

    assert (done.code, done.out) == (1, "")
    assert done.err == refused("node-changes", finding(live, what, before, after), doing="")

    set_phase(live.kubectl, "server", "Succeeded")
    done = label(live.kubectl, held, change)
    assert (done.code, done.err) == (0, "")


def test_switch_through_the_status_is_refused(live: Live, held: str) -> None:
    patch = json.dumps({"metadata": {"labels": {GPU_SCHEDULE: "nvidia"}}})
    done = live.kubectl(
        "patch", "node", held, "--subresource=status", "--type=merge", f"-p={patch}"
    )

    assert done.code == 1
    assert finding(live, "scheduling mode", "mgpu", "nvidia") in done.err


@pytest.mark.parametrize("change", [f"{GPU_SCHEDULE}=nvidia", f"{GPU_SCHEDULE}-"])
def test_user_of_the_policy_may_switch_anyway(live: Live, held: str, change: str) -> None:
    done = live.kubectl("label", "node", held, "--overwrite", change, *OPERATOR)

    assert (done.code, done.err) == (0, "")


def test_other_user_may_not(live: Live, held: str) -> None:
    somebody = ("--as=somebody", "--as-group=system:masters")
    done = live.kubectl("label", "node", held, "--overwrite", f"{GPU_SCHEDULE}=nvidia", *somebody)

    assert done.code == 1


def test_unknown_mode_of_an_empty_node_is_warned_of(live: Live, add_node: CreateNode) -> None:
    done = label(live.kubectl, add_node(gpu_node("empty")), f"{GPU_SCHEDULE}=MGPU")

    assert done.code == 0
    assert " ".join(warnings(done.err)).startswith(
        '[node-mode-value] label vke.node.gpu.schedule of node empty is "MGPU", which is no scheduling mode'
    )


def test_what_is_no_switch_makes_no_call(live: Live, held: str, add_node: CreateNode) -> None:
    kubectl, plain = live.kubectl, add_node(gpu_node("plain", mode=None))
    before = metric(live.server, CALLS)
    ready = [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]
    heartbeat = json.dumps({"status": {"conditions": ready}})

    label(kubectl, plain, f"{GPU_SCHEDULE}=nvidia")
    label(kubectl, plain, f"{COMPUTE_POLICY}=native-burst-share")
    label(kubectl, plain, f"{GPU_SCHEDULE}-")
    for name in (held, plain):
        kubectl.succeed(
            "patch", "node", name, "--subresource=status", "--type=merge", f"-p={heartbeat}"
        )
        kubectl.succeed("taint", "node", name, "example.com/x=y:NoSchedule")
        kubectl.succeed("cordon", name)
        kubectl.succeed("uncordon", name)
        kubectl.succeed("label", "node", name, "team=x")
        kubectl.succeed("annotate", "node", name, "example.com/note=x")
    assert metric(live.server, CALLS) == before

    # The same gauge does move for a switch.
    label(kubectl, plain, f"{GPU_SCHEDULE}=mgpu")
    assert metric(live.server, CALLS) == before + 1


def test_node_under_work_can_be_deleted(live: Live, held: str) -> None:
    live.kubectl.succeed("delete", "node", held)

    assert live.kubectl("get", "node", held).code == 1


UNKNOWN = """
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  modeSwitch: {{unknownPods: {action}}}
"""


@pytest.mark.parametrize(("action", "allowed"), [("Deny", False), ("Warn", True)])
def test_api_server_that_the_webhook_cannot_reach(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    add_node: CreateNode,
    tmp_path: Path,
    action: str,
    *,
    allowed: bool,
) -> None:
    name = add_node(gpu_node(f"unreachable-{action.lower()}"))
    wrong = tmp_path / "wrong.kubeconfig"
    text = control_plane.kubeconfig.read_text()
    wrong.write_text(text.replace(control_plane.url, "https://127.0.0.1:1"))
    policy = UNKNOWN.format(action=action)
    with (
        serving_live(tmp_path / "tls", wrong, policy_text=policy) as server,
        registered(kubectl, server, policy_text=policy),
    ):
        done = label(kubectl, name, f"{GPU_SCHEDULE}=nvidia")

    told = " ".join(w.replace("[node-mode-switch] … ", "") for w in warnings(done.err))
    assert (done.code == 0) is allowed
    assert (
        f"scheduling mode of node {name} is switched from mgpu to nvidia while it is not known whether pods "
        "hold its GPUs: GET /api/v1/pods: the connection failed; check the address, the network and that the "
        "server runs"
    ) in (told if allowed else done.err)
