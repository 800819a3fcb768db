"""The name of a GPU container must leave room for the scheduler's annotation.

The scheduler writes `gpu-index-container-<name>`; the part of a key after the slash has at most 63
characters, 20 of which are taken.
Field: name of every container that asks mGPU. Allowed: at most 43 characters.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import MGPU_CLASSES

LONGEST_NAME = 43


def check(facts: Facts) -> Iterator[Violation]:
    """One violation per GPU container whose name is too long."""
    for container in facts.pod.mgpu_containers:
        if len(container.name) > LONGEST_NAME:
            yield Violation(
                path=f"{container.path}.name",
                message=f"container name {container.name} has {len(container.name)} characters",
            )


RULE = Rule(
    id="container-name",
    title="Names of GPU containers fit the scheduler's annotation",
    remedy=(
        f"shorten it to at most {LONGEST_NAME} characters: "
        "the scheduler cannot write its placement annotation"
    ),
    source="the public mGPU scheduler code; Kubernetes' limit of 63 characters for a key's name",
    classes=MGPU_CLASSES,
    check=check,
)
