"""`mgpu-hybrid explain`: what a rule refuses, why, and how to mend it."""

import argparse
import difflib
import sys

from cli.errors import UnusableError
from cli.rule_pages import render_markdown, rule_page
from cli.terminal import BOLD, DIM, RED, YELLOW, Terminal, terminal_of
from policies.engine import ALL_RULE_IDS, rule_by_id
from policies.policy import DEFAULT_ACTIONS, Action

COLOURS = {Action.DENY: RED, Action.WARN: YELLOW, Action.AUDIT: DIM, Action.OFF: DIM}

EPILOG = """\
examples:
  mgpu-hybrid explain
  mgpu-hybrid explain offline-memory

exit codes: 0 done, 2 no rule of that name
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the argument."""
    parser.description = "Explain a rule. Without a name, list all rules."
    parser.epilog = EPILOG
    parser.add_argument("rule", metavar="RULE", nargs="?", help="a rule's id, such as node-image")


def run(options: argparse.Namespace) -> int:
    """Print the page of a rule, or the list. Raises UnusableError for an unknown rule."""
    terminal = terminal_of(sys.stdout)
    lines = _explained(options.rule, terminal) if options.rule else _listed(terminal)
    for line in lines:
        print(line)
    return 0


def _listed(terminal: Terminal) -> list[str]:
    width = max(map(len, ALL_RULE_IDS))
    lines = []
    for rule_id in ALL_RULE_IDS:
        rule = rule_by_id(rule_id)
        title = rule.title if rule else ""
        action = DEFAULT_ACTIONS[rule_id]
        label = terminal.paint(f"{action:<5}", COLOURS[action])
        text = terminal.wrap(title, " " * (width + 9))
        lines.append(f"{rule_id:<{width}}  {label}  {text.removeprefix(' ' * (width + 9))}")
    return lines


def _explained(rule_id: str, terminal: Terminal) -> list[str]:
    rule = rule_by_id(rule_id)
    if rule is None:
        raise UnusableError(_unknown(rule_id))
    action = DEFAULT_ACTIONS[rule_id]
    lines = [
        f"{terminal.paint(rule_id, BOLD)}: {rule.title}",
        "",
        f"  default  {terminal.paint(action, COLOURS[action])}",
        terminal.wrap(rule.remedy, " " * 11, "  fix      "),
        terminal.wrap(rule.source, " " * 11, "  source   "),
    ]
    page = rule_page(rule_id)
    return [*lines, "", *render_markdown(page, terminal)] if page else lines


def _unknown(rule_id: str) -> str:
    near = difflib.get_close_matches(rule_id.lower().replace("_", "-"), ALL_RULE_IDS, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "`mgpu-hybrid explain` lists them"
    return f"no rule is named {rule_id!r}: {advice}"
