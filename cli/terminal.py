"""How to write for whoever reads: width, colour and harmless text.

Colour and wrapping are for terminals; what goes into a pipe or a log stays plain, one thing on a line.
"""

import os
import re
import textwrap
from dataclasses import dataclass
from typing import TextIO

UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
MIN_WIDTH, MAX_WIDTH = 40, 140

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"


@dataclass(frozen=True, slots=True)
class Terminal:
    """`width` in columns, 0 = do not wrap."""

    width: int = 0
    has_colour: bool = False

    def paint(self, text: str, *codes: str) -> str:
        """The text in these colours, where colours are wanted."""
        if not self.has_colour or not text:
            return text
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"

    def wrap(self, text: str, indent: str, first: str | None = None) -> str:
        """The text within the width, every line indented; `first` begins the first line instead."""
        start = indent if first is None else first
        if not self.width:
            return start + text
        width = max(self.width, len(indent) + 20)
        lines = textwrap.wrap(
            text,
            width,
            initial_indent=start,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return "\n".join(lines) or start.rstrip()


def terminal_of(stream: TextIO | None) -> Terminal:
    """What the stream is, None = closed: COLUMNS and NO_COLOR (no-color.org) count, and TERM=dumb."""
    if stream is None or not stream.isatty():
        return Terminal()
    environment = os.environ
    wants_colour = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return Terminal(_width(stream), has_colour=wants_colour)


def _width(stream: TextIO) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        width = int(columns)
    else:
        try:
            width = os.get_terminal_size(stream.fileno()).columns
        except OSError:
            width = 0
    return min(max(width or 80, MIN_WIDTH), MAX_WIDTH)


def printable(text: str) -> str:
    """The text with control characters written out: a manifest must not steer a terminal."""
    return UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)
