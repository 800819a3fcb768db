"""Words and layout of `--help`."""

import argparse
import os

DESCRIPTION = """\
Keep GPU online/offline hybrid deployment honest: refuse offline pods that cannot work and say how
to mend them, and write into the others what the card needs to suspend them.
"""

EXIT_CODES = """\
exit codes:
  0  clean; warnings may have been shown
  1  at least one object is denied
  2  input or flags that cannot be used: FILE:LINE: reason, on standard error

`mgpu-hybrid COMMAND --help` has examples for each command.
"""


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
