"""The hollow kubelet of kubemark: the kubelet's own code, over a container runtime that only pretends.

What it admits and refuses is what a kubelet does; nothing runs.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.control_plane import ControlPlane, free_ports, running, write_kubeconfig
from tests.cluster.direct import read
from tests.cluster.processes import ServerProcess

LIMIT_SECONDS = 60
CARDS = "vke.volcengine.com/reclaimed-mgpu-core=800,vke.volcengine.com/mgpu-memory=196608"


@contextlib.contextmanager
def running_kubelet(plane: ControlPlane, node_name: str, folder: Path) -> Iterator[ServerProcess]:
    """A kubelet that has registered its Node and is ready, with GPU capacity to give.

    The binaries must have one. Raises StartFailedError, with the end of the log, when it does not start.
    """
    assert plane.binaries.kubemark is not None
    client = plane.authority.issue_client(f"system:node:{node_name}", ["system:nodes"])
    kubeconfig = write_kubeconfig(folder / "kubelet.kubeconfig", plane.url, plane.authority, client)
    (port,) = free_ports(1)
    arguments = [
        str(plane.binaries.kubemark),
        "--morph=kubelet",
        f"--name={node_name}",
        f"--kubeconfig={kubeconfig}",
        "--use-host-image-service=false",
        f"--kubelet-port={port}",
        "--kubelet-read-only-port=0",
        f"--extended-resources={CARDS}",
    ]
    with running("kubelet", arguments, folder) as kubelet:
        kubelet.wait_until(lambda: _is_ready(plane, node_name), limit_seconds=LIMIT_SECONDS)
        yield kubelet


def _is_ready(plane: ControlPlane, node_name: str) -> bool:
    nodes = read(plane, f"/api/v1/nodes?fieldSelector=metadata.name={node_name}")["items"]
    assert isinstance(nodes, list)
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for node in nodes
        for condition in node["status"].get("conditions", [])
    )
