"""Build the cluster binaries with Go, once per set of inputs, into the user's cache.

The versions are those of gobuild/go.mod, whose `tool` lines name the programs. A build goes to a
folder beside the final one and is renamed at its end, under a lock: a cut-off build is never
taken for a whole one, and of two runs at the same time one builds and the other waits.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MODULE_FOLDER = Path(__file__).parent / "gobuild"
# Program name → Go package. etcd's package is called `server`, hence the names.
PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kubemark": "k8s.io/kubernetes/cmd/kubemark",
}
# A first build on two cores takes about seven minutes and the downloads one more.
LIMIT_SECONDS = 45 * 60
HEARTBEAT_SECONDS = 20

Report = Callable[[str], None]


class BuildFailedError(Exception):
    """The build could not be done; the message says which step failed and how."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One command of the build: its name for the terminal, and its arguments."""

    title: str
    arguments: tuple[str, ...]


def kubernetes_version() -> str:
    """The version of Kubernetes that gobuild/go.mod pins, such as `v1.36.3`."""
    found = re.search(r"k8s\.io/kubernetes (v\S+)", (MODULE_FOLDER / "go.mod").read_text())
    if found is None:
        raise BuildFailedError(f"{MODULE_FOLDER / 'go.mod'} does not pin k8s.io/kubernetes")
    return found.group(1)


def built_binaries(environment: Mapping[str, str], report: Report) -> Path:
    """The folder with the programs, built now unless it is there already.

    Raises BuildFailedError when Go is absent or too old, a step fails, or the time limit passes.
    """
    deadline = time.monotonic() + LIMIT_SECONDS
    go = shutil.which("go", path=environment.get("PATH", ""))
    if go is None:
        raise BuildFailedError("no `go` on PATH")
    build_environment = _build_environment(environment)
    go_version = _go_version(go, build_environment)
    folder = _cache_folder(environment) / _digest(go_version)
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder.with_suffix(".lock"), report, deadline):
        if not folder.is_dir():
            _build(go, folder, build_environment, report, deadline)
    return folder


def _cache_folder(environment: Mapping[str, str]) -> Path:
    cache = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "~")) / ".cache"
    return Path(cache).expanduser() / "mgpu-hybrid" / "cluster-binaries"


def _build_environment(environment: Mapping[str, str]) -> dict[str, str]:
    # GOFLAGS is replaced: a person's own flags would change the binaries, but not the digest.
    return {**environment, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}


def _build_flags() -> tuple[str, ...]:
    """Flags of `go build`; they link the version in, as Kubernetes' own release builds do."""
    version = kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".", maxsplit=2)
    variables = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    linked = [f"-X k8s.io/component-base/version.{key}={value}" for key, value in variables.items()]
    return ("-trimpath", "-buildvcs=false", "-ldflags", " ".join(["-s", "-w", *linked]))


def _digest(go_version: str) -> str:
    inputs = [(MODULE_FOLDER / name).read_bytes() for name in ("go.mod", "go.sum")]
    inputs += [text.encode() for text in (*_build_flags(), *PACKAGES.values(), go_version)]
    return hashlib.sha256(b"\0".join(inputs)).hexdigest()[:16]


def _go_version(go: str, environment: Mapping[str, str]) -> str:
    """What `go version` says in the module's folder, where its `go` line chooses the toolchain."""
    try:
        done = subprocess.run(
            [go, "version"],
            cwd=MODULE_FOLDER,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,  # it may download that toolchain
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BuildFailedError("`go version` did not answer within 5 min") from error
    if done.returncode:
        raise BuildFailedError(f"`go version` failed: {_last_lines(done.stderr)}")
    return done.stdout.strip()


@contextlib.contextmanager
def _lock(path: Path, report: Report, deadline: float) -> Iterator[None]:
    with path.open("w") as file:
        waiting = False
        while not _locked(file.fileno()):
            if not waiting:
                report(f"waiting for another run that builds the cluster binaries ({path})")
            waiting = True
            if time.monotonic() > deadline:
                raise BuildFailedError(f"another run has held {path} for too long")
            time.sleep(0.5)
        yield


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _build(
    go: str, folder: Path, environment: Mapping[str, str], report: Report, deadline: float
) -> None:
    report(f"building etcd and Kubernetes {kubernetes_version()} for the cluster tests, once")
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)  # what a cut-off build left
    unfinished.mkdir()
    steps = _steps(go, unfinished)
    for number, step in enumerate(steps, start=1):
        _run(step, f"[{number}/{len(steps)}] {step.title}", environment, report, deadline)
    unfinished.rename(folder)
    report(f"cluster binaries are ready in {folder}")


def _steps(go: str, target: Path) -> list[_Step]:
    # Loading every package that the programs need downloads their modules and no others.
    download = _Step("downloading modules", (go, "list", "-deps", *PACKAGES.values()))
    builds = [
        _Step(f"building {name}", (go, "build", *_build_flags(), "-o", str(target / name), package))
        for name, package in PACKAGES.items()
    ]
    return [download, *builds]


def _run(
    step: _Step, title: str, environment: Mapping[str, str], report: Report, deadline: float
) -> None:
    started = time.monotonic()
    report(f"{title} …")
    # A session of its own, so that the compilers end together with the go command.
    with subprocess.Popen(
        step.arguments,
        cwd=MODULE_FOLDER,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            errors = _wait(process, title, report, deadline)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        raise BuildFailedError(f"{step.title} failed: {_last_lines(errors)}")
    report(f"{title}: done in {time.monotonic() - started:.0f} s")


def _wait(process: subprocess.Popen[str], title: str, report: Report, deadline: float) -> str:
    """Wait for the end with a line every HEARTBEAT_SECONDS; return what it wrote to stderr."""
    started = time.monotonic()
    while True:
        try:
            return process.communicate(timeout=HEARTBEAT_SECONDS)[1]
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                raise BuildFailedError(
                    f"{title}: not done within {LIMIT_SECONDS // 60} min"
                ) from None
            report(f"{title} … {time.monotonic() - started:.0f} s")


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-3:]) or "it said nothing"
