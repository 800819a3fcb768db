"""`mgpu-hybrid policy`: show the policy in force, or check a policy file."""

import argparse
from importlib import import_module
from importlib.resources import files

from cli.errors import UnusableError
from cli.help import HelpFormatter
from cli.inputs import load_policy
from cli.output import show
from cli.yaml_output import yaml_of

EPILOG = """\
examples:
  mgpu-hybrid policy show                 the built-in policy, with comments: a file to start from
  mgpu-hybrid policy show policy.yaml     the file with every default filled in
  mgpu-hybrid policy check policy.yaml    all mistakes at once, with line and field

exit codes: 0 done, 2 the file has mistakes
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the two subcommands."""
    parser.description = "Show the policy in force, or check a policy file."
    parser.epilog = EPILOG
    actions = parser.add_subparsers(metavar="ACTION", dest="action", required=True)
    shown = _action(actions, "show", "print the effective policy as YAML")
    shown.add_argument("file", metavar="FILE", nargs="?", help="default: the built-in policy")
    shown.add_argument("--policy", metavar="FILE", help="the same as FILE")
    check = _action(actions, "check", "check a policy file")
    check.add_argument("file", metavar="FILE", help="a HybridPolicy")


def run(options: argparse.Namespace) -> int:
    """Show or check. Raises UnusableError with all mistakes of a file."""
    if options.action == "check":
        load_policy(options.file)
        show(f"{options.file}: a valid HybridPolicy")
        return 0
    if options.file and options.policy:
        raise UnusableError("policy show: name one file, either as FILE or with --policy")
    show(_shown(options.file or options.policy), end="")
    return 0


def _shown(path: str | None) -> str:
    if path is None:
        default = files("policies") / "data" / "default.yaml"
        return default.read_text(encoding="utf-8")
    policy = load_policy(path)
    return yaml_of(import_module("policies.document.policy_document").policy_document(policy))


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    return actions.add_parser(
        name, help=summary, description=summary, formatter_class=HelpFormatter, allow_abbrev=False
    )
