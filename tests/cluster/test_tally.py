"""The words at the end of a run."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from tests.cluster.tally import Tally, count, summary_lines

ONE_TEST = "tests/cluster/test_control_plane.py::test_a_user_without_roles_is_forbidden"
ROOT = Path(__file__).parents[2]


def report(
    nodeid: str,
    outcome: Literal["passed", "failed", "skipped"],
    when: Literal["setup", "call", "teardown"] = "call",
) -> pytest.TestReport:
    return pytest.TestReport(nodeid, (nodeid, 1, nodeid), {}, outcome, None, when)


@pytest.mark.parametrize(
    ("reports", "tally"),
    [
        pytest.param([], Tally(0, 0), id="nothing ran"),
        pytest.param([report("a", "passed")], Tally(1, 0), id="passed counts as run"),
        pytest.param([report("a", "failed")], Tally(1, 0), id="failed counts as run"),
        pytest.param([report("a", "skipped", "setup")], Tally(0, 1), id="skipped in its fixture"),
        pytest.param([report("a", "failed", "setup")], Tally(0, 0), id="its fixture failed"),
        pytest.param(
            [report("a", "passed"), report("a", "failed", "teardown")],
            Tally(1, 0),
            id="two reports of one test count once",
        ),
        pytest.param(
            [report("a", "passed"), report("b", "skipped")], Tally(1, 1), id="one of each"
        ),
        pytest.param([report("other", "passed")], Tally(0, 0), id="no cluster test"),
    ],
)
def test_count(reports: list[pytest.TestReport], tally: Tally) -> None:
    assert count({"a", "b"}, reports) == tally


def test_the_kubelets_tests_are_told_too() -> None:
    lines = summary_lines(Tally(run=3, skipped=1), None, None, "PATH has no kubemark")
    assert lines == [
        "cluster tests: 3 run, 1 skipped",
        "KUBELET TESTS DID NOT RUN: PATH has no kubemark",
    ]


@pytest.mark.parametrize(
    ("because", "no_scheduler", "lines"),
    [
        pytest.param(None, None, ["cluster tests: 3 run, 1 skipped"], id="they ran"),
        pytest.param(
            "no `go` on PATH",
            None,
            ["cluster tests: 3 run, 1 skipped", "CLUSTER TESTS DID NOT RUN: no `go` on PATH"],
            id="they could not",
        ),
        pytest.param(
            None,
            "PATH",
            ["cluster tests: 3 run, 1 skipped", "SCHEDULER TESTS DID NOT RUN: PATH"],
            id="those with a scheduler could not",
        ),
    ],
)
def test_summary_lines(because: str | None, no_scheduler: str | None, lines: list[str]) -> None:
    assert summary_lines(Tally(run=3, skipped=1), because, no_scheduler) == lines


def test_a_run_without_any_binaries_skips_and_says_so_in_capitals(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            ONE_TEST,
        ],
        cwd=ROOT,
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "cluster tests: 0 run, 1 skipped" in done.stdout
    assert (
        "CLUSTER TESTS DID NOT RUN: KUBEBUILDER_ASSETS is not set; PATH has no etcd" in done.stdout
    )
    assert "no `go` on PATH" in done.stdout
