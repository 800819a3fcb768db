"""A whole server, and more connections than it has places for, that do nothing: the honest are answered."""

import http.client
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.builders import pod
from tests.webhook.reviews import body
from tests.webhook.running import JSON, WAIT_SECONDS, RunningServer, trusting

IDLE = 600
Occupation = Callable[[RunningServer, Path], AbstractContextManager[None]]
BODY = body(pod())


@pytest.fixture(scope="module", params=[1, 3], ids=["one process", "three workers"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RunningServer, Path]]:
    directory = tmp_path_factory.mktemp("certificates")
    with RunningServer(self_signed_dir=directory, workers=request.param) as running:
        assert running.urls
        yield running, directory


@contextmanager
def silent_on_health(running: RunningServer, _directory: Path) -> Iterator[None]:
    """TCP connections that send nothing."""
    host, port = running.urls[1].removeprefix("http://").split(":")
    with ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(socket.create_connection((host, int(port)), WAIT_SECONDS))
        yield


@contextmanager
def kept_on_health(running: RunningServer, _directory: Path) -> Iterator[None]:
    """Connections that are kept after one request."""
    with ExitStack() as stack:
        for _ in range(IDLE):
            address = running.urls[1].removeprefix("http://")
            connection = http.client.HTTPConnection(address, timeout=WAIT_SECONDS)
            stack.callback(connection.close)
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b"ok\n"
        yield


@contextmanager
def silent_on_webhook(running: RunningServer, directory: Path) -> Iterator[None]:
    """TLS connections without a request."""
    context = trusting(directory)
    with ExitStack() as stack:
        for _ in range(IDLE):
            stack.callback(running.connect(context).close)
        yield


@contextmanager
def kept_on_webhook(running: RunningServer, directory: Path) -> Iterator[None]:
    """TLS connections that are kept after one request."""
    context = trusting(directory)
    with ExitStack() as stack:
        for _ in range(IDLE):
            connection = running.connect(context)
            stack.callback(connection.close)
            connection.request("POST", "/validate", BODY, JSON)
            assert connection.getresponse().read()
        yield


@pytest.mark.parametrize(
    "idle", [silent_on_health, kept_on_health, silent_on_webhook, kept_on_webhook]
)
def test_idle_connections_shut_nobody_out(
    idle: Occupation, server: tuple[RunningServer, Path]
) -> None:
    running, directory = server
    context = trusting(directory)
    with idle(running, directory):
        for _ in range(20):
            assert running.get("/healthz").status_code == 200
            assert running.post("validate", BODY, context).status_code == 200
