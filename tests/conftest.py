"""The line about the cluster tests at the end of every run, whichever tests were chosen."""

import pytest

from tests.cluster.tally import (
    CLUSTER_TESTS,
    NO_KUBELET_BECAUSE,
    NO_SCHEDULER_BECAUSE,
    UNAVAILABLE_BECAUSE,
    count,
    summary_lines,
)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep which of the chosen tests are cluster tests."""
    session.config.stash[CLUSTER_TESTS] = frozenset(
        item.nodeid for item in session.items if item.get_closest_marker("cluster")
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many cluster tests ran, and in capitals when they could not."""
    reports = [
        report
        for kind in ("passed", "failed", "error", "skipped")
        for report in terminalreporter.getreports(kind)
        if isinstance(report, pytest.TestReport)
    ]
    tally = count(config.stash.get(CLUSTER_TESTS, ()), reports)
    because = config.stash.get(UNAVAILABLE_BECAUSE, None)
    no_scheduler = config.stash.get(NO_SCHEDULER_BECAUSE, None)
    no_kubelet = config.stash.get(NO_KUBELET_BECAUSE, None)
    is_short = any(reason is not None for reason in (because, no_scheduler, no_kubelet))
    for line in summary_lines(tally, because, no_scheduler, no_kubelet):
        terminalreporter.write_line(line, bold=True, red=is_short)
