"""Waiting for what the API server does a moment later, such as calling a newly registered webhook.

Every wait is bounded and polls the state itself; nothing relies on a guess of how long it takes.
"""

import time
from collections.abc import Callable

POLL_SECONDS = 0.05


def eventually(is_so: Callable[[], bool], what: str, *, limit_seconds: float = 20) -> None:
    """Return as soon as `is_so()`; after the limit, fail the test with `what` was waited for."""
    deadline = time.monotonic() + limit_seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not within {limit_seconds:g} s: {what}"
        time.sleep(POLL_SECONDS)


def throughout(is_so: Callable[[], bool], what: str, *, seconds: float) -> None:
    """Return after so long; fail the test as soon as it is not so."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert is_so(), f"not all the time: {what}"
        time.sleep(POLL_SECONDS)
