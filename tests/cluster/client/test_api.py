"""The client against the real API server."""

from pathlib import Path

import pytest

from tests.cluster.control_plane import ControlPlane, write_kubeconfig
from tests.webhook.cluster.api_contract import NODES, ApiContract
from webhook.cluster.api import KubeApi
from webhook.cluster.errors import (
    ClusterUnavailableError,
    ForbiddenError,
    UnauthorizedError,
)


class TestRealApi(ApiContract):
    @pytest.fixture
    def api(self, control_plane: ControlPlane) -> KubeApi:
        return KubeApi.connect(control_plane.kubeconfig)

    def test_a_user_without_roles_is_forbidden(
        self, control_plane: ControlPlane, tmp_path: Path
    ) -> None:
        nobody = write_kubeconfig(
            tmp_path / "nobody.kubeconfig",
            control_plane.url,
            control_plane.authority,
            control_plane.authority.issue_client("nobody"),
        )
        with pytest.raises(ForbiddenError, match=r'403 Forbidden: .*User "nobody"'):
            KubeApi.connect(nobody).get(NODES)

    def test_a_wrong_token_is_not_accepted_and_not_told(
        self, control_plane: ControlPlane, tmp_path: Path
    ) -> None:
        path = tmp_path / "token.kubeconfig"
        text = control_plane.kubeconfig.read_text()
        head, _, _ = text.partition("users:")
        path.write_text(f"{head}users:\n- {{name: test, user: {{token: very-secret}}}}\n")
        with pytest.raises(UnauthorizedError) as caught:
            KubeApi.connect(path).get(NODES)
        assert "very-secret" not in str(caught.value)

    def test_an_authority_that_did_not_sign_the_server(
        self, control_plane: ControlPlane, tmp_path: Path
    ) -> None:
        client = control_plane.authority.issue_client("stranger")
        path = tmp_path / "stranger.kubeconfig"
        text = control_plane.kubeconfig.read_text()
        path.write_text(
            text.replace(str(control_plane.authority.certificate_path), str(client.certificate))
        )
        with pytest.raises(ClusterUnavailableError, match="TLS failed"):
            KubeApi.connect(path).get(NODES)
