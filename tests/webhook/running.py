"""A server in its own process on free loopback ports, and clients for it."""

import http.client
import json
import os
import queue
import signal
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

import httpx

ROOT = Path(__file__).parents[2]
WAIT_SECONDS = 60.0
JSON = {"content-type": "application/json"}


class RunningServer:
    """A server that is started at once and ended with the block; its log is read as it comes."""

    def __init__(self, **settings: object) -> None:
        given = {name: _plain(value) for name, value in settings.items()}
        command = [sys.executable, "-m", "tests.webhook.run_server"]
        self.process = subprocess.Popen(
            [*command, json.dumps({"port": 0, "health_port": 0, **given})],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._urls: tuple[str, str] | None = None

    def __enter__(self) -> "RunningServer":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def log(self, message: str) -> dict[str, object]:
        """The next log line whose message begins so; fails when it does not come."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                line = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"no {message!r} in the log:\n" + "".join(self.lines))
            entry = json.loads(line)
            if str(entry["message"]).startswith(message):
                return dict(entry)

    @property
    def urls(self) -> tuple[str, str]:
        """The addresses of the webhook port and the health port, once it listens."""
        if self._urls is None:
            words = str(self.log("webhook listening on")["message"]).split()
            self._urls = words[3].rstrip(","), words[-1]
        return self._urls

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of the webhook port."""
        parts = urlsplit(self.urls[0])
        return str(parts.hostname), int(parts.port or 0)

    def post(self, hook: str, body: bytes, context: ssl.SSLContext) -> httpx.Response:
        """The answer to one body, on a connection of its own."""
        return httpx.post(f"{self.urls[0]}/{hook}", content=body, headers=JSON, verify=context)

    def get(self, path: str) -> httpx.Response:
        """The answer of the health port."""
        return httpx.get(f"{self.urls[1]}{path}")

    def connect(self, context: ssl.SSLContext) -> http.client.HTTPSConnection:
        """An open TLS connection."""
        host, port = self.address
        connection = http.client.HTTPSConnection(host, port, context=context, timeout=WAIT_SECONDS)
        connection.connect()
        return connection

    def stop(self) -> int:
        """Send SIGTERM and wait for the end; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_SECONDS)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            self._queue.put(line)
        self._queue.put(None)


def trusting(directory: Path) -> ssl.SSLContext:
    """A client's context that trusts the authority in a directory, and nobody else."""
    return ssl.create_default_context(cafile=directory / "ca.crt")


def is_gone(pid: int) -> bool:
    """Whether no process has this id any more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value
