"""Binding the two ports, before any process that serves them is started.

The sockets are bound here and listened on by the workers, which inherit them: so a port in use is known
at once, port 0 is one and the same for all, and a worker that is restarted loses nobody's connection.
"""

import socket
from dataclasses import dataclass

from webhook.settings import ServeSettings

MAX_PORT = 65535


class ListenError(Exception):
    """A port that cannot be bound; the text names address, port and reason."""


@dataclass(frozen=True, slots=True)
class Sockets:
    """The bound sockets of the webhook port and of the health port."""

    webhook: socket.socket
    health: socket.socket

    @property
    def webhook_url(self) -> str:
        """Such as `https://127.0.0.1:8443`."""
        return f"https://{_address(self.webhook)}"

    @property
    def health_url(self) -> str:
        """Such as `http://127.0.0.1:8081`."""
        return f"http://{_address(self.health)}"

    def close(self) -> None:
        """Close both; connections in their queues are reset."""
        self.webhook.close()
        self.health.close()


def bind_sockets(settings: ServeSettings) -> Sockets:
    """Both sockets, bound and not yet listening. Raises ListenError."""
    webhook = _bind(settings.host, settings.port)
    try:
        return Sockets(webhook, _bind(settings.health_host, settings.health_port))
    except ListenError:
        webhook.close()
        raise


def _bind(host: str, port: int) -> socket.socket:
    if not 0 <= port <= MAX_PORT:  # the resolver would take it modulo 65536
        raise ListenError(f"cannot listen on {host!r}, port {port}: ports are 0 to {MAX_PORT}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        bound = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise ListenError(f"cannot listen on {host!r}, port {port}: {error}") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # Also IPv4: `::` means every address.
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise ListenError(f"cannot listen on {host!r}, port {port}: {error}") from error
    return bound


def _address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
