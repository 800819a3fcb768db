"""One API server for the whole session, a new namespace for each test.

A test that needs the API server takes it (`control_plane`, `kubectl`, …) and is thereby marked
`cluster`. The binaries are found, or built, right after collection: a build inside a test would
count against that test's time limit.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.cluster.binaries import BinariesUnavailableError, ClusterBinaries, find_binaries
from tests.cluster.control_plane import ControlPlane, running_control_plane
from tests.cluster.kubectl import Kubectl
from tests.cluster.nodes import create_node, node_name
from tests.cluster.tally import UNAVAILABLE_BECAUSE

BINARIES = pytest.StashKey[ClusterBinaries]()
HERE = Path(__file__).parent

CreateNode = Callable[[Mapping[str, object]], str]


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the API server."""
    for item in items:
        if HERE in item.path.parents and "cluster_binaries" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.cluster)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Find or build the binaries, with the progress on the terminal."""
    wanted = any(item.get_closest_marker("cluster") for item in session.items)
    if not wanted or session.config.option.collectonly:
        return
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    try:
        binaries = find_binaries(os.environ, reporter.write_line)
    except BinariesUnavailableError as error:
        session.config.stash[UNAVAILABLE_BECAUSE] = str(error)
    else:
        session.config.stash[BINARIES] = binaries


@pytest.fixture(scope="session")
def cluster_binaries(pytestconfig: pytest.Config) -> ClusterBinaries:
    """The binaries of this run; without any, every test that needs them is skipped."""
    if BINARIES not in pytestconfig.stash:
        pytest.skip(f"no cluster binaries: {pytestconfig.stash[UNAVAILABLE_BECAUSE]}")
    return pytestconfig.stash[BINARIES]


@pytest.fixture(scope="session")
def control_plane(
    cluster_binaries: ClusterBinaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """The session's etcd and kube-apiserver."""
    with running_control_plane(cluster_binaries, tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl as a cluster administrator, in the namespace `default` unless told otherwise."""
    return Kubectl(
        binary=control_plane.binaries.kubectl,
        kubeconfig=control_plane.kubeconfig,
        home=tmp_path_factory.mktemp("kubectl-home"),
    )


@pytest.fixture(scope="session")
def namespace_numbers() -> Iterator[int]:
    """Numbers for namespaces, which stay until the API server ends."""
    return itertools.count(1)


@pytest.fixture
def namespace(kubectl: Kubectl, namespace_numbers: Iterator[int]) -> str:
    """The name of a new, empty namespace."""
    name = f"test-{next(namespace_numbers)}"
    kubectl.succeed("create", "namespace", name)
    return name


@pytest.fixture
def add_node(kubectl: Kubectl) -> Iterator[CreateNode]:
    """A function that creates a Node (see `create_node`); all are deleted after the test."""
    names: list[str] = []

    def add(node: Mapping[str, object]) -> str:
        names.append(node_name(node))
        create_node(kubectl, node)
        return names[-1]

    yield add
    if names:
        kubectl.succeed("delete", "node", "--ignore-not-found", *names)
