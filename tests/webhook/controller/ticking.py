"""A steady clock and a wall clock that tests move."""

from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Clock:
    """`steady` is in seconds; `wall_jump_seconds` moves only the wall clock."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.wall_jump_seconds = 0.0

    def steady(self) -> float:
        return self.seconds

    def wall(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds + self.wall_jump_seconds)
