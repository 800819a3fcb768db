"""Standard streams that are closed, full or broken: one clear line, and never exit code 1."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.manifests import OFFLINE, PLAIN, TOO_MUCH, documents
from tests.cli.test_main import PROGRAM, TIMEOUT_SECONDS

MANY = documents(*[PLAIN] * 1000)
FULL = "standard output cannot be written: No space left on device\n"
CLOSED = "standard output is closed: there is nowhere to write the result\n"


@pytest.fixture
def pod(tmp_path: Path) -> str:
    path = tmp_path / "pod.yaml"
    path.write_text(OFFLINE)
    return str(path)


def shell(command: str, *arguments: str, unbuffered: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a line of shell, in which $0 is the program and $@ are the arguments."""
    return subprocess.run(
        ["bash", "-c", command, PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )


WRITING = [
    pytest.param("validate -f {pod}", id="validate"),
    pytest.param("validate -f {pod} -o json", id="validate json"),
    pytest.param("mutate -f {pod} -o patch", id="mutate"),
    pytest.param("mutate -f {pod} -o diff", id="mutate diff"),
    pytest.param("explain", id="explain"),
    pytest.param("policy show", id="policy"),
    pytest.param("--version", id="version"),
    pytest.param("--help", id="help"),
    pytest.param("validate --help", id="help of a command"),
]


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    ("redirection", "line"), [(">/dev/full", FULL), (">&-", CLOSED)], ids=["full", "closed"]
)
@pytest.mark.parametrize("arguments", WRITING)
def test_a_result_that_cannot_be_written(
    arguments: str, redirection: str, line: str, unbuffered: str, pod: str
) -> None:
    words = arguments.format(pod=pod).split()
    done = shell(f'"$0" "$@" {redirection}', *words, unbuffered=unbuffered)
    assert done.returncode == 2
    assert done.stderr.endswith(line)
    assert "internal error" not in done.stderr
    assert done.stderr.count("standard output") == 1


def test_a_result_that_is_larger_than_the_buffer(tmp_path: Path) -> None:
    (tmp_path / "many.yaml").write_text(MANY)
    done = shell('"$0" validate -f "$1" >/dev/full', str(tmp_path / "many.yaml"))
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"], ids=["full", "closed"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param("validate -f /nonexist", 2, id="no file"),
        pytest.param("validate", 2, id="no flag"),
        pytest.param("explain frob", 2, id="no rule"),
        pytest.param("mutate -f {pod} -o json", 0, id="reasons of changes"),
    ],
)
def test_errors_that_nobody_can_be_told(
    arguments: str, code: int, redirection: str, pod: str
) -> None:
    words = arguments.format(pod=pod).split()
    for unbuffered in ("", "1"):
        assert shell(f'"$0" "$@" {redirection}', *words, unbuffered=unbuffered).returncode == code


def test_what_is_told_does_not_move_into_the_result(pod: str) -> None:
    told = shell('"$0" mutate -f "$1" -o json', pod)
    assert told.stderr
    assert shell('"$0" mutate -f "$1" -o json 2>&-', pod).stdout == told.stdout


def test_both_streams_full_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(TOO_MUCH)
    command = '"$0" validate -f "$1" >/dev/full 2>/dev/full'
    assert shell(command, str(tmp_path / "pod.yaml")).returncode == 2


@pytest.mark.parametrize("flags", ["-f -", "-f {pod} --nodes -"], ids=["-f", "--nodes"])
@pytest.mark.parametrize(
    ("redirection", "reason"),
    [("<&-", "it is closed"), ("0>/dev/null", "Bad file descriptor")],
    ids=["closed", "not for reading"],
)
def test_an_input_that_cannot_be_read(flags: str, redirection: str, reason: str, pod: str) -> None:
    words = flags.format(pod=pod).split()
    done = shell(f'"$0" validate "$@" {redirection}', *words)
    assert done.returncode == 2
    assert done.stderr == f"<stdin>: cannot be read: {reason}\n"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ('ulimit -v 1500000; "$0" validate -f /dev/zero', "/dev/zero: is larger than 256 MiB"),
        ("ulimit -v 1500000; yes 'a: b' | \"$0\" validate -f -", "<stdin>: is larger than 256 MiB"),
        ('ulimit -v 1500000; "$0" explain --policy /dev/zero', "/dev/zero: is larger than 256"),
        ('ulimit -v 200000; "$0" validate -f /dev/zero', "out of memory: split the input"),
    ],
    ids=["device", "stdin", "policy", "no memory for it"],
)
def test_an_input_without_end(command: str, line: str) -> None:
    done = shell(command)
    assert done.returncode == 2
    assert done.stderr.startswith(line)


def test_a_pipe_is_read_where_it_is_named(pod: str) -> None:
    done = shell('"$0" validate -f <(cat "$1")', pod)
    assert (done.returncode, "Pod jobs/batch" in done.stdout) == (0, True)
