"""Whether offline pods may run on a node, as it is written on the Node object, and when not to change it.

A kubelet admits its running pods anew when it restarts, and looks at required affinity then. So a label that
turns to `false` can end running offline pods, and what is merely unknown never turns it: a node that
is `true` stays so until something is known against it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from policies.facts import NodeRule, RuleFailure
from policies.node import NodeProfile
from policies.node_verdict import NodeVerdict, judge_profile
from policies.policy import ELIGIBLE_LABEL, Action, Policy
from policies.raw import JsonObject
from policies.rules import NODE_RULES

BECAUSE_ANNOTATION = "mgpu-hybrid.io/ineligible-because"
ELIGIBLE = "true"
INELIGIBLE = "false"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is against offline pods on the nodes of one profile."""

    against: tuple[str, ...]
    """Ids of the rules that refuse it, in the order of the rules; empty when none does."""
    is_certain: bool
    """Whether something known refuses it, not only what is unknown or could not be judged."""
    failures: tuple[RuleFailure, ...] = ()
    """Rules that raised."""


@dataclass(frozen=True, slots=True)
class NodeEligibility:
    """What belongs on a node: the label's value, and the rules that are against it."""

    eligible: bool
    because: tuple[str, ...] = ()
    """Rule ids; empty exactly when the node is eligible."""

    @property
    def label(self) -> str:
        """The value of the label."""
        return ELIGIBLE if self.eligible else INELIGIBLE

    @property
    def annotation(self) -> str | None:
        """The value of the annotation, None when there must be none."""
        return ",".join(self.because) or None


def judge_of(
    policy: Policy, rules: tuple[NodeRule, ...] = NODE_RULES
) -> Callable[[NodeProfile], Judgement]:
    """What judges profiles under this policy. No exemption counts: a node is in no namespace.

    Rules that raise are against the node where the policy denies offline pods for that.
    """
    certain = replace(policy, unknown_facts=Action.AUDIT)

    def judge(profile: NodeProfile) -> Judgement:
        failures: list[RuleFailure] = []
        verdict = judge_profile(policy, rules, policy.actions.__getitem__, failures, profile)
        known = judge_profile(certain, rules, policy.actions.__getitem__, [], profile)
        failed = (
            {failure.rule for failure in failures} if policy.deny_offline_on_rule_error else set()
        )
        denying = _denying(verdict) | {
            rule for rule in failed if policy.actions[rule] is not Action.AUDIT
        }
        against = tuple(rule.id for rule in rules if rule.id in denying)
        return Judgement(against, known.is_refused, tuple(failures))

    return judge


def eligibility(judgement: Judgement, label_now: str | None) -> NodeEligibility:
    """What belongs on a node with this judgement; `label_now` is the label's value, None without one."""
    if not judgement.against or (label_now == ELIGIBLE and not judgement.is_certain):
        return NodeEligibility(eligible=True)
    return NodeEligibility(eligible=False, because=judgement.against)


def eligibility_patch(wanted: NodeEligibility) -> JsonObject:
    """The JSON merge patch of a Node: our label and our annotation, nothing else."""
    return {
        "metadata": {
            "labels": {ELIGIBLE_LABEL: wanted.label},
            "annotations": {BECAUSE_ANNOTATION: wanted.annotation},
        }
    }


def _denying(verdict: NodeVerdict) -> set[str]:
    return {breach.rule.id for breach in verdict.breaches if breach.action is Action.DENY}
