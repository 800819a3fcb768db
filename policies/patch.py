"""Edits of a pod as data: what a mutation wants, and the RFC 6902 operations that say it."""

from dataclasses import dataclass, field
from enum import StrEnum

JsonValue = object


class Op(StrEnum):
    """The RFC 6902 operations that mutations use."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Change:
    """One operation, and why it is made.

    `path` holds the unescaped reference tokens below the pod, such as ("spec", "tolerations", "-").
    `warning` is empty, or says which of the user's own values is replaced.
    """

    op: Op
    path: tuple[str, ...]
    reason: str
    value: JsonValue = None
    warning: str = ""

    def operation(self) -> dict[str, JsonValue]:
        """The RFC 6902 operation."""
        pointer = "".join("/" + escape(token) for token in self.path)
        if self.op is Op.REMOVE:
            return {"op": self.op.value, "path": pointer}
        return {"op": self.op.value, "path": pointer, "value": self.value}


@dataclass(frozen=True, slots=True)
class Mutation:
    """All changes to one pod, in the order in which they apply."""

    changes: tuple[Change, ...] = field(default=())

    @property
    def patch(self) -> list[dict[str, JsonValue]]:
        """The JSON patch; empty when nothing is to be done."""
        return [change.operation() for change in self.changes]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of replaced values."""
        return tuple(change.warning for change in self.changes if change.warning)


def escape(token: str) -> str:
    """A reference token as RFC 6901 writes it."""
    return token.replace("~", "~0").replace("/", "~1")
