"""A privileged container sees every device of the node.

No share of a card can be enforced on a container that opens the device by itself.
Field: `securityContext.privileged` of every container of an mGPU pod. Allowed: absent or false.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import MGPU_CLASSES
from policies.raw import object_at


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per privileged container, with or without a GPU request of its own."""
    for container in facts.pod.containers:
        if object_at(container.raw, "securityContext", container.path).get("privileged") is True:
            yield Violation(
                path=f"{container.path}.securityContext.privileged",
                message=f"container {container.name} of an mGPU pod is privileged and sees every card",
            )


RULE = Rule(
    id="privileged-container",
    title="mGPU pods have no privileged container",
    remedy="drop privileged and grant the single capabilities it needs",
    source="Kubernetes documentation of privileged containers",
    classes=MGPU_CLASSES,
    check=check,
)
