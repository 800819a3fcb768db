"""What the end of every test run says about the cluster tests, so that nobody takes a run
without them for a whole one."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import pytest

CLUSTER_TESTS = pytest.StashKey[Collection[str]]()
UNAVAILABLE_BECAUSE = pytest.StashKey[str]()
NO_SCHEDULER_BECAUSE = pytest.StashKey[str]()
NO_KUBELET_BECAUSE = pytest.StashKey[str]()


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of cluster tests that ran (passed or not) and that were skipped.

    One whose fixtures failed did neither; it is among pytest's errors.
    """

    run: int
    skipped: int


def count(cluster_tests: Collection[str], reports: Iterable[pytest.TestReport]) -> Tally:
    """Count the cluster tests among a session's reports, of which a test has up to three."""
    ours = [report for report in reports if report.nodeid in cluster_tests]
    skipped = {report.nodeid for report in ours if report.skipped}
    called = {report.nodeid for report in ours if report.when == "call"}
    return Tally(run=len(called - skipped), skipped=len(skipped))


def summary_lines(
    tally: Tally,
    unavailable_because: str | None,
    no_scheduler_because: str | None = None,
    no_kubelet_because: str | None = None,
) -> list[str]:
    """The lines for the terminal; a reason is given when there was nothing to run on."""
    lines = [f"cluster tests: {tally.run} run, {tally.skipped} skipped"]
    if unavailable_because is not None:
        lines.append(f"CLUSTER TESTS DID NOT RUN: {unavailable_because}")
    if no_scheduler_because is not None:
        lines.append(f"SCHEDULER TESTS DID NOT RUN: {no_scheduler_because}")
    if no_kubelet_because is not None:
        lines.append(f"KUBELET TESTS DID NOT RUN: {no_kubelet_because}")
    return lines
