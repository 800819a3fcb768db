"""How fast nodes are written, as a token bucket without a clock of its own.

A policy that changes can concern every node at once. 20 writes a second are well below what an API
server gives one client and below what 10 000 kubelets cause with their heartbeats; 10 000 nodes then
take eight minutes. A burst of 50 lets everyday changes through at once: a new pool, a driver upgrade.
"""

WRITES_PER_SECOND = 20.0
BURST_WRITES = 50


class TokenBucket:
    """Gives `per_second` tokens a second, and at most `burst` at once. It begins full."""

    def __init__(
        self,
        now_seconds: float,
        per_second: float = WRITES_PER_SECOND,
        burst: int = BURST_WRITES,
    ) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._tokens = float(burst)
        self._filled_seconds = now_seconds

    def take(self, now_seconds: float) -> float:
        """Take one token: 0 when there was one, else the seconds until there is, and none is taken.

        `now_seconds` is of a steady clock; one that runs backwards gives nothing.
        """
        elapsed = max(0.0, now_seconds - self._filled_seconds)
        self._filled_seconds = max(now_seconds, self._filled_seconds)
        self._tokens = min(self._burst, self._tokens + elapsed * self._per_second)
        if self._tokens >= 1.0:
            self._tokens -= 1.0
            return 0.0
        return (1.0 - self._tokens) / self._per_second
