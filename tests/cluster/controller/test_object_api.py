"""The real client and server do what the controller relies on."""

from collections.abc import Iterator

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.webhook.controller.object_api_contract import ObjectApiContract
from webhook.cluster.api import KubeApi


class TestRealObjectApi(ObjectApiContract):
    @pytest.fixture
    def api(self, control_plane: ControlPlane) -> KubeApi:
        return KubeApi.connect(control_plane.kubeconfig)

    @pytest.fixture
    def name(self, kubectl: Kubectl) -> Iterator[str]:
        name = "contract-node"
        yield name
        forced = ("--ignore-not-found", "--force", "--grace-period=0")
        kubectl.succeed("delete", "pod", *forced, f"{name}-one", f"{name}-two")
        kubectl.succeed("delete", "lease,event", "--ignore-not-found", name)
        kubectl.succeed("delete", "node", "--ignore-not-found", name)
