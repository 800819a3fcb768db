"""From node verdicts to a pod's: how the judgements of the possible nodes combine.

A node is refused when a Deny rule fails on it. A pod is refused when all its possible nodes are; it is
warned when every node that is left has a warning. Profiles are judged, not nodes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from policies.facts import Facts, Finding, NodeRule, RuleFailure
from policies.faults import guarded
from policies.node import NodeProfile, NodeSet
from policies.policy import Action, Policy, SupportMatrix
from policies.remedies import remedy_of

SHOWN_NODES = 5
KNOWN_PROFILES = 4096
"""A cluster has few profiles; each is judged once per policy."""
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
    failures: tuple[RuleFailure, ...] = ()

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
    """The verdict on a profile; faults of rules are added to `failures`."""
    ruled = tuple((rule, action_of(rule.id)) for rule in rules)
    verdict = _verdict(profile, ruled, policy.support, policy.unknown_facts)
    failures.extend(verdict.failures)
    return verdict


@lru_cache(maxsize=KNOWN_PROFILES)
def _verdict(
    profile: NodeProfile,
    ruled: tuple[tuple[NodeRule, Action], ...],
    support: SupportMatrix,
    unknown_facts: Action,
) -> NodeVerdict:
    """An unknown fact does what `unknownFacts` says, never more than the rule."""
    breaches = []
    failures: list[RuleFailure] = []
    for rule, action in ruled:
        if action is Action.OFF:
            continue
        for violation in guarded(rule.id, partial(rule.check, profile, support), failures):
            severity = milder(action, unknown_facts) if violation.is_unknown else action
            breaches.append(Breach(rule, severity, violation.reason))
    return NodeVerdict(tuple(breaches), tuple(failures))


def node_findings(
    facts: Facts, nodes: NodeSet, judge: Callable[[NodeProfile], NodeVerdict]
) -> Iterator[Finding]:
    """The findings that the possible nodes of an offline pod give; none where there is no node."""
    judged = [_Judged(judge(profile), part) for profile, part in nodes.by_profile()]
    refused = [part for part in judged if part.verdict.is_refused]
    left = [part for part in judged if not part.verdict.is_refused]
    report = _Report(facts, len(nodes), sum(len(part.nodes) for part in refused))
    if refused and (not left or facts.template_kind == "DaemonSet"):
        yield from report.findings(refused, Action.DENY)
    if not left:
        return
    if all(part.verdict.has(Action.WARN) for part in left):
        yield from report.findings(left, Action.WARN)
    if all(part.verdict.has(Action.WARN, Action.AUDIT) for part in left):
        yield from report.findings(left, Action.AUDIT)


@dataclass(frozen=True, slots=True)
class _Judged:
    """Nodes of one profile with their verdict."""

    verdict: NodeVerdict
    nodes: NodeSet


@dataclass(frozen=True, slots=True)
class _Report:
    """Turns breaches into findings: one per rule, with a count per reason and a few names."""

    facts: Facts
    possible: int
    refused: int

    def findings(self, parts: Sequence[_Judged], action: Action) -> Iterator[Finding]:
        by_rule: dict[str, tuple[NodeRule, dict[str, NodeSet]]] = {}
        for part in parts:
            for breach in part.verdict.breaches:
                if breach.action is action:
                    _, reasons = by_rule.setdefault(breach.rule.id, (breach.rule, {}))
                    known = reasons.get(breach.reason)
                    reasons[breach.reason] = part.nodes if known is None else known | part.nodes
        for rule, reasons in by_rule.values():
            message = f"{self._opening(action)}: {self._counts(reasons)}"
            remedy = remedy_of(rule, self.facts.policy)
            shown = milder(action, Action.WARN) if self.facts.template_kind else action
            yield Finding(rule.id, shown, self.facts.pod.spec_path, message, remedy)

    def _opening(self, action: Action) -> str:
        selection = self.facts.placement.description if self.facts.placement else ""
        what = f"{self.possible} possible {_plural(self.possible, 'node')} ({selection})"
        if action is not Action.DENY:
            if self.refused:
                return (
                    f"{self.refused} of {what} are refused, and none of the rest is free of doubt"
                )
            return f"of {what} none is free of doubt"
        return f"{self.refused} of {what} cannot suspend offline work for online work"

    def _counts(self, reasons: dict[str, NodeSet]) -> str:
        ordered = sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
        return ", ".join(self._count(reason, nodes) for reason, nodes in ordered)

    def _count(self, reason: str, nodes: NodeSet) -> str:
        count = len(nodes)
        text = f"{count} {'has' if count == 1 else 'have'} {reason}"
        if not self.facts.policy.show_node_names:
            return text
        more = f" and {count - SHOWN_NODES} more" if count > SHOWN_NODES else ""
        return f"{text} ({', '.join(nodes.first_names(SHOWN_NODES))}{more})"


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
