"""The three ways to the binaries, their order, and what is said when none leads there."""

import fcntl
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster.binaries import REQUIRED, BinariesUnavailableError, find_binaries
from tests.cluster.go_build import PACKAGES

# Stands in for the go command: writes the program that `-o` names, and counts its builds.
FAKE_GO = """#!/bin/sh
case "$1" in
version) echo "go version go1.26.0 linux/amd64" ;;
list) [ -z "$FAKE_OFFLINE" ] || { echo "dial tcp: no route to host" >&2; exit 1; } ;;
build)
  while [ "$1" != -o ]; do shift; done
  [ -z "$FAKE_HANGS" ] || { echo $$ > "$HOME/hangs"; sleep 120; }
  [ "$(basename "$2")" != "$FAKE_BROKEN" ] || { echo "undefined: everything" >&2; exit 1; }
  printf '#!/bin/sh\\n' > "$2"; chmod +x "$2"; echo "$2" >> "$HOME/builds" ;;
esac
"""
TOOLS = "/usr/bin:/bin"


def write_program(path: Path, text: str = "#!/bin/sh\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def folder_with(folder: Path, *names: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        write_program(folder / name)
    return str(folder)


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def with_go(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has the stand-in for go, and a home folder of its own."""
    write_program(tmp_path / "go-bin" / "go", FAKE_GO)
    return {"PATH": f"{tmp_path / 'go-bin'}:{TOOLS}", "HOME": str(tmp_path)}


def builds(tmp_path: Path) -> int:
    log = tmp_path / "builds"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_kubebuilder_assets_come_first(tmp_path: Path, lines: list[str]) -> None:
    assets = folder_with(tmp_path / "assets", *REQUIRED)
    path = folder_with(tmp_path / "path", *REQUIRED)

    found = find_binaries({"KUBEBUILDER_ASSETS": assets, "PATH": path}, lines.append)

    assert found.source == "KUBEBUILDER_ASSETS"
    assert found.kubectl == tmp_path / "assets" / "kubectl"
    assert (found.kube_scheduler, found.kubemark) == (None, None)


def test_path_counts_when_it_has_all(tmp_path: Path, lines: list[str]) -> None:
    path = folder_with(tmp_path / "path", *REQUIRED, "kube-scheduler")

    found = find_binaries({"PATH": path}, lines.append)

    assert found.source == "PATH"
    assert found.kube_scheduler == tmp_path / "path" / "kube-scheduler"


def test_a_lone_kubectl_on_path_does_not_count(
    tmp_path: Path, with_go: dict[str, str], lines: list[str]
) -> None:
    path = folder_with(tmp_path / "path", "kubectl")

    found = find_binaries({**with_go, "PATH": f"{path}:{with_go['PATH']}"}, lines.append)

    assert found.source.startswith("built with Go")
    assert found.kubectl.parent == found.etcd.parent


def test_incomplete_assets_are_named_and_passed_over(
    tmp_path: Path, with_go: dict[str, str], lines: list[str]
) -> None:
    assets = folder_with(tmp_path / "assets", "etcd", "kubectl")

    found = find_binaries({**with_go, "KUBEBUILDER_ASSETS": assets}, lines.append)

    assert found.source.startswith("built with Go")
    assert lines[0] == f"KUBEBUILDER_ASSETS={assets} has no kube-apiserver: not used"


def test_the_build_goes_to_the_cache_once_and_names_its_steps(
    tmp_path: Path, with_go: dict[str, str], lines: list[str]
) -> None:
    environment = {**with_go, "XDG_CACHE_HOME": str(tmp_path / "xdg")}

    first = find_binaries(environment, lines.append)
    second = find_binaries(environment, lines.append)

    assert first == second
    assert first.etcd.parent.parent == tmp_path / "xdg" / "mgpu-hybrid" / "cluster-binaries"
    assert builds(tmp_path) == len(PACKAGES) == 5
    started = [line for line in lines if line.endswith(" …")]
    assert started == [
        "[1/6] downloading modules …",
        "[2/6] building etcd …",
        "[3/6] building kube-apiserver …",
        "[4/6] building kube-scheduler …",
        "[5/6] building kubectl …",
        "[6/6] building kubemark …",
    ]


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        pytest.param(
            {"FAKE_OFFLINE": "1"},
            "downloading modules failed: dial tcp: no route to host",
            id="no network",
        ),
        pytest.param(
            {"FAKE_BROKEN": "kubectl"},
            "building kubectl failed: undefined: everything",
            id="last program does not build",
        ),
        pytest.param({"PATH": "/nowhere"}, "no `go` on PATH", id="no Go"),
    ],
)
def test_no_way_at_all_gives_a_reason_for_each(
    with_go: dict[str, str], lines: list[str], trouble: dict[str, str], reason: str
) -> None:
    with pytest.raises(BinariesUnavailableError) as caught:
        find_binaries({**with_go, **trouble}, lines.append)

    message = str(caught.value)
    assert message.startswith("KUBEBUILDER_ASSETS is not set; PATH has no etcd, kube-apiserver")
    assert message.endswith(f"no build with Go: {reason}")


def test_a_build_that_failed_is_not_taken_for_a_whole_one(
    tmp_path: Path, with_go: dict[str, str], lines: list[str]
) -> None:
    with pytest.raises(BinariesUnavailableError):
        find_binaries({**with_go, "FAKE_BROKEN": "kubectl"}, lines.append)
    assert builds(tmp_path) == 3

    found = find_binaries(with_go, lines.append)

    assert builds(tmp_path) == 3 + 5
    assert sorted(path.name for path in found.etcd.parent.iterdir()) == sorted(PACKAGES)


def test_of_two_runs_at_once_one_builds_and_the_other_waits(
    tmp_path: Path, with_go: dict[str, str]
) -> None:
    folder = find_binaries(with_go, lambda _: None).etcd.parent
    aside = folder.rename(tmp_path / "aside")
    waiting = threading.Event()
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        waiting.set()

    with ThreadPoolExecutor() as pool, folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock.fileno(), fcntl.LOCK_EX)
        second = pool.submit(find_binaries, with_go, report)
        assert waiting.wait(timeout=30)
        aside.rename(folder)
        fcntl.flock(lock.fileno(), fcntl.LOCK_UN)
        found = second.result(timeout=30)

    assert found.etcd.parent == folder
    assert len(lines) == 1
    assert lines[0].startswith("waiting for another run that builds the cluster binaries")
    assert builds(tmp_path) == len(PACKAGES)


def test_a_build_that_hangs_is_ended_and_reported(
    tmp_path: Path, with_go: dict[str, str], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.cluster.go_build.HEARTBEAT_SECONDS", 0.3)
    monkeypatch.setattr("tests.cluster.go_build.LIMIT_SECONDS", 0.5)

    with pytest.raises(BinariesUnavailableError, match=r"\[2/6\] building etcd: not done within"):
        find_binaries({**with_go, "FAKE_HANGS": "1"}, lines.append)

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "hangs").read_text()), 0)
    assert "[2/6] building etcd … 0 s" in lines
