"""Node selector terms, matched as kube-scheduler matches them.

Source: nodeaffinity of k8s.io/component-helpers and labels of k8s.io/apimachinery, v0.36. What the
scheduler cannot parse there (an unknown operator, a value that no label can have) matches no node,
even under NotIn, so it is checked here too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policies.errors import MalformedError
from policies.raw import JsonObject, list_at, objects_at, string_at, type_name

NODE_NAME_FIELD = "metadata.name"
MAX_NAME_LENGTH = 63
MAX_PREFIX_LENGTH = 253
LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
DNS_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One entry of `matchExpressions` or `matchFields`."""

    key: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SelectorTerm:
    """One entry of `nodeSelectorTerms`: all its requirements hold, or it does not match."""

    expressions: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]


def matches_terms(terms: Sequence[SelectorTerm], labels: Mapping[str, str], node_name: str) -> bool:
    """Whether any term matches the node; no terms match no node."""
    return any(matches_term(term, labels, node_name) for term in terms)


def matches_term(term: SelectorTerm, labels: Mapping[str, str], node_name: str) -> bool:
    """Whether every requirement of a term holds; an empty term matches no node."""
    if not term.expressions and not term.fields:
        return False
    for requirement in term.expressions:
        if not matches_requirement(requirement, labels):
            return False
    return all(_matches_field(requirement, node_name) for requirement in term.fields)


def matches_requirement(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Whether a label requirement holds; an invalid one never does."""
    if not is_valid(requirement):
        return False
    present = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return present in requirement.values
        case "NotIn":
            return present not in requirement.values
        case "Exists":
            return present is not None
        case "DoesNotExist":
            return present is None
        case _:
            return _compares(requirement, present)


def is_label_key(text: str) -> bool:
    """Whether a text is a label's key: a name of up to 63 characters, perhaps after `prefix/`."""
    prefix, slash, name = text.rpartition("/")
    if slash and not (
        len(prefix) <= MAX_PREFIX_LENGTH and DNS_SUBDOMAIN.fullmatch(prefix) is not None
    ):
        return False
    return len(name) <= MAX_NAME_LENGTH and LABEL_NAME.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """Whether a text is a label's value: empty, or up to 63 characters of a name."""
    if len(text) > MAX_NAME_LENGTH:
        return False
    return not text or LABEL_NAME.fullmatch(text) is not None


def parse_int64(text: str) -> int | None:
    """The number that Go's `strconv.ParseInt(text, 10, 64)` reads; None where it fails.

    A text longer than a label's value is None too: it bounds the work, and no label has it.
    """
    digits = text[1:] if text[:1] in {"+", "-"} else text
    if len(text) > MAX_NAME_LENGTH or not (digits.isascii() and digits.isdigit()):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def parse_terms(raw: object, path: str) -> tuple[SelectorTerm, ...]:
    """The terms of a decoded `nodeSelectorTerms` list, at `path`; null is none.

    Raises MalformedError when a field has the wrong JSON type.
    """
    return tuple(
        SelectorTerm(
            expressions=_parse_requirements(term, "matchExpressions", f"{path}[{index}]"),
            fields=_parse_requirements(term, "matchFields", f"{path}[{index}]"),
        )
        for index, term in enumerate(objects_at({path: raw}, path, ""))
    )


def is_valid(requirement: Requirement) -> bool:
    """Whether the scheduler takes a label requirement; one that it does not take matches nothing."""
    values = requirement.values
    match requirement.operator:
        case "In" | "NotIn":
            fits = len(values) > 0
        case "Exists" | "DoesNotExist":
            fits = not values
        case "Gt" | "Lt":
            fits = len(values) == 1 and parse_int64(values[0]) is not None
        case _:
            fits = False
    return fits and is_label_key(requirement.key) and all(map(is_label_value, values))


def _compares(requirement: Requirement, present: str | None) -> bool:
    """Gt or Lt; the requirement is valid."""
    label = parse_int64(present) if present is not None else None
    if label is None:
        return False
    bound = int(requirement.values[0])
    return label > bound if requirement.operator == "Gt" else label < bound


def _matches_field(requirement: Requirement, node_name: str) -> bool:
    if requirement.key != NODE_NAME_FIELD or len(requirement.values) != 1:
        return False
    match requirement.operator:
        case "In":
            return requirement.values[0] == node_name
        case "NotIn":
            return requirement.values[0] != node_name
        case _:
            return False


def _parse_requirements(term: JsonObject, key: str, path: str) -> tuple[Requirement, ...]:
    requirements = objects_at(term, key, path)
    if not requirements:
        return ()
    return tuple(
        Requirement(
            key=string_at(requirement, "key", where := f"{path}.{key}[{index}]"),
            operator=string_at(requirement, "operator", where),
            values=_parse_values(requirement, where),
        )
        for index, requirement in enumerate(requirements)
    )


def _parse_values(requirement: JsonObject, path: str) -> tuple[str, ...]:
    values: list[str] = []
    for index, value in enumerate(list_at(requirement, "values", path)):
        if not isinstance(value, str | None):
            where = f"{path}.values[{index}]"
            raise MalformedError(where, f"must be a string, is {type_name(value)}: quote it")
        values.append(value or "")
    return tuple(values)
