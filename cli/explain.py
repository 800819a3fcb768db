"""`mgpu-hybrid explain`: what a rule refuses, why, and how to mend it."""

import argparse
import difflib
import sys

from cli.errors import UnusableError
from cli.inputs import load_policy
from cli.output import show
from cli.rule_pages import page_body, render_markdown, rule_page
from cli.terminal import BOLD, DIM, RED, YELLOW, Terminal, terminal_of
from policies.engine import ALL_RULE_IDS, rule_by_id
from policies.policy import Action, Policy
from policies.remedies import remedy_of

COLOURS = {Action.DENY: RED, Action.WARN: YELLOW, Action.AUDIT: DIM, Action.OFF: DIM}

EPILOG = """\
examples:
  mgpu-hybrid explain
  mgpu-hybrid explain offline-memory
  mgpu-hybrid explain offline-memory --policy policy.yaml

exit codes: 0 done, 2 no rule of that name, or a policy that cannot be used
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the argument."""
    parser.description = "Explain a rule. Without a name, list all rules."
    parser.epilog = EPILOG
    parser.add_argument("rule", metavar="RULE", nargs="?", help="a rule's id, such as node-image")
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="show actions and remedies as this HybridPolicy has them; default: the built-in one",
    )


def run(options: argparse.Namespace) -> int:
    """Print the page of a rule, or the list. Raises UnusableError for an unknown rule, or a bad policy."""
    terminal = terminal_of(sys.stdout)
    policy = load_policy(options.policy) if options.policy else Policy()
    if options.rule:
        lines = _explained(
            options.rule, policy, "action" if options.policy else "default", terminal
        )
    else:
        lines = _listed(policy, terminal)
    for line in lines:
        show(line)
    return 0


def _listed(policy: Policy, terminal: Terminal) -> list[str]:
    width = max(map(len, ALL_RULE_IDS))
    lines = []
    for rule_id in ALL_RULE_IDS:
        rule = rule_by_id(rule_id)
        title = rule.title if rule else ""
        action = policy.actions[rule_id]
        label = terminal.paint(f"{action:<5}", COLOURS[action])
        text = terminal.wrap(title, " " * (width + 9))
        lines.append(f"{rule_id:<{width}}  {label}  {text.removeprefix(' ' * (width + 9))}")
    return lines


def _explained(rule_id: str, policy: Policy, action_is: str, terminal: Terminal) -> list[str]:
    rule = rule_by_id(rule_id)
    if rule is None:
        raise UnusableError(_unknown(rule_id))
    action = policy.actions[rule_id]
    lines = [
        f"{terminal.paint(rule_id, BOLD)}: {rule.title}",
        "",
        f"  {action_is:<7}  {terminal.paint(action, COLOURS[action])}",
        terminal.wrap(remedy_of(rule, policy), " " * 11, "  fix      "),
        terminal.wrap(rule.source, " " * 11, "  source   "),
    ]
    body = page_body(rule_page(rule_id))
    return [*lines, "", *render_markdown(body, terminal)] if body else lines


def _unknown(rule_id: str) -> str:
    near = difflib.get_close_matches(rule_id.lower().replace("_", "-"), ALL_RULE_IDS, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "`mgpu-hybrid explain` lists them"
    return f"no rule is named {rule_id!r}: {advice}"
