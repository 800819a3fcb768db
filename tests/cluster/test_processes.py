"""Servers that do not start: the error has the end of the log, and nothing is left running."""

import os
import sys
from pathlib import Path

import pytest

from tests.cluster.processes import ServerProcess, StartFailedError

DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(60)
"""


def server(tmp_path: Path, program: str) -> ServerProcess:
    return ServerProcess("sample", [sys.executable, "-c", program], tmp_path / "sample.log")


def test_early_end_is_reported_with_code_and_log(tmp_path: Path) -> None:
    process = server(tmp_path, "import sys; print('no such flag'); sys.exit(3)")

    with pytest.raises(StartFailedError, match=r"sample ended with code 3; (?s:.*)no such flag"):
        process.wait_until(lambda: False, limit_seconds=30)
    process.stop()


def test_a_server_that_is_never_ready_is_reported_and_ended(tmp_path: Path) -> None:
    process = server(tmp_path, "import time; time.sleep(60)")

    with pytest.raises(StartFailedError, match=r"sample was not ready within 0\.2 s"):
        process.wait_until(lambda: False, limit_seconds=0.2)
    process.stop()

    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_a_server_that_ignores_terminate_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.cluster.processes.STOP_SECONDS", 0.2)
    process = server(tmp_path, DEAF)
    log = tmp_path / "sample.log"
    process.wait_until(lambda: "deaf" in log.read_text(), limit_seconds=30)

    process.stop()

    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
