"""What a plain YAML scalar means to Kubernetes.

kubectl and the API server read YAML 1.1 by go-yaml v2, turned into JSON. PyYAML's own rules differ:
it makes dates of timestamps and numbers of `1:30`, and leaves `1e3`, `y` and `0o17` as strings. Here
the same text becomes the same JSON value as in a cluster. Source: `resolve.go` of go-yaml v2.4.
"""

import re
from functools import lru_cache

JsonScalar = str | int | float | bool | None

TRUE = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
FALSE = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
NAMED: dict[str, JsonScalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(TRUE, True),
    **dict.fromkeys(FALSE, False),
}
INFINITE = (".inf", ".Inf", ".INF")
NOT_JSON = frozenset(
    (".nan", ".NaN", ".NAN", *(sign + text for text in INFINITE for sign in ("", "+", "-")))
)
"""Texts that are numbers in YAML and have no form in JSON."""
FIRST_OF_NUMBER = frozenset("0123456789+-.")
DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
BASED = re.compile(r"[-+]?0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO]?[0-7]+)")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
MAX_DIGITS = 400
"""No number of 64 bits is longer, in any base; longer texts are strings."""


@lru_cache(maxsize=4096)  # manifests repeat themselves
def resolve_plain(text: str) -> JsonScalar:
    """The JSON value of an unquoted scalar; the text itself when it is a string.

    Raises ValueError for infinities and NaN, which JSON cannot say.
    """
    if text in NAMED:
        return NAMED[text]
    if text[0] not in FIRST_OF_NUMBER:
        return text
    if text in NOT_JSON:
        raise ValueError(f"{text} has no form in JSON: write a number, or quote it")
    return _number(text)


def _number(text: str) -> JsonScalar:
    if len(text) > MAX_DIGITS:
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    if DECIMAL.fullmatch(digits):
        number = int(digits)
        return number if -(2**63) <= number < 2**64 else _finite(digits, text)
    if BASED.fullmatch(digits):
        return _based(digits, text)
    return _finite(digits, text) if FLOAT.fullmatch(digits) else text


def _based(digits: str, text: str) -> JsonScalar:
    """Hexadecimal, binary and octal; a leading 0 alone means octal."""
    sign = -1 if digits[0] == "-" else 1
    body = digits.lstrip("+-")
    base = {"x": 16, "b": 2, "o": 8}.get(body[1].lower())
    number = sign * (int(body[2:], base) if base else int(body, 8))
    return number if -(2**63) <= number < 2**64 else text


def _finite(digits: str, text: str) -> JsonScalar:
    number = float(digits)
    return text if number in (float("inf"), float("-inf")) else number
