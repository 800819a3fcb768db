"""A user with the controller's rights and no others, and servers that lead with them."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from policies.eligibility import BECAUSE_ANNOTATION
from policies.policy import ELIGIBLE_LABEL
from tests.cluster.control_plane import ControlPlane, write_kubeconfig
from tests.cluster.kubectl import Kubectl
from tests.cluster.waiting import eventually
from tests.webhook.running import RunningServer
from webhook.controller.controller import LEASE_NAME
from webhook.controller.plan import OnNode

USER = "mgpu-hybrid-controller"
RULES = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch", "patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": ["get", "create", "update"],
    },
]
"""All that the node watch and the controller ask."""
HANDOVER_SECONDS = 60.0
"""Far above the 15 s for which a lease counts after its holder died."""


@pytest.fixture(scope="module")
def kubeconfig(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Leads to the API server as a user with RULES."""
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": USER},
        "rules": RULES,
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": USER},
        "subjects": [{"kind": "User", "name": USER, "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": USER},
    }
    both = {"apiVersion": "v1", "kind": "List", "items": [role, binding]}
    kubectl.succeed("apply", "-f", "-", stdin=json.dumps(both))
    return write_kubeconfig(
        tmp_path_factory.mktemp("controller") / "kubeconfig",
        control_plane.url,
        control_plane.authority,
        control_plane.authority.issue_client(USER),
    )


@dataclass
class Cluster:
    """The nodes as they are, and the servers that label them."""

    kubectl: Kubectl
    namespace: str
    start: Callable[[], RunningServer]
    policy: Path
    """The file from which servers read their policy."""

    def on(self, name: str) -> OnNode:
        """What is on a node."""
        metadata = self.kubectl.read("get", "node", name)["metadata"]
        assert isinstance(metadata, dict)
        labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
        return OnNode(labels.get(ELIGIBLE_LABEL), annotations.get(BECAUSE_ANNOTATION))

    def version(self, name: str) -> str:
        """A node's resourceVersion."""
        return self.kubectl.succeed(
            "get", "node", name, "-o", "jsonpath={.metadata.resourceVersion}"
        ).out

    def becomes(self, name: str, label: str | None, because: str | None = None) -> None:
        """Wait until this is on a node."""
        wanted = OnNode(label, because)
        eventually(lambda: self.on(name) == wanted, f"{name} is {wanted}", limit_seconds=60)

    def holder(self) -> str:
        """Who leads, by the Lease; empty for nobody."""
        path = "jsonpath={.spec.holderIdentity}"
        return self.kubectl.in_namespace(self.namespace)("get", "lease", LEASE_NAME, "-o", path).out

    def leads(self, server: RunningServer) -> bool:
        """Whether this server's process is the one that leads."""
        return f"_{server.process.pid}_" in self.holder()

    def wait_for(self, server: RunningServer) -> None:
        """Wait until this server leads."""
        eventually(lambda: self.leads(server), "it leads", limit_seconds=HANDOVER_SECONDS)


@pytest.fixture
def cluster(
    kubectl: Kubectl, namespace: str, kubeconfig: Path, tmp_path: Path
) -> Iterator[Cluster]:
    """The cluster; each server that is started in it ends with the test."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\n")
    with ExitStack() as stack:

        def start() -> RunningServer:
            server = RunningServer(
                kubeconfig=kubeconfig,
                policy_path=policy,
                self_signed_dir=tmp_path / "tls",
                lease_namespace=namespace,
            )
            return stack.enter_context(server)

        yield Cluster(kubectl, namespace, start, policy)
