"""The annotation `container-multiple-gpu`: how many cards each entry of `spec.containers` gets.

Source: the public scheduler code. Parts are strict integers as Go's strconv.Atoi takes them: a sign and
leading zeros pass, spaces, empty parts and fractions do not.
"""

import re

from policies.raw import short_text

INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class CardCountError(ValueError):
    """A part of the list is not an integer; the message names it."""


def parse_card_counts(text: str) -> tuple[int, ...]:
    """The counts in order. Raises CardCountError."""
    parts = text.split(",")
    for position, part in enumerate(parts, start=1):
        if not INTEGER.fullmatch(part):
            raise CardCountError(f'part {position}, "{short_text(part)}", is not an integer')
    return tuple(int(part) for part in parts)
