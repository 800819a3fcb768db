"""How old the live nodes are, and how that is told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Freshness:
    """The age of the live nodes. Times are of a steady clock, in seconds."""

    is_synced: bool
    heard_seconds: float
    """When the API server was heard last; before that, when the process began to ask."""
    trouble: str
    """Why it is not heard at the moment, "" when it is."""

    def age_seconds(self, now_seconds: float) -> float:
        """Seconds since the API server was heard."""
        return max(0.0, now_seconds - self.heard_seconds)

    def missing(self) -> str:
        """What `/readyz` says before the first whole list, "" after it."""
        if self.is_synced:
            return ""
        return f"node snapshot: not synced yet{_because(self.trouble)}"

    def stale(self, now_seconds: float, stale_after_seconds: float) -> str:
        """What `/readyz` says of nodes that are too old, "" while they are not."""
        age = self.age_seconds(now_seconds)
        if not self.is_synced or age <= stale_after_seconds:
            return ""
        return (
            f"node snapshot: {age:.0f} s old, the last one counts on"
            f"{_because(self.trouble or 'nothing comes from the API server')}"
        )


def _because(trouble: str) -> str:
    return f": {trouble}" if trouble else ""
