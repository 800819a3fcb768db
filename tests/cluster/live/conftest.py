"""A control plane for these tests alone: they fill it with nodes, schedule every pod and stop it.

`control_plane` and `kubectl` replace the session's; whatever else a test takes is built on these.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import pytest

from tests.builders import Object
from tests.cluster.admission.manifests import section
from tests.cluster.binaries import ClusterBinaries
from tests.cluster.control_plane import ControlPlane, running_control_plane
from tests.cluster.kubectl import Kubectl
from tests.cluster.live.fleet import add_nodes, remove_nodes
from tests.cluster.processes import ServerProcess
from tests.cluster.scheduler import running_scheduler
from tests.cluster.tally import NO_SCHEDULER_BECAUSE

StartScheduler = Callable[[], AbstractContextManager[ServerProcess]]
PutNodes = Callable[[Iterable[Object]], list[str]]


@pytest.fixture(scope="package")
def control_plane(
    cluster_binaries: ClusterBinaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """etcd and kube-apiserver for this folder."""
    with running_control_plane(cluster_binaries, tmp_path_factory.mktemp("live")) as running:
        yield running


@pytest.fixture(scope="package")
def kubectl(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl as the administrator of that control plane."""
    return Kubectl(
        binary=control_plane.binaries.kubectl,
        kubeconfig=control_plane.kubeconfig,
        home=tmp_path_factory.mktemp("live-kubectl-home"),
    )


@pytest.fixture(scope="module")
def module_namespace(kubectl: Kubectl, namespace_numbers: Iterator[int]) -> str:
    """The name of a new namespace that the tests of a module share."""
    name = f"live-{next(namespace_numbers)}"
    kubectl.succeed("create", "namespace", name)
    return name


@pytest.fixture
def put_nodes(control_plane: ControlPlane) -> Iterator[PutNodes]:
    """A function that creates Nodes as `add_nodes` does; all are deleted after the test."""
    names: list[str] = []

    def put(nodes: Iterable[Object]) -> list[str]:
        nodes = list(nodes)
        names.extend(str(section(raw, "metadata")["name"]) for raw in nodes)
        return add_nodes(control_plane, nodes)

    yield put
    remove_nodes(control_plane, names)


@pytest.fixture(scope="module")
def start_scheduler(
    control_plane: ControlPlane,
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
) -> StartScheduler:
    """A function that starts a kube-scheduler for a `with` block; without a binary the test is skipped."""
    if control_plane.binaries.kube_scheduler is None:
        because = f"{control_plane.binaries.source} has no kube-scheduler"
        pytestconfig.stash[NO_SCHEDULER_BECAUSE] = because
        pytest.skip(because)
    return partial(running_scheduler, control_plane, tmp_path_factory.mktemp("scheduler"))
