"""The API server goes away for half a minute and comes back: webhook and controller go on."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest

from demo.server import RunningServer
from tests.builders import COMPUTE_POLICY, bare_offline_pod
from tests.cluster.admission.live_nodes import label, metric
from tests.cluster.admission.registered_webhook import serving_live
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.live.conftest import PutNodes
from tests.cluster.live.fleet import Kind, remove_nodes, wait_for_labels, written
from tests.cluster.live.served import is_ready, readyz, rules_against
from tests.cluster.waiting import eventually, throughout

OUTAGE_SECONDS = 30
STALE_SECONDS = 5
RECOVERY_SECONDS = 60
"""The longest pause between two tries is 30 s."""
POD = bare_offline_pod(nodeSelector={"pool": "away"})
AGE = "mgpu_hybrid_node_snapshot_age_seconds"


@pytest.fixture
def server(
    control_plane: ControlPlane, module_namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    arguments = ["--nodes-stale-after", str(STALE_SECONDS), "--lease-namespace", module_namespace]
    folder = tmp_path_factory.mktemp("outage") / "tls"
    with serving_live(folder, control_plane.kubeconfig, *arguments) as running:
        yield running


def test_webhook_without_an_api_server(
    server: RunningServer, control_plane: ControlPlane, kubectl: Kubectl, put_nodes: PutNodes
) -> None:
    kind = Kind("away", 2, "false", labels={COMPUTE_POLICY: "native-burst-share"})
    first, second = put_nodes(kind.nodes())
    wait_for_labels(control_plane, [first, second])
    eventually(lambda: rules_against(server, POD) == {"node-compute-policy"}, "both are known")
    assert is_ready(server)

    with control_plane.api_server_away():
        throughout(
            lambda: (
                rules_against(server, POD) == {"node-compute-policy"}
                and readyz(server).status_code == HTTPStatus.OK
            ),
            "the last nodes count, and it is ready",
            seconds=OUTAGE_SECONDS,
        )
        assert "old, the last one counts on: GET /version: the connection failed" in (
            readyz(server).text
        )
        assert metric(server, AGE) >= OUTAGE_SECONDS - STALE_SECONDS

    label(kubectl, first, f"{COMPUTE_POLICY}=fixed-share")
    remove_nodes(control_plane, [second])
    eventually(
        lambda: rules_against(server, POD) == set(), "it knows", limit_seconds=RECOVERY_SECONDS
    )
    eventually(lambda: is_ready(server), "nothing is stale")
    eventually(
        lambda: written(control_plane) == {first: ("true", None)},
        "the controller writes again",
        limit_seconds=RECOVERY_SECONDS,
    )
    assert metric(server, "mgpu_hybrid_nodes") == 1
    assert metric(server, AGE) < STALE_SECONDS
