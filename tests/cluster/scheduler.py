"""The real kube-scheduler, as the user of that name; nothing here works around what it decides."""

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import yaml

from tests.cluster.control_plane import (
    HOST,
    ControlPlane,
    answers_ok,
    client_context,
    free_ports,
    running,
    write_kubeconfig,
)
from tests.cluster.processes import ServerProcess

LIMIT_SECONDS = 60
USER = "system:kube-scheduler"
BINDS_PER_SECOND = 200
"""Above the scheduler's own limit of 50, which would be most of the time that a test takes."""


@contextlib.contextmanager
def running_scheduler(plane: ControlPlane, folder: Path) -> Iterator[ServerProcess]:
    """A scheduler that is in step with the API server; its files and its log are in `folder`.

    The binaries must have one. Raises StartFailedError, with the end of the log, when it does not start.
    """
    assert plane.binaries.kube_scheduler is not None
    client = plane.authority.issue_client(USER)
    serving = plane.authority.issue_serving("kube-scheduler")
    kubeconfig = write_kubeconfig(
        folder / "kube-scheduler.kubeconfig", plane.url, plane.authority, client
    )
    (port,) = free_ports(1)
    arguments = [
        str(plane.binaries.kube_scheduler),
        f"--config={_configuration(folder, kubeconfig)}",
        f"--bind-address={HOST}",
        f"--secure-port={port}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
    ]
    is_ready = partial(answers_ok, port, client_context(plane.authority, client), "/readyz")
    with running("kube-scheduler", arguments, folder) as scheduler:
        scheduler.wait_until(is_ready, limit_seconds=LIMIT_SECONDS)
        yield scheduler


def _configuration(folder: Path, kubeconfig: Path) -> Path:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(kubeconfig),
            "qps": BINDS_PER_SECOND,
            "burst": BINDS_PER_SECOND,
        },
    }
    path = folder / "kube-scheduler.yaml"
    path.write_text(yaml.safe_dump(document))
    return path
