"""Binding both ports, or saying why not."""

import socket

import pytest

from webhook.listening import ListenError, bind_sockets
from webhook.settings import ServeSettings

FREE = ServeSettings(port=0, health_port=0)


def test_port_0_is_a_free_port_that_is_told() -> None:
    sockets = bind_sockets(FREE)
    port = sockets.webhook.getsockname()[1]
    assert sockets.webhook_url == f"https://127.0.0.1:{port}"
    assert sockets.health_url.startswith("http://127.0.0.1:")
    assert sockets.health.getsockname()[1] != port
    sockets.close()


def test_an_ipv6_address_is_written_in_brackets() -> None:
    sockets = bind_sockets(ServeSettings(host="::1", port=0, health_port=0))
    assert sockets.webhook_url.startswith("https://[::1]:")
    sockets.close()


def test_a_port_in_use_is_refused_and_nothing_stays_bound() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ListenError, match=f"port {port}: .*in use"):
            bind_sockets(ServeSettings(port=0, health_port=port))


@pytest.mark.parametrize(
    "settings",
    [
        ServeSettings(host="256.0.0.1", port=0, health_port=0),
        ServeSettings(host="x" * 70, port=0, health_port=0),
        ServeSettings(port=70000, health_port=0),
        ServeSettings(port=-1, health_port=0),
        ServeSettings(host="192.0.2.1", port=0, health_port=0),
    ],
    ids=["no address", "label too long", "port too large", "negative port", "not ours"],
)
def test_an_address_that_cannot_be_bound_is_a_clear_error(settings: ServeSettings) -> None:
    with pytest.raises(ListenError, match="cannot listen on"):
        bind_sockets(settings)
