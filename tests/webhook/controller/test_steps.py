"""Work that is repeated, and what happens when it fails."""

import logging
from collections.abc import Iterator

import pytest

from tests.webhook.controller.fake_api import FakeApi
from webhook.cluster.errors import ClusterSettingsError, ClusterUnavailableError, status_error
from webhook.controller.object_api import ObjectApi
from webhook.controller.steps import Steps

LONGEST_SECONDS = 2.0


class Work:
    """Answers with the next of these: seconds, or an error that it raises."""

    def __init__(self, *outcomes: float | Exception) -> None:
        self._outcomes: Iterator[float | Exception] = iter(outcomes)
        self.connected = 0

    def connect(self) -> FakeApi:
        self.connected += 1
        return FakeApi()

    def __call__(self, _api: ObjectApi) -> float:
        outcome = next(self._outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def steps_of(work: Work) -> Steps:
    return Steps("work", work, work.connect, LONGEST_SECONDS)


def test_the_work_says_when_it_is_due_again() -> None:
    work = Work(0.25, 7.0)
    steps = steps_of(work)
    assert [steps.step(), steps.step()] == [0.25, 7.0]
    assert work.connected == 1


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ClusterUnavailableError("no answer"), id="no answer"),
        pytest.param(status_error("GET", 429, {}, 60.0), id="asked to wait for long"),
        pytest.param(ZeroDivisionError(), id="a fault of ours"),
    ],
)
def test_a_failure_is_waited_out_but_not_for_long(error: Exception) -> None:
    work = Work(*[error] * 8, 0.25)
    steps = steps_of(work)
    pauses = [steps.step() for _ in range(8)]
    assert all(1.0 <= pause <= LONGEST_SECONDS for pause in pauses)
    assert steps.step() == 0.25


def test_each_kind_of_trouble_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    forbidden = [status_error(f"PATCH /api/v1/nodes/{name}", 403, {}) for name in "abc"]
    steps = steps_of(Work(*forbidden, ClusterUnavailableError("no answer"), 0.25, 0.25))
    for _ in range(6):
        steps.step()
    assert [record.getMessage() for record in caplog.records] == [
        "work waits",
        "work waits",
        "work goes on",
    ]
    fields = caplog.records[0].__dict__["fields"]
    assert fields["because"].startswith("PATCH /api/v1/nodes/a: 403 Forbidden")
    assert "grant this verb" in fields["because"]


def test_who_is_not_known_any_more_connects_anew() -> None:
    work = Work(status_error("GET", 401, {}), 0.25)
    steps = steps_of(work)
    steps.step()
    steps.step()
    assert work.connected == 2


def test_a_connection_that_cannot_be_made_is_tried_again() -> None:
    work = Work(0.25)
    ways = iter([ClusterSettingsError("no such file")])

    def connect() -> FakeApi:
        for error in ways:
            raise error
        return work.connect()

    steps = Steps("work", work, connect, LONGEST_SECONDS)
    assert steps.step() >= 1.0
    assert steps.step() == 0.25
