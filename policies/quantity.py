"""Kubernetes quantities, read as the API server reads them.

The grammar is `resource.ParseQuantity` of k8s.io/apimachinery v0.36, its oddities included: `1.`,
`.5`, `+` and a bare `k` are numbers there, `1K`, `1_000` and `NaN` are not. The official Python
client decides differently on many of these, so the cluster could refuse a file that it accepts.

Nothing in apimachinery is finer than one nano unit, so the value is one integer of nano units:
exact, ordered and hashable, and no exponent can make it large.
"""

import re
from dataclasses import dataclass

NANOS_PER_UNIT = 10**9
MAX_VALUE = 2**63 - 1
MAX_NANOS = MAX_VALUE * NANOS_PER_UNIT
MAX_TEXT_LENGTH = 1024
"""Bounds the work for one text. apimachinery has no limit, and no honest text comes near."""

DECIMAL_EXPONENTS = {
    "": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
# Possessive, so that a long text that does not match costs one pass.
NUMBER = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?+(.*+)", re.DOTALL)
EXPONENT = re.compile(r"[eE]([+-]?[0-9]++)")


class QuantityError(ValueError):
    """A value that Kubernetes does not accept as a quantity."""


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """An exact amount, in billionths of its unit, between -(2^63-1) and 2^63-1 units."""

    nanos: int

    @property
    def value(self) -> int:
        """The amount in whole units, a fraction rounded away from zero.

        `Quantity.Value()` agrees within its range, but for its long form of negative numbers, which
        it rounds the other way; no resource may be negative.
        """
        if self.nanos < 0:
            return self.nanos // NANOS_PER_UNIT
        return -(-self.nanos // NANOS_PER_UNIT)

    @property
    def is_whole(self) -> bool:
        """Whether the amount has no fraction."""
        return self.nanos % NANOS_PER_UNIT == 0


def parse_quantity(raw: object) -> Quantity:
    """The quantity in a decoded JSON or YAML value; null is zero, as in the API server.

    Numbers finer than nano are rounded away from zero, and larger than 2^63-1 are capped, as the
    API documents (apimachinery caps the binary suffixes alone and lets the others overflow).
    Raises QuantityError for any other type, and for a text that `resource.ParseQuantity` refuses.
    """
    if isinstance(raw, str):
        if len(raw) < 19 and raw.isascii() and raw.isdigit():
            return Quantity(int(raw) * NANOS_PER_UNIT)
        return Quantity(_nanos(raw))
    if raw is None:
        return Quantity(0)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        kind = "a boolean" if isinstance(raw, bool) else f"a {type(raw).__name__}"
        raise QuantityError(f"a quantity must be a string or a number, is {kind}")
    if isinstance(raw, int):
        return Quantity(max(-MAX_VALUE, min(MAX_VALUE, raw)) * NANOS_PER_UNIT)
    return Quantity(_nanos(repr(raw)))


def _nanos(text: str) -> int:
    if not text or len(text) > MAX_TEXT_LENGTH:
        raise _refusal(text)
    match = NUMBER.fullmatch(text)
    if match is None:
        raise _refusal(text)
    sign, whole, fraction, suffix = match.groups(default="")
    binary_exponent = BINARY_EXPONENTS.get(suffix, 0)
    exponent = 0 if binary_exponent else _decimal_exponent(suffix, text)
    digits = whole + fraction
    if not digits and (binary_exponent >= 50 or exponent < -9):
        raise _refusal(text)  # where apimachinery leaves its fast path, it wants a digit
    mantissa = int(digits or "0") << binary_exponent
    nanos = min(_scaled(mantissa, exponent - len(fraction) + 9), MAX_NANOS)
    return -nanos if sign == "-" else nanos


def _decimal_exponent(suffix: str, text: str) -> int:
    """The power of ten in a suffix. apimachinery keeps its lower 32 bits; so does this."""
    exponent = DECIMAL_EXPONENTS.get(suffix)
    if exponent is not None:
        return exponent
    match = EXPONENT.fullmatch(suffix)
    if match is None:
        raise _refusal(text)
    parsed = int(match[1])
    if not -(2**63) <= parsed < 2**63:
        raise _refusal(text)
    return (parsed + 2**31) % 2**32 - 2**31


def _scaled(mantissa: int, exponent: int) -> int:
    """A mantissa times 10^exponent, rounded up; MAX_NANOS for what is beyond it anyway."""
    if mantissa == 0:
        return 0
    if exponent >= 30:
        return MAX_NANOS
    if exponent < -2 * MAX_TEXT_LENGTH:
        return 1
    power: int = 10 ** abs(exponent)
    return mantissa * power if exponent >= 0 else -(-mantissa // power)


def _refusal(text: str) -> QuantityError:
    shown = repr(text) if len(text) <= 64 else f"{text[:64]!r}... ({len(text)} characters)"
    return QuantityError(
        f"{shown} is not a quantity: write a number, then nothing, one of "
        "n u m k M G T P E Ki Mi Gi Ti Pi Ei, or an exponent such as e3, without spaces"
    )
