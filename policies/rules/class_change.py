"""A pod keeps its class, compute policy and card counts for life.

The scheduler and the node have acted on them: changing them later makes an online pod suspendable, or
frees an offline one from suspension.
The API server copies the annotations of a Binding to the pod, so a Binding that carries one is a change
that nobody else would see.
Fields: annotations qos_level, mgpu-compute-policy and container-multiple-gpu, old against new; in a
Binding, none of them is allowed.
"""

from collections.abc import Iterator

from policies.facts import Facts, Operation, Rule, Violation
from policies.node import FIXED_SHARE
from policies.pod import MGPU_CLASSES, Pod
from policies.policy import Action
from policies.raw import short_text


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per thing that an UPDATE changes or that a Binding carries."""
    pod, old, keys = facts.pod, facts.old, facts.policy.keys
    if facts.subresource == "binding":
        yield from _carried(facts)
        return
    if facts.operation is not Operation.UPDATE or old is None:
        return
    if pod.pod_class is not old.pod_class:
        yield _changed(pod, keys.qos_level, "class", old.pod_class, pod.pod_class)
    before = old.annotations.get(keys.compute_policy, FIXED_SHARE)
    after = pod.annotations.get(keys.compute_policy, FIXED_SHARE)
    if before != after:
        yield _changed(pod, keys.compute_policy, "compute policy", before, after)
    before = old.annotations.get(keys.container_multiple_gpu, "none")
    after = pod.annotations.get(keys.container_multiple_gpu, "none")
    if before != after:
        yield _changed(pod, keys.container_multiple_gpu, "card counts", before, after)


def _carried(facts: Facts) -> Iterator[Violation]:
    pod, keys, schedulers = facts.pod, facts.policy.keys, facts.policy.schedulers
    if facts.username in schedulers:
        return
    for key in (keys.qos_level, keys.compute_policy, keys.container_multiple_gpu):
        if key in pod.annotations:
            yield Violation(
                path=pod.annotation_path(key),
                message=(
                    f"Binding sets annotation {key} of its pod "
                    f'to "{short_text(pod.annotations[key])}"'
                ),
                remedy="leave this annotation out of the Binding",
                at_most=Action.DENY if schedulers else Action.WARN,
            )


def _changed(pod: Pod, key: str, what: str, before: str, after: str) -> Violation:
    return Violation(
        path=pod.annotation_path(key),
        message=(
            f"update changes the pod's {what} from {short_text(before)} to {short_text(after)} "
            f"(annotation {key})"
        ),
    )


RULE = Rule(
    id="class-change",
    title="An update does not change a pod's class, compute policy or card counts",
    remedy="create a new pod with the wanted annotation",
    source="mgpu-hybrid's own contract: scheduler and node acted on the old values",
    classes=MGPU_CLASSES,
    check=check,
    judges_change=True,
    for_templates=False,
    in_audit=False,
    for_bindings=True,
)
