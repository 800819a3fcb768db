"""Only the scheduler says on which card a pod is.

The node reads these annotations to place a container: a forged one puts work on somebody else's card.
Fields: annotations `vke.volcengine.com/assumed` and `gpu-index-container-*` of the pod or of a Binding.
Allowed: none at CREATE; on UPDATE and in a Binding only from a user in the policy's `schedulers`. A
template may lose them, never gain them: its pods would be refused.
"""

from collections.abc import Iterator, Mapping

from policies.facts import Facts, Operation, Rule, Violation
from policies.pod import MGPU_CLASSES
from policies.policy import Action, Keys
from policies.raw import short_text

SCHEDULING_REMEDY = (
    "leave them alone; if this user is the scheduler, add it to the policy's `schedulers`"
)


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per annotation that is set, changed or removed by somebody else."""
    keys = facts.policy.keys
    is_template = bool(facts.template_kind)
    is_scheduling = not is_template and (
        facts.operation is Operation.UPDATE or facts.subresource == "binding"
    )
    if is_scheduling and facts.username in facts.policy.schedulers:
        return
    at_most = Action.WARN if is_scheduling and not facts.policy.schedulers else Action.DENY
    old = _placements(facts.old.annotations, keys) if facts.old else {}
    new = _placements(facts.pod.annotations, keys)
    who = "" if facts.username is None else f" by {facts.username}"
    touched = new.keys() if is_template else old.keys() | new.keys()
    for key in sorted(key for key in touched if old.get(key) != new.get(key)):
        done = f'is set to "{short_text(new[key])}"' if key in new else "is removed"
        yield Violation(
            path=facts.pod.annotation_path(key),
            message=f"annotation {key} {done}{who}, but only the scheduler places containers",
            remedy=SCHEDULING_REMEDY if is_scheduling else "",
            at_most=at_most,
        )


def _placements(annotations: Mapping[str, str], keys: Keys) -> Mapping[str, str]:
    return {
        key: value
        for key, value in annotations.items()
        if key == keys.assumed or key.startswith(keys.gpu_index_prefix)
    }


RULE = Rule(
    id="scheduler-annotations",
    title="Placement annotations are the scheduler's",
    remedy="leave these annotations out when creating a pod",
    source="the public mGPU scheduler code",
    classes=MGPU_CLASSES,
    check=check,
    judges_change=True,
    in_audit=False,
    for_bindings=True,
)
