"""From node verdicts to a pod's: how the judgements of the possible nodes combine.

A node is refused when a Deny rule fails on it. A pod is refused when all its possible nodes are; it is
warned when every node that is left has a warning. Profiles are judged, not nodes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from policies.facts import Facts, Finding, NodeRule, RuleFailure
from policies.faults import guarded
from policies.node import Node, NodeProfile
from policies.policy import Action, Policy

SHOWN_NODES = 5
SEVERITY = {Action.OFF: 0, Action.AUDIT: 1, Action.WARN: 2, Action.DENY: 3}

ActionOf = Callable[[str], Action]
"""The action of a rule id in the namespace that is judged."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One rule that fails on a profile, with the action it has there."""

    rule: NodeRule
    action: Action
    reason: str


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """What all node rules say of one profile."""

    breaches: tuple[Breach, ...]

    @property
    def is_refused(self) -> bool:
        """Whether offline pods must not run there."""
        return any(breach.action is Action.DENY for breach in self.breaches)

    def has(self, *actions: Action) -> bool:
        """Whether any breach has one of these actions."""
        return any(breach.action in actions for breach in self.breaches)


def milder(one: Action, other: Action) -> Action:
    """The less severe of two actions."""
    return min(one, other, key=SEVERITY.__getitem__)


def judge_profile(
    policy: Policy,
    rules: Sequence[NodeRule],
    action_of: ActionOf,
    failures: list[RuleFailure],
    profile: NodeProfile,
) -> NodeVerdict:
    """The verdict on a profile. An unknown fact does what `unknownFacts` says, never more than the rule."""
    breaches = []
    for rule in rules:
        action = action_of(rule.id)
        if action is Action.OFF:
            continue
        for violation in guarded(rule.id, partial(rule.check, profile, policy), failures):
            severity = milder(action, policy.unknown_facts) if violation.is_unknown else action
            breaches.append(Breach(rule, severity, violation.reason))
    return NodeVerdict(tuple(breaches))


def node_findings(
    facts: Facts, nodes: Sequence[Node], judge: Callable[[NodeProfile], NodeVerdict]
) -> Iterator[Finding]:
    """The findings that the possible nodes of an offline pod give; none where there is no node."""
    verdicts = {profile: judge(profile) for profile in {node.profile for node in nodes}}
    refused = [node for node in nodes if verdicts[node.profile].is_refused]
    left = [node for node in nodes if not verdicts[node.profile].is_refused]
    report = _Report(facts, nodes, verdicts)
    if refused and (not left or facts.template_kind == "DaemonSet"):
        yield from report.findings(refused, Action.DENY)
    if not left:
        return
    if all(verdicts[node.profile].has(Action.WARN) for node in left):
        yield from report.findings(left, Action.WARN)
    if all(verdicts[node.profile].has(Action.WARN, Action.AUDIT) for node in left):
        yield from report.findings(left, Action.AUDIT)


@dataclass(frozen=True, slots=True)
class _Report:
    """Turns breaches into findings: one per rule, with a count per reason and a few names."""

    facts: Facts
    possible: Sequence[Node]
    verdicts: dict[NodeProfile, NodeVerdict]

    def findings(self, nodes: Sequence[Node], action: Action) -> Iterator[Finding]:
        by_rule: dict[str, tuple[NodeRule, dict[str, list[str]]]] = {}
        for node in nodes:
            for breach in self.verdicts[node.profile].breaches:
                if breach.action is action:
                    _, reasons = by_rule.setdefault(breach.rule.id, (breach.rule, {}))
                    reasons.setdefault(breach.reason, []).append(node.name)
        for rule, reasons in by_rule.values():
            message = f"{self._opening(action)}: {self._counts(reasons)}"
            shown = milder(action, Action.WARN) if self.facts.template_kind else action
            yield Finding(rule.id, shown, self.facts.pod.spec_path, message, rule.remedy)

    def _opening(self, action: Action) -> str:
        selection = self.facts.placement.description if self.facts.placement else ""
        what = f"{len(self.possible)} possible {_plural(len(self.possible), 'node')}"
        if action is not Action.DENY:
            return f"of {what} ({selection}) none is free of doubt"
        refused = [n for n in self.possible if self.verdicts[n.profile].is_refused]
        return f"{len(refused)} of {what} ({selection}) cannot suspend offline work for online work"

    def _counts(self, reasons: dict[str, list[str]]) -> str:
        ordered = sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
        return ", ".join(self._count(reason, names) for reason, names in ordered)

    def _count(self, reason: str, names: list[str]) -> str:
        text = f"{len(names)} {'has' if len(names) == 1 else 'have'} {reason}"
        if not self.facts.policy.show_node_names:
            return text
        more = f" and {len(names) - SHOWN_NODES} more" if len(names) > SHOWN_NODES else ""
        return f"{text} ({', '.join(sorted(names)[:SHOWN_NODES])}{more})"


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
