"""JSON text to decoded JSON: one value, or several one after another, with their lines.

The standard decoder does it, in C, because it can refuse what Kubernetes' strict decoding refuses:
a key that is there twice. orjson would silently keep the last. Numbers come out as the API server
has them: whole numbers beyond 64 bits are floats, and what no float holds is refused.
"""

import json
import re
from collections.abc import Iterator

import orjson

from policies.manifest.manifest_error import ManifestError

SPACE = re.compile(r"[ \t\n\r]*")
COMMA = re.compile(r"[ \t\n\r]*,?[ \t\n\r]*")


class JsonDocument:
    """One value of a stream, which begins at the offset `start`."""

    __slots__ = ("line", "start", "text", "value")

    def __init__(self, text: str, start: int, line: int, value: object) -> None:
        self.text = text
        self.start = start
        self.line = line
        self.value = value

    def item_lines(self, key: str) -> list[int]:
        """The lines of the entries of the list under `key` of the top object."""
        position = self._list_start(key)
        if position < 0:
            return []
        lines: list[int] = []
        line, counted = self.line, self.start
        position = _skip(self.text, position + 1)
        while self.text[position] != "]":
            line += self.text.count("\n", counted, position)
            counted = position
            lines.append(line)
            position = _skip(self.text, PLAIN.raw_decode(self.text, position)[1], COMMA)
        return lines

    def _list_start(self, key: str) -> int:
        """The offset of the `[` of that list, -1 without one."""
        if not isinstance(self.value, dict) or not isinstance(self.value.get(key), list):
            return -1
        position = _skip(self.text, self.start + 1)
        while True:
            name, position = PLAIN.raw_decode(self.text, position)
            position = _skip(self.text, _skip(self.text, position) + 1)
            if name == key:
                return position
            position = _skip(self.text, PLAIN.raw_decode(self.text, position)[1], COMMA)


class DuplicateKeyError(ValueError):
    """An object has a key twice; the decoder does not say where."""


def json_documents(text: str, source: str) -> Iterator[JsonDocument]:
    """The values in `text`. Raises ManifestError or DuplicateKeyError at the first mistake."""
    line, counted = 1, 0
    position = _skip(text, 0)
    while position < len(text):
        line += text.count("\n", counted, position)
        counted = position
        try:
            value, position = STRICT.raw_decode(text, position)
            orjson.dumps(value)  # refuses lone surrogates, and nesting that recursion cannot follow
        except json.JSONDecodeError as error:
            raise ManifestError(source, error.lineno, f"is not JSON: {_reason(error)}") from error
        except (RecursionError, orjson.JSONEncodeError) as error:
            raise ManifestError(source, line, f"is not usable JSON: {_unusable(error)}") from error
        except OverflowError as error:
            raise ManifestError(source, line, f"is not usable JSON: {error}") from error
        yield JsonDocument(text, counted, line, value)
        position = _skip(text, position)


def _reason(error: json.JSONDecodeError) -> str:
    return f"{error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"


def _unusable(error: Exception) -> str:
    if isinstance(error, RecursionError) or "ecursion" in str(error):
        return "nested too deeply"
    return "a string holds half of a surrogate pair"


def _skip(text: str, position: int, pattern: re.Pattern[str] = SPACE) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DuplicateKeyError(f"the key {twice!r} is there twice")
    return result


def _whole(digits: str) -> int | float:
    if len(digits) < 19:
        return int(digits)
    if len(digits) > 310:
        raise OverflowError(f"the number {digits[:20]}... is too large")
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else float(number)


def _fraction(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise OverflowError(f"the number {digits[:20]} is too large")
    return number


def _constant(name: str) -> object:
    raise OverflowError(f"{name} has no form in JSON: write a number or a string")


PLAIN = json.JSONDecoder()
STRICT = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_fraction, parse_constant=_constant
)
