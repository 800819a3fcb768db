"""A deadline runs on while an offline pod is suspended.

`activeDeadlineSeconds` counts wall-clock time: the pod is killed for time in which it could not work.
Field: `spec.activeDeadlineSeconds` of an offline pod. Allowed: absent.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when the field is set."""
    seconds = facts.pod.spec.get("activeDeadlineSeconds")
    if seconds is not None:
        yield Violation(
            path=f"{facts.pod.spec_path}.activeDeadlineSeconds",
            message=f"offline pod has activeDeadlineSeconds {seconds}, which runs on while it is suspended",
        )


RULE = Rule(
    id="offline-deadline",
    title="Offline pods have no active deadline",
    remedy="remove it, or make it long enough for the time that online work may take",
    source="Kubernetes API reference, PodSpec.activeDeadlineSeconds",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
