"""How long to wait before the next try, longer after each failure, and never the same for all replicas."""

import random
from collections.abc import Callable

FIRST_SECONDS = 1.0
MAX_SECONDS = 30.0
MAX_ASKED_SECONDS = 120.0
"""The longest pause that is granted to a server that asks for one."""
MAX_DOUBLINGS = 10


class Backoff:
    """A series of failures; `jitter` gives numbers from 0 to 1."""

    def __init__(self, jitter: Callable[[], float] = random.random) -> None:
        self._jitter = jitter
        self._failures = 0

    def succeed(self) -> None:
        """End the series."""
        self._failures = 0

    def fail(self, asked_seconds: float | None = None) -> float:
        """The seconds to wait after one more failure: 1 to 30, or as long as the server asked."""
        longest = min(MAX_SECONDS, FIRST_SECONDS * 2.0 ** min(self._failures, MAX_DOUBLINGS))
        self._failures += 1
        pause = FIRST_SECONDS + (longest - FIRST_SECONDS) * self._jitter()
        return max(pause, min(asked_seconds or 0.0, MAX_ASKED_SECONDS))
