"""Standard output and standard error, which may be closed, full or read by somebody who has left.

What was asked for goes to standard output: where it cannot be written, the command has failed. What is
told beside it goes to standard error: where nobody can be told, the exit code still says it.
"""

import contextlib
import os
import sys
from typing import TextIO

from cli.errors import UnusableError


def show(text: str, *, end: str = "\n") -> None:
    """Write to standard output.

    Raises UnusableError where it is closed or full, BrokenPipeError where its reader has left.
    """
    if sys.stdout is None:
        raise UnusableError("standard output is closed: there is nowhere to write the result")
    try:
        print(text, end=end)
    except OSError as error:
        raise _lost(error) from error


def flush_output() -> None:
    """Write what standard output still holds back. Raises as `show` does."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        raise _lost(error) from error


def tell(*lines: str) -> None:
    """Write lines to standard error, if anybody can be told."""
    if sys.stderr is None:  # print would take standard output instead
        return
    try:
        for line in lines:
            print(line, file=sys.stderr)
    except OSError:
        silence(sys.stderr)


def flush_errors() -> None:
    """Let go of what standard error could not take: at exit Python would make a failure of it."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Send the rest of a stream nowhere, so that Python's own flush at exit does not fail."""
    with contextlib.suppress(OSError):  # no file behind it
        number = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def _lost(error: OSError) -> Exception:
    silence(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return error
    return UnusableError(f"standard output cannot be written: {error.strerror or error}")
