"""The webhook is gone while it stays registered: nodes live on, only a switch of their mode is refused."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.builders import COMPUTE_POLICY, GPU_SCHEDULE
from tests.cluster.admission.live_nodes import gpu_node, label
from tests.cluster.admission.registered_webhook import registered_unwatched, serving
from tests.cluster.kubectl import Kubectl
from tests.cluster.nodes import create_node

NAME = "left-alone"


@pytest.fixture(scope="module")
def outage(module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """kubectl while the webhook is gone, with a node."""
    folder = tmp_path_factory.mktemp("node-away") / "tls"
    create_node(module_kubectl, gpu_node(NAME))
    with ExitStack() as registration:
        with serving(folder) as server:
            registration.enter_context(registered_unwatched(module_kubectl, server))
        yield module_kubectl
        module_kubectl.succeed("delete", "node", NAME)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(f"{GPU_SCHEDULE}=nvidia", id="overwrite"),
        pytest.param(f"{GPU_SCHEDULE}-", id="remove"),
        pytest.param(f"{COMPUTE_POLICY}=fixed-share", id="compute-policy"),
    ],
)
def test_switch_is_refused_for_our_absence(outage: Kubectl, change: str) -> None:
    done = label(outage, NAME, change)

    assert done.code == 1
    assert 'failed calling webhook "node-changes.mgpu-hybrid.io"' in done.err
    assert "connection refused" in done.err


READY = [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]
HEARTBEAT = json.dumps({"status": {"conditions": READY}})
TAINT = json.dumps({"spec": {"taints": [{"key": "node.kubernetes.io/x", "effect": "NoExecute"}]}})


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(
            ("patch", "node", NAME, "--subresource=status", "--type=merge", f"-p={HEARTBEAT}"),
            id="heartbeat",
        ),
        pytest.param(("patch", "node", NAME, "--type=merge", f"-p={TAINT}"), id="taint"),
        pytest.param(("cordon", NAME), id="cordon"),
        pytest.param(("label", "node", NAME, "team=x"), id="label"),
        pytest.param(("label", "node", NAME, f"{GPU_SCHEDULE}=mgpu"), id="same-mode"),
        pytest.param(("annotate", "node", NAME, "example.com/note=x"), id="annotation"),
    ],
)
def test_all_else_goes_on(outage: Kubectl, arguments: tuple[str, ...]) -> None:
    done = outage(*arguments)

    assert (done.code, done.err) == (0, "")
