"""Where a fault of ours inside one rule ends: it is counted, and the other rules go on."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from policies.errors import MalformedError
from policies.facts import RuleFailure

T = TypeVar("T")


def guarded(rule_id: str, judge: Callable[[], Iterable[T]], failures: list[RuleFailure]) -> list[T]:
    """All that `judge` yields; nothing, and one more failure, when it raises.

    MalformedError is the document's fault, not the rule's, and is passed on.
    """
    try:
        return list(judge())
    except MalformedError:
        raise
    except Exception as error:  # noqa: BLE001 - the outermost handler of a rule
        failures.append(RuleFailure(rule_id, f"{type(error).__name__}: {error}"))
        return []
