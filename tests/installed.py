"""The wheel that the image is made of, installed as the image has it: readable by all, written by none.

Dependencies come from the environment that runs the tests. Where the tests run as root, the installed
program runs as the image's numeric user.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from demo.server import LISTENING

ROOT = Path(__file__).resolve().parent.parent
IMAGE_UID = 65532
LIMIT_SECONDS = 60


def build_wheel(folder: Path) -> Path:
    """Build the project's wheel into `folder` without a network, as `pip wheel` in the Dockerfile does."""
    _pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True, slots=True)
class Installation:
    """`code` holds the installed wheel and is read-only; `state` is what the program may write."""

    code: Path
    state: Path

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end as the image's user."""
        return subprocess.run(
            [*as_image_user(), *command],
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            cwd="/",
            env=self._environment(),
            check=False,
        )

    @property
    def program(self) -> str:
        """The installed `mgpu-hybrid`."""
        return str(self.code / "bin" / "mgpu-hybrid")

    @contextmanager
    def serve(self, *arguments: str) -> Iterator[tuple["subprocess.Popen[str]", int, int]]:
        """A server that listens, with its HTTPS and health ports.

        It and its workers are killed at the end if they still run, and after 60 s in any case. Raises
        AssertionError with what it printed when it does not listen.
        """
        ports = ["--port", "0", "--health-port", "0"]
        process = subprocess.Popen(
            [*as_image_user(), self.program, "serve", *ports, *arguments],
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env=self._environment(),
            process_group=0,
        )
        too_late = Timer(LIMIT_SECONDS, _kill_group, [process.pid])
        too_late.start()
        with process:
            try:
                yield process, *_ports(process)
            finally:
                too_late.cancel()
                _kill_group(process.pid)

    def _environment(self) -> dict[str, str]:
        """As in the image, but with the code first on the path instead of in an environment of its own."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(self.code),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        }


@contextmanager
def installed(wheel: Path) -> Iterator[Installation]:
    """The wheel in a fresh folder that other users can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="mgpu-hybrid-image-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        installation = Installation(folder / "code", folder / "state")
        _pip("install", "--target", str(installation.code), str(wheel))
        for path in (installation.code, *installation.code.rglob("*")):
            path.chmod(path.stat().st_mode & ~0o222)
        installation.state.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(installation.state, IMAGE_UID, IMAGE_UID)
        yield installation
        for path in installation.code.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        installation.code.chmod(0o755)


def as_image_user() -> Sequence[str]:
    """A prefix that runs a command as the image's user; empty where we are not root anyway.

    The one capability that is left lets it read, never write: root's Python may lie in root's own home.
    """
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise FileNotFoundError("setpriv is not installed; Debian has it in the package util-linux")
    identity = (f"--reuid={IMAGE_UID}", f"--regid={IMAGE_UID}", "--clear-groups", "--no-new-privs")
    reading = ("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search")
    return (setpriv, *identity, *reading, "--")


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _ports(process: "subprocess.Popen[str]") -> tuple[int, int]:
    printed: list[str] = []
    for line in process.stderr or ():
        match = LISTENING.search(line)
        if match:
            return int(match[1]), int(match[2])
        printed.append(line)
    raise AssertionError("the server did not listen; it printed:\n" + "".join(printed))


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "--quiet", "--no-index", "--no-deps"]
    done = subprocess.run(
        [*command, *arguments[1:]], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
