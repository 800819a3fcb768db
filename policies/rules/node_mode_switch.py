"""A node is switched to another scheduling mode or compute policy only when nothing on it holds a GPU.

Switching under running work leaves it on a card that is scheduled by other rules.
Fields: node labels `vke.node.gpu.schedule` and `vke.volcengine.com/mgpu-compute-policy`, effective values
before and after an update: removing the mode label switches to `nvidia`, writing `nvidia` where it was
absent switches nothing. Allowed: no change, or no unfinished pod there that holds GPU compute or memory.
"""

from collections.abc import Iterator

from policies.facts import Violation
from policies.node_change import NodeChange, NodeChangeRule
from policies.policy import Action

SHOWN_PODS = 5
UNKNOWN_REMEDY = (
    "try again when the pods of the node can be asked, or let a user of the policy's `modeSwitch` do it; "
    "`modeSwitch.unknownPods` of the policy says what happens meanwhile"
)


def check(change: NodeChange) -> Iterator[Violation]:
    """One violation per setting that is switched while pods hold GPUs, or may."""
    override = change.policy.mode_switch
    for what, before, after in change.old.differences(change.new):
        in_the_way = _in_the_way(change)
        if not in_the_way:
            continue
        at_most = Action.DENY if change.pods is not None else override.unknown_pods
        if override.allows(change.username, change.groups):
            at_most = Action.AUDIT
        yield Violation(
            path=f"metadata.labels[{_key(change, what)}]",
            message=f"{what} of node {change.name} is switched from {before} to {after} while {in_the_way}",
            remedy=UNKNOWN_REMEDY if change.pods is None else "",
            at_most=at_most,
        )


def _in_the_way(change: NodeChange) -> str:
    if change.pods is None:
        return f"it is not known whether pods hold its GPUs: {change.pods_unknown_because}"
    count = len(change.pods)
    if not count:
        return ""
    names = ", ".join(f"{pod.namespace}/{pod.name}" for pod in change.pods[:SHOWN_PODS])
    more = f" and {count - SHOWN_PODS} more" if count > SHOWN_PODS else ""
    return (
        f"{count} unfinished {'pod holds' if count == 1 else 'pods hold'} its GPUs ({names}{more})"
    )


def _key(change: NodeChange, what: str) -> str:
    keys = change.policy.keys
    return keys.gpu_schedule if what == "scheduling mode" else keys.compute_policy


RULE = NodeChangeRule(
    id="node-mode-switch",
    title="A node is switched only when nothing on it holds a GPU",
    remedy=(
        "drain these pods first, or let a user of the policy's `modeSwitch` do it; "
        "put the label back to go on as before"
    ),
    source="VKE GPU scheduling overview: pods that hold GPUs must have finished",
    check=check,
)
