"""One server process of the test cluster: started with its output in a log file, awaited, and
ended by its id."""

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

POLL_SECONDS = 0.05
STOP_SECONDS = 10
LOG_TAIL_BYTES = 4000


class StartFailedError(Exception):
    """A server ended early or was not ready in time; the message has the end of its log."""


class ServerProcess:
    """A started server. Whoever starts one calls `stop`, on failure too."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path) -> None:
        self._name = name
        self._arguments = (*_ending_with_us(), *arguments)
        self._log = log
        self._process = self._started()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def wait_until(self, is_ready: Callable[[], bool], *, limit_seconds: float) -> None:
        """Ask `is_ready` until it says yes; raises StartFailedError when it never will."""
        deadline = time.monotonic() + limit_seconds
        while not is_ready():
            if self._process.poll() is not None:
                raise self._failed(f"ended with code {self._process.returncode}")
            if time.monotonic() > deadline:
                raise self._failed(f"was not ready within {limit_seconds:g} s")
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Terminate the process, wait, and kill it if it has not ended by then."""
        self._process.terminate()
        try:
            self._process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=STOP_SECONDS)

    def start_again(self) -> None:
        """Start a stopped process with the same arguments and the same log."""
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as output:
            return subprocess.Popen(
                self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _failed(self, what: str) -> StartFailedError:
        tail = self._log.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace")
        return StartFailedError(f"{self._name} {what}; the end of {self._log}:\n{tail}")


def _ending_with_us() -> list[str]:
    """A prefix that has Linux end the server when pytest is killed and cannot run `stop`."""
    setpriv = shutil.which("setpriv")  # of util-linux; it becomes the server, with the same id
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
