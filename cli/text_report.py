"""`validate -o text`: a line for each object, its findings below it, and what it all comes to."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cli.judging import Result
from cli.report import Report
from cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Terminal, printable
from policies.engine import rule_by_id
from policies.facts import Finding, NodeRule, Rule
from policies.policy import Action

ACTIONS = (Action.DENY, Action.WARN, Action.AUDIT)
COLOURS = {Action.DENY: RED, Action.WARN: YELLOW, Action.AUDIT: DIM}
MAX_SOURCE_WIDTH = 48
INDENT = " " * 10


def render_text(report: Report, terminal: Terminal) -> Iterator[str]:
    """The lines of the report."""
    longest = max((len(printable(result.source)) for result in report.results), default=0)
    width = min(longest, MAX_SOURCE_WIDTH)
    for result in report.results:
        yield _verdict(result, width, terminal)
        for finding in sorted(result.findings, key=lambda found: ACTIONS.index(found.action)):
            yield from _finding(finding, terminal)
        for warning in result.warnings:
            label = terminal.paint("  Warn    ", YELLOW)
            yield _labelled(label, "  Warn    ", printable(warning), terminal)
    if report.results:
        yield ""
    yield from _summary(report, terminal)


def _verdict(result: Result, width: int, terminal: Terminal) -> str:
    if not result.allowed:
        word, colour = "DENIED", RED
    elif result.is_warned:
        word, colour = "warned", YELLOW
    else:
        word, colour = "ok", GREEN
    where = printable(result.source).ljust(width)
    name = f"{result.namespace}/{result.name}" if result.namespace else result.name
    what = printable(f"{result.kind} {name}")
    pod_class = terminal.paint(f"({result.pod_class})", DIM)
    return f"{terminal.paint(word.ljust(6), colour, BOLD)}  {where}  {what} {pod_class}"


def _finding(finding: Finding, terminal: Terminal) -> Iterator[str]:
    plain = f"  {finding.action.value:<5}   "
    label = terminal.paint(plain, COLOURS[finding.action])
    yield f"{label}{terminal.paint(finding.rule, BOLD)}"
    yield terminal.wrap(printable(finding.message), INDENT)
    yield _labelled(
        terminal.paint(f"{INDENT}fix: ", GREEN), f"{INDENT}fix: ", finding.remedy, terminal
    )
    if finding.path:
        yield f"{INDENT}{terminal.paint('at:', DIM)}  {printable(finding.path)}"


def _labelled(label: str, plain: str, text: str, terminal: Terminal) -> str:
    """The text, hanging behind a label, which may be coloured (colours have no width)."""
    wrapped = terminal.wrap(printable(text), " " * len(plain))
    return label + wrapped.removeprefix(" " * len(plain))


def _summary(report: Report, terminal: Terminal) -> Iterator[str]:
    counts = [
        terminal.paint(f"{report.denied} denied", *((RED,) if report.denied else ())),
        terminal.paint(f"{report.warned} warned", *((YELLOW,) if report.warned else ())),
        f"{report.clean} clean",
    ]
    line = f"{len(report.results)} checked: {', '.join(counts)}"
    if report.skipped:
        kinds = ", ".join(
            f"{count} {kind}" for kind, count in Counter(report.skipped).most_common(8)
        )
        line += f"; {len(report.skipped)} skipped ({printable(kinds)})"
    if report.unusable:
        mistakes = f"{report.unusable} could not be read"
        line += f"; {terminal.paint(mistakes, RED)}"
    yield line
    yield from _not_judged(tuple(report.not_judged), terminal)


def _not_judged(rules: Sequence[str], terminal: Terminal) -> Iterator[str]:
    by_nodes = [rule for rule in rules if _needs_inventory(rule)]
    by_version = [rule for rule in rules if rule not in by_nodes]
    for names, flag in (
        (by_nodes, "--nodes FILE or --live"),
        (by_version, "--kubernetes-version V"),
    ):
        if names:
            text = f"not judged without {flag}: {', '.join(names)}"
            yield terminal.wrap(text, "  ", first="")


def _needs_inventory(rule_id: str) -> bool:
    rule = rule_by_id(rule_id)
    return isinstance(rule, NodeRule) or (isinstance(rule, Rule) and rule.needs_inventory)
