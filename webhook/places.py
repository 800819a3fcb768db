"""Who may stay when a port has all the connections that it may have.

Anybody who reaches a port can open connections and send nothing. Were the newcomer turned away, they
would shut out the API server and the kubelet; so the one that rests longest leaves instead, and a
newcomer is turned away only when every other connection is at work on a request.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)


class Places(Generic[C]):
    """The connections of one port, at most `limit`: those at work, and those at rest, longest first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._at_work: set[C] = set()
        self._at_rest: dict[C, None] = {}

    def enter(self, newcomer: C) -> C | None:
        """Take the newcomer, at rest; the connection that has to go for it, maybe itself, or None."""
        self._at_rest[newcomer] = None
        if len(self._at_work) + len(self._at_rest) <= self._limit:
            return None
        leaving = next(iter(self._at_rest))
        del self._at_rest[leaving]
        return leaving

    def work(self, connection: C) -> None:
        """It has a request now, so it does not have to go."""
        if connection in self._at_rest:
            del self._at_rest[connection]
            self._at_work.add(connection)

    def rest(self, connection: C) -> None:
        """It has been at work until now, or has just given a sign of life."""
        if connection in self._at_work or connection in self._at_rest:
            self.leave(connection)
            self._at_rest[connection] = None

    def leave(self, connection: C) -> None:
        """It is closed; also one that had to go may say so."""
        self._at_work.discard(connection)
        self._at_rest.pop(connection, None)
