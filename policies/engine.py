"""The only place where a verdict is made: `decide` and its siblings for nodes and bindings, and `mutate`.

Webhook, command line, audit and reports all call these, so that a file that passes `validate` passes
the webhook and a report never disagrees with either. Every rule runs: all findings come at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from policies.actions import actions_in
from policies.binding_verdict import refusals_of_node
from policies.facts import (
    Decision,
    Facts,
    Finding,
    NodeRule,
    Operation,
    Rule,
    RuleFailure,
    Violation,
)
from policies.faults import guarded
from policies.mutations import changes_for
from policies.node import Node
from policies.node_change import NodeChange, NodeChangeRule
from policies.node_verdict import judge_profile, milder, node_findings
from policies.patch import Mutation
from policies.placement import parse_placement, possible_nodes
from policies.pod import Pod, PodClass
from policies.policy import Action, Policy
from policies.remedies import remedy_of
from policies.rules import NODE_CHANGE_RULES, NODE_RULES, RULES

RULES_BY_CLASS = {c: tuple(rule for rule in RULES if c in rule.classes) for c in PodClass}
BINDING_RULES = tuple(rule for rule in RULES if rule.for_bindings)
EVERY_RULE: tuple[Rule | NodeRule | NodeChangeRule, ...] = (*RULES, *NODE_RULES, *NODE_CHANGE_RULES)
ALL_RULE_IDS = tuple(rule.id for rule in EVERY_RULE)
PLACED_CLASSES = frozenset(PodClass) - {PodClass.NONE}


def rule_by_id(rule_id: str) -> Rule | NodeRule | NodeChangeRule | None:
    """The rule of this id, None when there is none."""
    return next((rule for rule in EVERY_RULE if rule.id == rule_id), None)


def mutate(pod: Pod, policy: Policy) -> Mutation:
    """What the mutating webhook changes in a pod that is created; empty unless it is offline.

    Raises MalformedError when the document cannot be patched safely.
    """
    if pod.pod_class is not PodClass.OFFLINE or pod.is_mirror:
        return Mutation()
    return Mutation(tuple(changes_for(pod, policy.injection)))


def decide(facts: Facts) -> Decision:
    """The verdict on one pod or pod template.

    A rule that raises is counted in `failures`, never passed on. Raises MalformedError when a field that
    a rule reads has a wrong JSON type.
    """
    pod = facts.pod
    if _passes(facts):
        return Decision(pod.pod_class, allowed=True)
    failures: list[RuleFailure] = []
    findings = list(_findings(facts, failures))
    if findings and facts.operation is Operation.UPDATE and facts.old is not None:
        findings = _new_findings(facts, facts.old, findings)
    denied = any(finding.action is Action.DENY for finding in findings)
    if failures and not denied:
        denied = _denies_on_failure(pod, facts.policy, failures)
    return Decision(
        pod_class=pod.pod_class,
        allowed=not denied,
        findings=tuple(findings),
        failures=tuple(failures),
        not_judged=_not_judged(facts),
    )


def decide_node(change: NodeChange) -> Decision:
    """The verdict on an UPDATE of a Node. No namespace, no class: Decision.pod_class is none."""
    failures: list[RuleFailure] = []
    actions = change.policy.actions
    findings = [
        _finding(rule, actions[rule.id], violation, change.policy)
        for rule in NODE_CHANGE_RULES
        if actions[rule.id] is not Action.OFF
        for violation in guarded(rule.id, partial(rule.check, change), failures)
    ]
    denied = any(finding.action is Action.DENY for finding in findings)
    if failures:
        denied = denied or change.policy.deny_others_on_rule_error
    return Decision(PodClass.NONE, not denied, tuple(findings), tuple(failures))


def decide_binding(pod: Pod, node: Node, policy: Policy) -> Decision:
    """The verdict on binding this pod, as it stands in the cluster, to this node.

    Only offline pods are refused, and for what the node is. The Binding's annotations are for `decide`.
    """
    if pod.pod_class is not PodClass.OFFLINE or pod.is_mirror or pod.is_deleting:
        return Decision(pod.pod_class, allowed=True)
    failures: list[RuleFailure] = []
    findings = tuple(refusals_of_node(node, policy, pod.namespace, failures))
    denied = bool(findings) or (bool(failures) and _denies_on_failure(pod, policy, failures))
    return Decision(pod.pod_class, not denied, findings, tuple(failures))


def _passes(facts: Facts) -> bool:
    """Deleting is always allowed, also by removing a finalizer; mirror pods run already."""
    if facts.operation not in (Operation.CREATE, Operation.UPDATE):
        return True
    is_finalised = facts.operation is Operation.UPDATE and facts.pod.is_deleting
    return facts.pod.is_mirror or is_finalised


def _denies_on_failure(pod: Pod, policy: Policy, failures: Sequence[RuleFailure]) -> bool:
    """A rule that could only have recorded, as in an exempt namespace, does not refuse by failing."""
    action_of = actions_in(policy, pod.namespace)
    if all(action_of(failure.rule) is Action.AUDIT for failure in failures):
        return False
    if pod.pod_class is PodClass.OFFLINE:
        return policy.deny_offline_on_rule_error
    return policy.deny_others_on_rule_error


def _new_findings(facts: Facts, old: Pod, findings: list[Finding]) -> list[Finding]:
    """Only what the update itself changes counts: an object that was there before never gets stuck."""
    changes = {rule.id for rule in RULES if rule.judges_change}
    before = {
        (f.rule, f.path, f.message)
        for f in _findings(replace(facts, pod=old, old=None), [])
        if f.rule not in changes
    }
    return [f for f in findings if (f.rule, f.path, f.message) not in before]


def _rules(facts: Facts) -> tuple[Rule, ...]:
    if facts.subresource == "binding":
        return BINDING_RULES
    rules = RULES_BY_CLASS[facts.pod.pod_class]
    if facts.template_kind:
        rules = tuple(rule for rule in rules if rule.for_templates)
    if facts.is_audit:
        rules = tuple(rule for rule in rules if rule.in_audit)
    return rules


def _is_judged(rule: Rule, facts: Facts) -> bool:
    if rule.needs_inventory and facts.inventory is None:
        return False
    return not (rule.needs_cluster_version and facts.cluster_version is None)


def _not_judged(facts: Facts) -> tuple[str, ...]:
    if facts.inventory is not None and facts.cluster_version is not None:
        return ()
    rules = (rule.id for rule in _rules(facts) if not _is_judged(rule, facts))
    judges_nodes = facts.pod.pod_class is PodClass.OFFLINE and facts.subresource != "binding"
    node_rules = (
        (rule.id for rule in NODE_RULES) if judges_nodes and facts.inventory is None else ()
    )
    actions = facts.policy.actions
    return tuple(i for i in (*rules, *node_rules) if actions[i] is not Action.OFF)


def _findings(facts: Facts, failures: list[RuleFailure]) -> Iterator[Finding]:
    action_of = actions_in(facts.policy, facts.pod.namespace)
    facts = _with_possible_nodes(facts)
    for rule in _rules(facts):
        action = action_of(rule.id)
        if action is not Action.OFF and _is_judged(rule, facts):
            for violation in guarded(rule.id, partial(rule.check, facts), failures):
                yield _finding(rule, action, violation, facts.policy)
    if facts.pod.pod_class is PodClass.OFFLINE and facts.possible_nodes is not None:
        judge = partial(judge_profile, facts.policy, NODE_RULES, action_of, failures)
        yield from node_findings(facts, facts.possible_nodes, judge)


def _finding(
    rule: Rule | NodeChangeRule, action: Action, violation: Violation, policy: Policy
) -> Finding:
    return Finding(
        rule=rule.id,
        action=milder(action, violation.at_most),
        path=violation.path,
        message=violation.message,
        remedy=violation.remedy or remedy_of(rule, policy),
    )


def _with_possible_nodes(facts: Facts) -> Facts:
    pod = facts.pod
    if facts.inventory is None or pod.pod_class not in PLACED_CLASSES:
        return facts
    placement = parse_placement(pod, (facts.policy.injection, *facts.previous_injections))
    nodes = possible_nodes(placement, facts.inventory, facts.policy.passing_taints)
    return replace(facts, placement=placement, possible_nodes=nodes)
