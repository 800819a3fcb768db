"""Pydantic's errors in the words of whoever wrote the policy file."""

import re
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from policies.document.documents import HybridPolicy
from policies.document.mistakes import FieldPath
from policies.document.names import shown
from policies.document.spelling import did_you_mean
from policies.raw import type_name

# How pydantic marks an error in a map's key; the key itself stands before it.
KEY_MARK = "[key]"
EXPECTED_TYPES = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
TEMPLATES = {
    "missing": "is missing",
    "too_short": "is empty: it needs an entry",
    "greater_than_equal": "is {input}: must be {ge} or more",
    "less_than_equal": "is {input}: must be {le} or less",
}


def shape_findings(error: ValidationError) -> list[tuple[FieldPath, str]]:
    """Every error as (path, message)."""
    return [
        (_path(details), _message(details))
        for details in error.errors(include_url=False)
        # Entries that are wrong are not counted; they have their own messages.
        if details["type"] != "too_short" or not details["input"]
    ]


def _path(details: ErrorDetails) -> FieldPath:
    return tuple(part for part in details["loc"] if part != KEY_MARK)


def _message(details: ErrorDetails) -> str:
    value = details["input"]
    limits = details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            return f"there is no such field{_field_hint(_path(details))}"
        case "value_error":
            return str(limits["error"])
        case "literal_error":
            return _choice(value, re.findall(r"'([^']*)'", limits["expected"]))
        case name if name in TEMPLATES:
            return TEMPLATES[name].format(input=value, **limits)
        case name if name in EXPECTED_TYPES:
            return _wrong_type(value, EXPECTED_TYPES[name])
        case _:
            return details["msg"]


def _choice(value: object, allowed: list[str]) -> str:
    words = [word for word in allowed if word]
    choice = (
        f"must be {', '.join(words[:-1])} or {words[-1]}" if words[1:] else f"must be {words[0]}"
    )
    if value is False and "Off" in allowed:
        return 'is the boolean false, which YAML makes of Off: write "Off" in quotes'
    if not isinstance(value, str):
        return f"is {type_name(value)}: {choice}"
    return f"is {shown(value)}: {choice}{did_you_mean(value, words)}"


def _wrong_type(value: object, expected: str) -> str:
    quote = expected == "a string" and isinstance(value, bool | int | float)
    hint = ": write it in quotes" if quote else ""
    if value is None:
        hint = ': write "" for an empty one' if expected == "a string" else ": take it out"
    return f"must be {expected}, is {type_name(value)}{hint}"


def _field_hint(path: FieldPath) -> str:
    """The field of the same section that was probably meant, else all there are."""
    fields = _fields_at(path[:-1])
    return did_you_mean(str(path[-1]), fields) or f"; there are {', '.join(fields)}"


def _fields_at(path: FieldPath) -> list[str]:
    model: type[BaseModel] = HybridPolicy
    for part in path:
        for field in model.model_fields.values():
            if field.alias == part:
                model = _model_in(field.annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model that a field's type is or lists."""
    candidates = (annotation, *get_args(annotation))
    for candidate in candidates:
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None
