"""`mgpu-hybrid serve`: run the admission webhook."""

import argparse
import os
from importlib import import_module
from pathlib import Path

from cli.errors import UnusableError
from cli.inputs import VERSION
from webhook.settings import LEASE_NAMESPACE, ServeSettings

TOKEN_FILE = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
"""Where the kubelet puts a service account's token, unless the pod says that it wants none."""

EPILOG = """\
HTTPS on --port: POST /mutate and POST /validate. Plain HTTP on --health-port: GET /healthz, /readyz
and /metrics. Policy, nodes and certificate are read again when their files change. Nodes come from a file,
or from a watch of the cluster; without either, what depends on nodes is not judged.

examples:
  mgpu-hybrid serve --self-signed /var/lib/mgpu-hybrid --nodes nodes.yaml
  mgpu-hybrid serve --self-signed /var/lib/mgpu-hybrid --kubeconfig ~/.kube/config
  mgpu-hybrid serve --host 0.0.0.0 --tls-dir /etc/tls --policy /etc/mgpu-hybrid/policy.yaml

exit codes: 0 stopped, 2 flags, ports or a kubeconfig that cannot be used; with a bad policy, nodes
file or certificate it runs unready, and /readyz says why
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.description = "Run the admission webhook."
    parser.epilog = EPILOG
    parser.add_argument(
        "--policy", metavar="FILE", help="a HybridPolicy; default: the built-in one"
    )
    nodes = parser.add_mutually_exclusive_group()
    nodes.add_argument("--nodes", metavar="FILE", help="a file or directory of Node objects")
    nodes.add_argument(
        "--kubeconfig",
        metavar="FILE",
        help="watch the Nodes of this cluster; default: of the cluster in which the server runs, if any",
    )
    parser.add_argument(
        "--nodes-stale-after",
        type=_seconds,
        default=60,
        metavar="SECONDS",
        help="watched nodes older than this are called stale (default: 60)",
    )
    certificate = parser.add_mutually_exclusive_group(required=True)
    certificate.add_argument(
        "--tls-dir", metavar="DIR", help="holds tls.crt and tls.key, as a Secret is mounted"
    )
    certificate.add_argument(
        "--self-signed", metavar="DIR", help="where to make and keep a certificate authority"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address of both ports (default: 127.0.0.1)"
    )
    parser.add_argument("--port", type=_port, default=8443, help="HTTPS port (default: 8443)")
    parser.add_argument(
        "--health-port", type=_port, default=8081, metavar="PORT", help="HTTP port (default: 8081)"
    )
    parser.add_argument(
        "--workers", type=_workers, default=1, metavar="N", help="processes (default: 1)"
    )
    parser.add_argument(
        "--controller",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="with watched nodes: be a candidate for the one replica that labels them (default)",
    )
    parser.add_argument(
        "--lease-namespace",
        metavar="NS",
        help="where the candidates' Lease is; default: the pod's namespace, "
        f"else {LEASE_NAMESPACE}",
    )
    parser.add_argument(
        "--kubernetes-version",
        metavar="V",
        help="the control plane's version, such as v1.28.15-vke.19; default: what a "
        "watched cluster says, else unknown",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until stopped. Raises UnusableError for flags that cannot work."""
    settings = settings_of(options)
    server = import_module("webhook.server")  # the web server's libraries
    return int(server.serve(settings) or 0)


def settings_of(options: argparse.Namespace) -> ServeSettings:
    """The settings that the flags mean. Raises UnusableError."""
    version = options.kubernetes_version
    if version is not None and not VERSION.fullmatch(version):
        raise UnusableError(
            f"--kubernetes-version: {version!r} is not a version such as v1.28.15-vke.19"
        )
    if options.port == options.health_port != 0:
        raise UnusableError(f"--health-port: {options.port} is the HTTPS port already")
    return ServeSettings(
        host=options.host,
        port=options.port,
        health_host=options.host,
        health_port=options.health_port,
        policy_path=_file("--policy", options.policy),
        nodes_path=_existing("--nodes", options.nodes),
        kubeconfig=_file("--kubeconfig", options.kubeconfig),
        in_cluster=options.nodes is None and options.kubeconfig is None and _is_in_cluster(),
        nodes_stale_after_seconds=float(options.nodes_stale_after),
        kubernetes_version=version,
        tls_dir=_directory("--tls-dir", options.tls_dir),
        self_signed_dir=Path(options.self_signed) if options.self_signed else None,
        workers=options.workers,
        controller=options.controller,
        lease_namespace=options.lease_namespace or _own_namespace() or LEASE_NAMESPACE,
    )


def _is_in_cluster() -> bool:
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and TOKEN_FILE.is_file()


def _own_namespace() -> str:
    """The namespace of the pod in which this runs, empty outside of one."""
    path = TOKEN_FILE.with_name("namespace")
    return path.read_text().strip() if _is_in_cluster() and path.is_file() else ""


def _existing(flag: str, text: str | None) -> Path | None:
    if text is None:
        return None
    path = Path(text)
    if not path.exists():
        raise UnusableError(f"{flag}: {text} does not exist")
    return path


def _file(flag: str, text: str | None) -> Path | None:
    path = _existing(flag, text)
    if path is not None and path.is_dir():
        raise UnusableError(f"{flag}: {text} is a directory, not a file")
    return path


def _directory(flag: str, text: str | None) -> Path | None:
    path = _existing(flag, text)
    if path is not None and not path.is_dir():
        raise UnusableError(f"{flag}: {text} is not a directory")
    return path


def _port(text: str) -> int:
    return _whole(text, 0, 65535)


def _workers(text: str) -> int:
    return _whole(text, 1, 64)


def _seconds(text: str) -> int:
    return _whole(text, 1, 86400)


def _whole(text: str, least: int, most: int) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else -1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
    return number
