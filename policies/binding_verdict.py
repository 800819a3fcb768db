"""Whether a node may be given an offline pod at this moment: what a Binding is refused for."""

from collections.abc import Iterator

from policies.actions import actions_in
from policies.facts import Finding, RuleFailure
from policies.node import Node
from policies.node_verdict import judge_profile
from policies.policy import Action, Policy
from policies.remedies import remedy_of
from policies.rules import NODE_RULES


def refusals_of_node(
    node: Node, policy: Policy, namespace: str, failures: list[RuleFailure]
) -> Iterator[Finding]:
    """One Deny finding per reason for which offline pods of the namespace must not run on the node.

    Faults of rules are added to `failures`. What is only warned of would come with each pod that the
    scheduler places, to nobody who reads it: the pod's creator was told already.
    """
    verdict = judge_profile(
        policy, NODE_RULES, actions_in(policy, namespace), failures, node.profile
    )
    which = f"node {node.name}" if policy.show_node_names else "this node"
    for breach in verdict.breaches:
        if breach.action is Action.DENY:
            yield Finding(
                rule=breach.rule.id,
                action=Action.DENY,
                path="target.name",
                message=f"{which} cannot suspend offline work for online work: it has {breach.reason}",
                remedy=remedy_of(breach.rule, policy),
            )
