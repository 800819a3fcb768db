"""`mgpu-hybrid serve`: run the admission webhook."""

import argparse
from importlib import import_module
from pathlib import Path

from cli.errors import UnusableError
from cli.inputs import VERSION
from webhook.settings import ServeSettings

EPILOG = """\
HTTPS on --port: POST /mutate and POST /validate. Plain HTTP on --health-port: GET /healthz, /readyz
and /metrics. Policy, nodes and certificate are read again when their files change.

examples:
  mgpu-hybrid serve --self-signed /var/lib/mgpu-hybrid --nodes nodes.yaml
  mgpu-hybrid serve --host 0.0.0.0 --tls-dir /etc/tls --policy /etc/mgpu-hybrid/policy.yaml

exit codes: 0 stopped, 2 flags or files that cannot be used
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.description = "Run the admission webhook."
    parser.epilog = EPILOG
    parser.add_argument(
        "--policy", metavar="FILE", help="a HybridPolicy; default: the built-in one"
    )
    parser.add_argument("--nodes", metavar="FILE", help="a file or directory of Node objects")
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
        "--kubernetes-version",
        metavar="V",
        help="the control plane's version, such as v1.28.15-vke.19; default: unknown",
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
        kubernetes_version=version,
        tls_dir=_directory("--tls-dir", options.tls_dir),
        self_signed_dir=Path(options.self_signed) if options.self_signed else None,
        workers=options.workers,
    )


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


def _whole(text: str, least: int, most: int) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else -1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
    return number
