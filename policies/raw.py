"""Decoded JSON as the core sees it, and how to narrow it.

The core never models a whole pod: unknown fields must survive and an admission request must be cheap.
It narrows just what it reads. Null is absent everywhere, as in the API server; a wrong type is a
`MalformedError` that names the path.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from policies.errors import MalformedError

JsonObject = Mapping[str, object]
EMPTY: JsonObject = {}
MAX_SHOWN_CHARACTERS = 64
MAX_SHOWN_BITS = 64
"""Python writes no integer of very many digits, and no person reads one."""
TYPE_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}


def type_name(value: object) -> str:
    """What JSON calls the type of a value, with its article, for messages."""
    return TYPE_NAMES.get(type(value), "null" if value is None else "a number")


def short_text(value: object) -> str:
    """A value in a message, cut where it is long; lists and objects, of any depth, only by their type."""
    if isinstance(value, str):
        return value if len(value) <= MAX_SHOWN_CHARACTERS else value[:MAX_SHOWN_CHARACTERS] + "…"
    if isinstance(value, int) and value.bit_length() > MAX_SHOWN_BITS:
        return "a number beyond 64 bits"
    return type_name(value) if isinstance(value, dict | list | None) else str(value)


def object_at(parent: JsonObject, key: str, path: str) -> JsonObject:
    """The object under `key`, empty when absent or null. Raises MalformedError for another type."""
    value = parent.get(key)
    if value is None:
        return EMPTY
    if isinstance(value, dict):
        return value
    raise MalformedError(join(path, key), f"must be an object, is {type_name(value)}")


def list_at(parent: JsonObject, key: str, path: str) -> Sequence[object]:
    """The list under `key`, empty when absent or null. Raises MalformedError for another type."""
    value = parent.get(key)
    if value is None:
        return ()
    if isinstance(value, list):
        return value
    raise MalformedError(join(path, key), f"must be a list, is {type_name(value)}")


def objects_at(parent: JsonObject, key: str, path: str) -> list[JsonObject]:
    """The list of objects under `key`; a null entry is an empty object, as the API server decodes it.

    Raises MalformedError when an entry is something else.
    """
    objects: list[JsonObject] = []
    for index, entry in enumerate(list_at(parent, key, path)):
        if entry is None:
            objects.append(EMPTY)
            continue
        if not isinstance(entry, dict):
            where = f"{join(path, key)}[{index}]"
            raise MalformedError(where, f"must be an object, is {type_name(entry)}")
        objects.append(entry)
    return objects


def string_at(parent: JsonObject, key: str, path: str) -> str:
    """The string under `key`, empty when absent or null. Raises MalformedError for another type."""
    value = parent.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise MalformedError(join(path, key), f"must be a string, is {type_name(value)}: quote it")


def strings_at(parent: JsonObject, key: str, path: str) -> Mapping[str, str]:
    """A map of strings (labels, annotations); a null value is "", as the API server decodes it.

    Raises MalformedError when a value is something else.
    """
    values = object_at(parent, key, path)
    for value in values.values():
        if not isinstance(value, str):
            where = join(path, key)
            return {name: string_at(values, name, where) for name in values}
    return cast("Mapping[str, str]", values)


def join(path: str, key: str) -> str:
    """`path.key`, or the key alone at the top."""
    return f"{path}.{key}" if path else key
