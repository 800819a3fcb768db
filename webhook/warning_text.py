"""Warnings in the form that clients show whole.

The API server asks for at most 120 characters each, cuts a warning above 256 and drops what is over 4096
characters in all; a control character makes it drop the warning.
Source: the warnings section of Kubernetes' "Dynamic Admission Control".
"""

import re
import textwrap
from collections.abc import Iterable, Iterator

MAX_CHARACTERS = 120
MAX_PIECES = 4
MAX_TOTAL_CHARACTERS = 4096
_LABEL = re.compile(r"\[[a-z0-9-]{1,40}\] ")
_UNPRINTABLE = re.compile(r"[^ -~\u00a1-\ud7ff\ue000-\uffef\U00010000-\U0010ffff]+")
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MORE = "… more warnings are not shown"


def printable(text: str) -> str:
    """The text on one line, with what steers a terminal written out: values in it are a user's."""
    return _STEERING.sub(lambda match: ascii(match[0])[1:-1], text)


def split_warnings(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text as one to four warnings of at most 120 characters, as many as the API server keeps.

    A text that begins with `[rule-id] ` is continued by pieces that begin with `[rule-id] … `.
    """
    kept: list[str] = []
    left = MAX_TOTAL_CHARACTERS - len(_MORE)
    for text in texts:
        for piece in _pieces(text):
            left -= len(piece)
            if left < 0:
                return (*kept, _MORE)
            kept.append(piece)
    return tuple(kept)


def _pieces(text: str) -> Iterator[str]:
    line = _UNPRINTABLE.sub(" ", text).strip()
    if len(line) <= MAX_CHARACTERS:
        if line:
            yield line
        return
    label = _LABEL.match(line)
    yield from textwrap.wrap(
        line,
        MAX_CHARACTERS,
        subsequent_indent=f"{label.group() if label else ''}… ",
        max_lines=MAX_PIECES,
        placeholder=" …",
        break_on_hyphens=False,
    )
