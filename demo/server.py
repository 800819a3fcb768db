"""Starts `mgpu-hybrid serve` as a process of its own on free loopback ports, and ends it by its id."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from demo.admission import AdmissionClient

START_SECONDS = 30
STOP_SECONDS = 15
LISTENING = re.compile(r"https://127\.0\.0\.1:(\d+).*http://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A webhook that answers: a client for it, its health port and its process id."""

    client: AdmissionClient
    health_port: int
    pid: int


@contextmanager
def running_server(folder: Path, arguments: Sequence[str]) -> Iterator[RunningServer]:
    """A webhook with its own certificate in `folder`, ended when the context is left.

    Raises RuntimeError with what it printed when it does not come up within 30 s.
    """
    command = [sys.executable, "-m", "cli.main", "serve", "--port", "0", "--health-port", "0"]
    process = subprocess.Popen(  # noqa: S603 - our own program, no shell
        [*command, "--self-signed", str(folder), *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        port, health_port = _ports(process)
        client = AdmissionClient("127.0.0.1", port, folder / "ca.crt")
        yield RunningServer(client, health_port, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr is not None:
            process.stderr.close()


def _ports(process: subprocess.Popen[str]) -> tuple[int, int]:
    """The ports that the server says it listens on. Its log is read to the end, so it never blocks."""
    found: SimpleQueue[tuple[int, int] | None] = SimpleQueue()
    printed: list[str] = []

    def read_log() -> None:
        for line in process.stderr or ():
            printed.append(line)
            match = LISTENING.search(line)
            if match:
                found.put((int(match[1]), int(match[2])))
        found.put(None)

    threading.Thread(target=read_log, daemon=True).start()
    try:
        ports = found.get(timeout=START_SECONDS)
    except Empty:
        ports = None
    if ports is None:
        raise RuntimeError("the webhook did not start; it printed:\n" + "".join(printed))
    return ports
