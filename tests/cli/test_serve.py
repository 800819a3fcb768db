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


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["--policy", "gone.yaml"], "--policy: gone.yaml does not exist", id="policy"),
        pytest.param(["--policy", "."], "--policy: . is a directory", id="policy is a directory"),
        pytest.param(["--nodes", "gone"], "--nodes: gone does not exist", id="nodes"),
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
        pytest.param(["--self-signed", "b", "--kubeconfig", "c"], id="a flag of later"),
    ],
)
def test_argparse_refuses(flags: list[str], capsys: Capture) -> None:
    assert main(["serve", *flags]) == 2
    assert capsys.readouterr().err
