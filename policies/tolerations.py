"""Taints and tolerations, matched as kube-scheduler matches them.

Source: `Toleration.ToleratesTaint` of k8s.io/api v0.36. The operators Gt and Lt stand behind the
feature gate TaintTolerationComparisonOperators (alpha, off by default in 1.35 and 1.36). Where it
is off the API server refuses pods that use them, so here they always count.
"""

from dataclasses import dataclass

from policies.errors import MalformedError
from policies.node_selector import parse_int64
from policies.raw import JsonObject, objects_at, string_at, type_name

EXISTS = "Exists"
EQUAL = "Equal"
NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a pod; `seconds` is `tolerationSeconds`, None for ever (NoExecute only)."""

    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration tolerates a taint, for however short a time."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    return _tolerates_value(toleration, taint.value)


def covers(existing: Toleration, wanted: Toleration) -> bool:
    """Whether `existing` tolerates every taint that `wanted` does, and for as long."""
    if existing.effect and existing.effect != wanted.effect:
        return False
    if existing.key and existing.key != wanted.key:
        return False
    return _covers_values(existing, wanted) and _lasts_as_long(existing, wanted)


def parse_tolerations(raw: object, path: str) -> tuple[Toleration, ...]:
    """The tolerations of a decoded list, at `path`; null is none.

    Raises MalformedError when a field has the wrong JSON type.
    """
    return tuple(
        Toleration(
            key=string_at(entry, "key", where := f"{path}[{index}]"),
            operator=string_at(entry, "operator", where),
            value=string_at(entry, "value", where),
            effect=string_at(entry, "effect", where),
            seconds=_parse_seconds(entry, where),
        )
        for index, entry in enumerate(objects_at({path: raw}, path, ""))
    )


def parse_taints(raw: object, path: str) -> tuple[Taint, ...]:
    """The taints of a decoded list, at `path`; null is none.

    Raises MalformedError when a field has the wrong JSON type.
    """
    return tuple(
        Taint(
            key=string_at(entry, "key", where := f"{path}[{index}]"),
            value=string_at(entry, "value", where),
            effect=string_at(entry, "effect", where),
        )
        for index, entry in enumerate(objects_at({path: raw}, path, ""))
    )


def _tolerates_value(toleration: Toleration, value: str) -> bool:
    match toleration.operator:
        case "Exists":
            return True
        case "" | "Equal":
            return toleration.value == value
        case "Gt" | "Lt":
            bound, number = _decimal_integer(toleration.value), _decimal_integer(value)
            if bound is None or number is None:
                return False
            return number > bound if toleration.operator == "Gt" else number < bound
        case _:
            return False


def _covers_values(existing: Toleration, wanted: Toleration) -> bool:
    if existing.operator == EXISTS:
        return True
    if wanted.operator in {"", EQUAL}:
        return _tolerates_value(existing, wanted.value)
    if existing.operator != wanted.operator or wanted.operator not in {"Gt", "Lt"}:
        return False
    # Two open ranges of the same direction: the same bound, or one that the range holds.
    return existing.value == wanted.value or _tolerates_value(existing, wanted.value)


def _lasts_as_long(existing: Toleration, wanted: Toleration) -> bool:
    if wanted.effect not in {"", NO_EXECUTE} or existing.seconds is None:
        return True
    return wanted.seconds is not None and existing.seconds >= wanted.seconds


def _decimal_integer(text: str) -> int | None:
    """An int64 in its only spelling: no plus sign, no leading zeros, no `-0`."""
    number = parse_int64(text)
    return number if number is not None and str(number) == text else None


def _parse_seconds(entry: JsonObject, path: str) -> int | None:
    seconds = entry.get("tolerationSeconds")
    if seconds is None:
        return None
    where = f"{path}.tolerationSeconds"
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise MalformedError(where, f"must be a whole number, is {type_name(seconds)}")
    if isinstance(seconds, float) or not -(2**63) <= seconds < 2**63:
        raise MalformedError(where, "must be a whole number of 64 bits")
    return seconds
