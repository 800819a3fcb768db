"""Nodes that change as fast as the real API server takes it, and pods over HTTPS meanwhile.

One machine runs etcd, the API server, the webhook and both loads, so the rate says more of the machine than
of the webhook: it is stated, and asserted is only that no answer is wrong and the last state counts.
"""

import logging
import threading
import time
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.builders import COMPUTE_POLICY, Object, bare_offline_pod
from tests.cluster.admission.live_nodes import metric
from tests.cluster.admission.registered_webhook import serving_live
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import MERGE_PATCH, Request, send_all
from tests.cluster.live.conftest import PutNodes
from tests.cluster.live.served import is_ready
from tests.cluster.live.test_scale import GOOD, NATIVE, admit, busy, calls_for, steady
from tests.cluster.waiting import eventually

logger = logging.getLogger(__name__)

BUSY_NODES = 200
STEADY_NODES = 40
PODS = 500


def labelled(number: int, compute_policy: str) -> Request:
    """The patch of a busy node's compute policy."""
    body: Object = {"metadata": {"labels": {COMPUTE_POLICY: compute_policy}}}
    return Request("PATCH", f"/api/v1/nodes/busy-{number}", body, MERGE_PATCH)


class Patches:
    """A thread that patches the busy nodes in turn as fast as the server answers."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.made = 0
        self.refused = 0

    def __enter__(self) -> "Patches":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        policy = NATIVE
        while not self._stop.is_set():
            replies = send_all(self._plane, [labelled(n, policy) for n in range(BUSY_NODES)])
            self.made += len(replies)
            self.refused += sum(reply.code != HTTPStatus.OK for reply in replies)
            policy = GOOD if policy == NATIVE else NATIVE


@pytest.mark.parametrize(
    "least_seconds",
    [
        pytest.param(3, id="seconds"),
        pytest.param(60, id="a minute", marks=pytest.mark.soak),
    ],
)
def test_pods_are_judged_right_while_the_real_server_changes_nodes(
    control_plane: ControlPlane, put_nodes: PutNodes, tmp_path: Path, least_seconds: int
) -> None:
    nodes = [busy(number, GOOD, 0) for number in range(BUSY_NODES)]
    for number in range(STEADY_NODES):
        nodes += [steady(number, "good", GOOD), steady(number, "bad", NATIVE)]
    put_nodes(nodes)
    kubeconfig = control_plane.kubeconfig
    with serving_live(tmp_path / "tls", kubeconfig, "--no-controller") as server:
        eventually(lambda: is_ready(server), "the nodes are listed")
        calls = [
            *calls_for(server, "good", is_allowed=True),
            *calls_for(server, "bad", is_allowed=False),
        ]
        began, calls_made = time.monotonic(), 0
        with Patches(control_plane) as patches:
            while time.monotonic() - began < least_seconds:
                calls_made += len(admit(server, calls, PODS))
            seconds = time.monotonic() - began
        assert patches.refused == 0

        send_all(control_plane, [labelled(number, NATIVE) for number in range(BUSY_NODES)])
        wanted = f"{BUSY_NODES} of {BUSY_NODES} possible nodes (nodeSelector pool=busy)"
        last = bare_offline_pod(nodeSelector={"pool": "busy"})
        eventually(lambda: wanted in server.client.create(last).message, "the last state counts")
        assert metric(server, "mgpu_hybrid_rule_errors_total") == 0
        assert is_ready(server)
    logger.info(
        "%.0f node patches a second and %.0f admission calls a second, for %.0f s",
        patches.made / seconds,
        calls_made / seconds,
        seconds,
    )
