"""Words and layout of `--help`."""

import argparse
import os
from typing import Protocol

from cli.output import show

DESCRIPTION = """\
Keep GPU online/offline hybrid deployment honest: refuse offline pods that cannot work and say how
to mend them, and write into the others what the card needs to suspend them.
"""

EXIT_CODES = """\
exit codes:
  0  clean; warnings may have been shown
  1  at least one object is denied
  2  input, output or flags that cannot be used: FILE:LINE: reason, on standard error
  130  interrupted (ctrl-C)

`mgpu-hybrid COMMAND --help` has examples for each command.
"""


class Writable(Protocol):
    """What argparse writes its help to."""

    def write(self, text: str, /) -> object:
        """Write the text."""


class CommandParser(argparse.ArgumentParser):
    """Help is a result like any other: where it cannot be written, argparse itself would say nothing."""

    def print_help(self, file: Writable | None = None) -> None:
        """Print the help; raises as `show` does where no file is named."""
        if file is None:
            show(self.format_help(), end="")
        else:
            super().print_help(file)


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples as they are written.

    argparse makes one for every flag and asks shutil for the width, whose import takes longer than
    all flags together; hence the width here.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=_columns() - 2)


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(int(columns), 40)
    try:
        return max(os.get_terminal_size().columns, 40)
    except OSError:  # no terminal
        return 80
