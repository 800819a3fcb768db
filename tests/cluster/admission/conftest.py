"""One webhook with the built-in policy for all modules; each that uses it registers it anew.

A module takes `in_cluster`, or starts and registers a webhook of its own.
"""

from collections.abc import Iterator

import pytest

from demo.server import RunningServer
from tests.cluster.admission.registered_webhook import registered, serving
from tests.cluster.kubectl import Kubectl


@pytest.fixture(scope="package")
def default_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The webhook with the built-in policy and the nodes of the demo; nobody calls it yet."""
    with serving(tmp_path_factory.mktemp("webhook") / "tls") as server:
        yield server


@pytest.fixture(scope="module")
def module_kubectl(kubectl: Kubectl, namespace_numbers: Iterator[int]) -> Kubectl:
    """kubectl in a new namespace that the tests of a module share."""
    name = f"admission-{next(namespace_numbers)}"
    kubectl.succeed("create", "namespace", name)
    return kubectl.in_namespace(name)


@pytest.fixture(scope="module")
def in_cluster(module_kubectl: Kubectl, default_server: RunningServer) -> Iterator[Kubectl]:
    """kubectl in the module's namespace, while the API server calls the default webhook."""
    with registered(module_kubectl, default_server):
        yield module_kubectl
