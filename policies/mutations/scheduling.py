"""Priority class, scheduler and runtime class of offline pods; off unless the policy names them.

The API server has filled `priority` and `preemptionPolicy` (and `overhead` of a runtime class) before a
webhook is called and refuses a pod in which they do not fit the class, so they leave in the same patch;
it fills them anew afterwards.
"""

from collections.abc import Iterator

from policies.patch import Change, Op
from policies.pod import Pod
from policies.policy import Injection
from policies.raw import string_at

REASON = "is what the policy gives to every offline pod"


def changes(pod: Pod, injection: Injection) -> Iterator[Change]:
    """The fields that are absent or have another value."""
    yield from _field(
        pod, "priorityClassName", injection.priority_class_name, ("priority", "preemptionPolicy")
    )
    yield from _field(pod, "schedulerName", injection.scheduler_name, ())
    yield from _field(pod, "runtimeClassName", injection.runtime_class_name, ("overhead",))


def _field(pod: Pod, name: str, wanted: str, derived: tuple[str, ...]) -> Iterator[Change]:
    old = string_at(pod.spec, name, "spec")
    if not wanted or old == wanted:
        return
    op = Op.REPLACE if name in pod.spec else Op.ADD
    replaced = old and not (name == "schedulerName" and old == "default-scheduler")
    warning = f'spec.{name} was "{old}", is now "{wanted}"' if replaced else ""
    yield Change(op, ("spec", name), REASON, wanted, warning)
    for field in derived:
        if field in pod.spec:
            yield Change(Op.REMOVE, ("spec", field), f"is derived from {name} by the API server")
