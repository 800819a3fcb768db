"""The action that each rule has in a namespace: the policy's, or only a record where it is exempt."""

from collections.abc import Callable

from policies.node_verdict import milder
from policies.policy import Action, Exemption, Policy


def actions_in(policy: Policy, namespace: str) -> Callable[[str], Action]:
    """What gives the action of a rule id there."""
    exemptions = [e for e in policy.exemptions if namespace in e.namespaces]
    if not exemptions:
        return policy.actions.__getitem__
    return lambda rule_id: _exempted(policy.actions[rule_id], rule_id, exemptions)


def _exempted(action: Action, rule_id: str, exemptions: list[Exemption]) -> Action:
    if any(not e.rules or rule_id in e.rules for e in exemptions):
        return milder(action, Action.AUDIT)
    return action
