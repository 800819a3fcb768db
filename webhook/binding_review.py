"""The optional check of bindings: the pod of a Binding is asked only when its node would be refused.

So a scheduler that places pods well waits for nothing. What cannot be found out is let through: the
injected affinity is what keeps offline pods off such nodes, this is the second line.
"""

from policies.binding_verdict import refusals_of_node
from policies.engine import decide_binding
from policies.facts import Decision, RuleFailure
from policies.node import Node
from policies.pod import parse_pod
from policies.raw import object_at, string_at
from webhook.pod_lookup import FoundPods, NamedPod
from webhook.review import Review
from webhook.state import Snapshot


def binding_query(review: Review, snapshot: Snapshot) -> NamedPod | None:
    """The pod to ask for; none when the check is off, or no offline pod would be refused there.

    Raises MalformedError when the Binding has a field of a wrong JSON type.
    """
    node = _target(review, snapshot)
    if node is None:
        return None
    failures: list[RuleFailure] = []
    refusals = list(refusals_of_node(node, snapshot.policy, review.namespace, failures))
    if not refusals and not failures:
        return None
    metadata = object_at(review.object, "metadata", "")
    return NamedPod(review.namespace, review.name or string_at(metadata, "name", "metadata"))


def binding_decision(review: Review, snapshot: Snapshot, found: FoundPods) -> Decision | None:
    """The verdict on the pod that was found; none when there is nothing to judge."""
    node = _target(review, snapshot)
    if node is None or not found.pods:
        return None
    pod = parse_pod(found.pods[0], snapshot.policy, namespace=review.namespace)
    return decide_binding(pod, node, snapshot.policy)


def _target(review: Review, snapshot: Snapshot) -> Node | None:
    """The Binding's node, where bindings are checked and the node is known and has GPUs."""
    if not snapshot.policy.check_bindings or snapshot.inventory is None:
        return None
    target = object_at(review.object, "target", "")
    return snapshot.inventory.node_named(string_at(target, "name", "target"))
