"""`serve`: what its flags mean. The server itself has its own tests."""

import argparse
from pathlib import Path

import pytest

from cli import serve
from cli.errors import UnusableError
from cli.main import main
from webhook.settings import ServeSettings

Capture = pytest.CaptureFixture[str]


def settings(*flags: str) -> ServeSettings:
    parser = argparse.ArgumentParser()
    serve.configure(parser)
    return serve.settings_of(parser.parse_args(flags))


def test_the_least_is_a_certificate(tmp_path: Path) -> None:
    assert settings("--self-signed", str(tmp_path)) == ServeSettings(self_signed_dir=tmp_path)


def test_every_flag_counts(tmp_path: Path) -> None:
    policy, nodes = tmp_path / "policy.yaml", tmp_path / "nodes.yaml"
    policy.touch()
    nodes.touch()
    assert settings(
        *("--policy", str(policy), "--nodes", str(nodes), "--tls-dir", str(tmp_path)),
        *("--host", "0.0.0.0", "--port", "0", "--health-port", "0", "--workers", "2"),
        *("--kubernetes-version", "v1.28.15-vke.19"),
    ) == ServeSettings(
        host="0.0.0.0",
        port=0,
        health_host="0.0.0.0",
        health_port=0,
        policy_path=policy,
        nodes_path=nodes,
        kubernetes_version="v1.28.15-vke.19",
        tls_dir=tmp_path,
        workers=2,
    )


@pytest.fixture
def token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As in a pod with a service account."""
    path = tmp_path / "token"
    path.touch()
    monkeypatch.setattr(serve, "TOKEN_FILE", path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    return path


def test_a_kubeconfig_is_watched(tmp_path: Path, token_file: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.touch()
    assert token_file.exists()
    found = settings("--self-signed", "x", "--kubeconfig", str(path), "--nodes-stale-after", "90")
    assert (found.kubeconfig, found.in_cluster) == (path, False)
    assert found.nodes_stale_after_seconds == 90.0


def test_in_a_pod_its_cluster_is_watched(token_file: Path) -> None:
    assert token_file.exists()
    assert settings("--self-signed", "x").in_cluster


def test_in_a_pod_a_nodes_file_goes_before(tmp_path: Path, token_file: Path) -> None:
    assert token_file.exists()
    assert not settings("--self-signed", "x", "--nodes", str(tmp_path)).in_cluster


def test_in_a_pod_without_a_token_nothing_is_watched(token_file: Path) -> None:
    token_file.unlink()
    assert not settings("--self-signed", "x").in_cluster


def test_outside_of_a_cluster_nothing_is_watched(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert token_file.exists()
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
    assert not settings("--self-signed", "x").in_cluster


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["--policy", "gone.yaml"], "--policy: gone.yaml does not exist", id="policy"),
        pytest.param(["--policy", "."], "--policy: . is a directory", id="policy is a directory"),
        pytest.param(["--nodes", "gone"], "--nodes: gone does not exist", id="nodes"),
        pytest.param(
            ["--kubeconfig", "gone"], "--kubeconfig: gone does not exist", id="kubeconfig"
        ),
        pytest.param(["--kubeconfig", "."], "--kubeconfig: . is a directory", id="kubeconfig dir"),
        pytest.param(["--kubernetes-version", "x"], "--kubernetes-version: 'x'", id="version"),
        pytest.param(["--port", "9", "--health-port", "9"], "--health-port: 9", id="one port"),
    ],
)
def test_what_cannot_work(flags: list[str], message: str) -> None:
    with pytest.raises(UnusableError, match=message):
        settings("--self-signed", "x", *flags)


def test_the_tls_directory_is_there() -> None:
    with pytest.raises(UnusableError, match="--tls-dir: gone does not exist"):
        settings("--tls-dir", "gone")


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="no certificate"),
        pytest.param(["--tls-dir", "a", "--self-signed", "b"], id="two certificates"),
        pytest.param(["--self-signed", "b", "--port", "65536"], id="port too large"),
        pytest.param(["--self-signed", "b", "--port", "-1"], id="port negative"),
        pytest.param(["--self-signed", "b", "--workers", "0"], id="no worker"),
        pytest.param(["--self-signed", "b", "--workers", "two"], id="workers in words"),
        pytest.param(["--self-signed", "b", "--nodes-stale-after", "0"], id="stale at once"),
        pytest.param(
            ["--self-signed", "b", "--nodes", "a", "--kubeconfig", "c"], id="two sources of nodes"
        ),
    ],
)
def test_argparse_refuses(flags: list[str], capsys: Capture) -> None:
    assert main(["serve", *flags]) == 2
    assert capsys.readouterr().err


def test_who_may_lead_and_where_the_lease_is(tmp_path: Path) -> None:
    least = settings("--self-signed", str(tmp_path))
    assert (least.controller, least.lease_namespace) == (True, "mgpu-hybrid-system")
    told = settings("--self-signed", "x", "--no-controller", "--lease-namespace", "ours")
    assert (told.controller, told.lease_namespace) == (False, "ours")


def test_in_a_pod_the_lease_is_in_its_namespace(token_file: Path) -> None:
    token_file.with_name("namespace").write_text("gpu-system\n")
    assert settings("--self-signed", "x").lease_namespace == "gpu-system"
    assert settings("--self-signed", "x", "--lease-namespace", "ours").lease_namespace == "ours"
