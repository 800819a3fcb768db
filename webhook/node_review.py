"""A review of a Node's UPDATE becomes the change that `decide_node` judges."""

from policies.facts import Decision, Operation
from policies.node_change import NodeChange, holding_pods, node_settings
from policies.policy import Action, Policy
from policies.raw import object_at, string_at
from webhook.gather import Skip
from webhook.pod_lookup import NOT_ASKED, FoundPods, PodsOnNode
from webhook.review import GroupVersionKind, Review

NODE = GroupVersionKind("", "v1", "Node")
MODE_SWITCH = "node-mode-switch"


def node_change_of(
    review: Review, policy: Policy, found: FoundPods = NOT_ASKED
) -> NodeChange | Skip:
    """The change, with the pods that hold GPUs there as far as they were found; or why it is not judged.

    Raises MalformedError when a label is no string.
    """
    if review.operation != Operation.UPDATE:
        return Skip.OPERATION
    if review.subresource not in {"", "status"}:
        return Skip.SUBRESOURCE
    pods = None if found.pods is None else tuple(holding_pods(found.pods, policy))
    return NodeChange(
        name=review.name or string_at(object_at(review.object, "metadata", ""), "name", "metadata"),
        old=node_settings(review.old_object, policy.keys),
        new=node_settings(review.object, policy.keys),
        policy=policy,
        username=review.username,
        groups=review.groups,
        pods=pods,
        pods_unknown_because=found.unknown_because,
    )


def node_query(review: Review, policy: Policy) -> PodsOnNode | None:
    """What must be asked before this change can be judged; nothing for one that switches nothing.

    Raises MalformedError as above.
    """
    change = node_change_of(review, policy)
    if isinstance(change, Skip) or not change.is_switch:
        return None
    return None if policy.actions[MODE_SWITCH] is Action.OFF else PodsOnNode(change.name)


def is_overridden(change: NodeChange, decision: Decision) -> bool:
    """Whether the change passes only because this user may switch nodes under running work."""
    would_refuse = change.policy.actions[MODE_SWITCH] is Action.DENY
    is_recorded = any(f.rule == MODE_SWITCH for f in decision.by_action(Action.AUDIT))
    allows = change.policy.mode_switch.allows(change.username, change.groups)
    return would_refuse and is_recorded and allows
