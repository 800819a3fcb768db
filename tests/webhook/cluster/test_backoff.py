"""Pauses between tries."""

import pytest

from webhook.cluster.backoff import Backoff


@pytest.mark.parametrize(
    ("jitter", "pauses"),
    [
        pytest.param(0.0, [1.0] * 7, id="least"),
        pytest.param(1.0, [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0], id="most"),
        pytest.param(0.5, [1.0, 1.5, 2.5, 4.5, 8.5, 15.5, 15.5], id="between"),
    ],
)
def test_pauses_grow_within_their_bounds(jitter: float, pauses: list[float]) -> None:
    backoff = Backoff(lambda: jitter)
    assert [backoff.fail() for _ in pauses] == pauses


def test_a_success_begins_anew() -> None:
    backoff = Backoff(lambda: 1.0)
    backoff.fail()
    backoff.fail()
    backoff.succeed()
    assert backoff.fail() == 1.0


def test_very_many_failures_are_no_overflow() -> None:
    backoff = Backoff(lambda: 1.0)
    assert [backoff.fail() for _ in range(2000)][-1] == 30.0


@pytest.mark.parametrize(
    ("asked", "pause"),
    [(None, 1.0), (0.0, 1.0), (0.5, 1.0), (45.0, 45.0), (120.0, 120.0), (86400.0, 120.0)],
)
def test_a_pause_that_the_server_asks_for(asked: float | None, pause: float) -> None:
    assert Backoff(lambda: 1.0).fail(asked) == pause
