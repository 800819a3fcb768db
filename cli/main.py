"""The entry point of `mgpu-hybrid` and of `kubectl mgpu`.

A command's module is imported only when it is the one that was asked for: judging one file in a shell
must not wait for the web server's libraries.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from cli.errors import UnusableError
from cli.help import DESCRIPTION, EXIT_CODES, CommandParser, HelpFormatter
from cli.output import flush_errors, flush_output, show, tell

EXIT_UNUSABLE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE

COMMANDS = {
    "validate": ("cli.validate", "judge manifests as the cluster would"),
    "mutate": ("cli.mutate", "show what the webhook writes into offline pods"),
    "explain": ("cli.explain", "explain a rule: what it refuses, why, and how to mend it"),
    "policy": ("cli.policy", "show the policy in force, or check a policy file"),
    "serve": ("cli.serve", "run the admission webhook"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; `argv` is without the program's name. Returns the exit code.

    0 is clean, 1 a finding that denies, 2 input or flags that cannot be used.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    code = _guarded(arguments)
    flush_errors()
    return code


def _guarded(arguments: list[str]) -> int:
    try:
        code = _run(arguments)
        flush_output()
    except UnusableError as error:
        tell(*error.lines)
        return EXIT_UNUSABLE
    except BrokenPipeError:  # whoever reads us has enough
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except MemoryError:
        tell("out of memory: split the input, or allow more")
        return EXIT_UNUSABLE
    except Exception as error:  # noqa: BLE001 - the last handler: exit code 1 would say "denied"
        return _internal_error(error)
    return code


def _run(arguments: list[str]) -> int:
    chosen = next((word for word in arguments if not word.startswith("-")), "")
    parser, command = _parser(chosen)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed help, the version or what is wrong
        return int(stop.code or 0)
    if command is None:
        parser.print_help(sys.stderr)
        return EXIT_UNUSABLE
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not know every letter
    return int(command.run(options))


def _parser(chosen: str) -> tuple[argparse.ArgumentParser, ModuleType | None]:
    """The parser with all commands, and the flags and module of the chosen one."""
    parser = CommandParser(
        prog=_program(),
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    # Without prog, argparse would format a usage line for it, which costs an import of shutil.
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", prog=parser.prog)
    module = None
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, formatter_class=HelpFormatter, allow_abbrev=False
        )
        if name == chosen:
            module = import_module(module_name)
            module.configure(command)
    return parser, module


class _Version(argparse.Action):
    """Prints the version of the installed package, which is looked up only here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        version = import_module("importlib.metadata").version("mgpu-hybrid")
        show(f"mgpu-hybrid {version}")
        parser.exit()


def _program() -> str:
    name = os.path.basename(sys.argv[0])  # noqa: PTH119 - pathlib costs more than the rest of this
    return "kubectl mgpu" if name.startswith("kubectl-mgpu") else "mgpu-hybrid"


def _internal_error(error: Exception) -> int:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})" if frame else ""
    name = type(error).__name__
    tell(f"internal error, please report it: {name}: {error}{where}")
    return EXIT_UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
