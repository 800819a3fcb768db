"""Two replicas, and the one that leads is killed in the middle of its work."""

import os
import signal
from pathlib import Path

from demo.server import RunningServer
from tests.cluster.admission.live_nodes import metric
from tests.cluster.admission.manifests import section
from tests.cluster.admission.registered_webhook import serving_live
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import read
from tests.cluster.live.conftest import PutNodes
from tests.cluster.live.fleet import Kind, labelled, written
from tests.cluster.waiting import eventually

LEADER = "mgpu_hybrid_leader"
KINDS = (
    Kind("many", 100, "true"),
    Kind("old", 40, "false", "node-image", os_image="veLinux 2.0"),
)
LEASE_SECONDS = 15
TAKEOVER_SECONDS = LEASE_SECONDS + 15
"""The lease runs out, the other asks every two seconds, and this machine may be slow."""


def test_other_replica_takes_over_and_finishes(
    control_plane: ControlPlane, module_namespace: str, tmp_path: Path, put_nodes: PutNodes
) -> None:
    arguments = ["--lease-namespace", module_namespace]
    kubeconfig = control_plane.kubeconfig
    with (
        serving_live(tmp_path / "one", kubeconfig, *arguments) as one,
        serving_live(tmp_path / "two", kubeconfig, *arguments) as two,
    ):
        eventually(lambda: metric(one, LEADER) + metric(two, LEADER) == 1, "one of them leads")
        leader, other = (one, two) if metric(one, LEADER) else (two, one)
        names = put_nodes([raw for kind in KINDS for raw in kind.nodes()])
        eventually(lambda: labelled(control_plane, names) > 50, "the leader is at work")

        os.kill(leader.pid, signal.SIGKILL)
        done = labelled(control_plane, names)
        assert done < len(names)
        assert metric(other, LEADER) == 0

        eventually(lambda: metric(other, LEADER) == 1, "lead", limit_seconds=TAKEOVER_SECONDS)
        expected = {
            f"{kind.name}-{number}": (kind.label, kind.because)
            for kind in KINDS
            for number in range(kind.count)
        }
        eventually(lambda: written(control_plane) == expected, "all labels", limit_seconds=60)
        assert held_by(control_plane, module_namespace, other)
        assert metric(other, "mgpu_hybrid_eligibility_writes_total") == len(names) - done


def held_by(plane: ControlPlane, namespace: str, server: RunningServer) -> bool:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/mgpu-hybrid-controller"
    return f"_{server.pid}_" in str(section(read(plane, path), "spec")["holderIdentity"])
