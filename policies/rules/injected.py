"""An offline pod that is created carries what the mutating webhook writes.

The mutating hook was skipped (it is registered with Ignore) or undone by another one; without the marks
the card would treat the pod as online work.
Fields: env of GPU containers, tolerations, required node affinity, labels. Allowed: what the injection
in force, or one that was in force until a moment ago, leaves nothing to add to.
"""

from collections.abc import Iterator

from policies.facts import Facts, Operation, Rule, Violation
from policies.mutations import changes_for
from policies.patch import Change
from policies.pod import PodClass


def check(facts: Facts) -> Iterator[Violation]:
    """One violation that lists what is missing."""
    if facts.operation is not Operation.CREATE:
        return
    injections = (facts.policy.injection, *facts.previous_injections)
    missing = [list(changes_for(facts.pod, injection)) for injection in injections]
    if all(missing):
        yield Violation(
            path=facts.pod.spec_path,
            message=f"offline pod lacks what the mutating webhook injects: {_places(missing[0])}",
        )


def _places(changes: list[Change]) -> str:
    places = (".".join(step for step in change.path if step != "-") for change in changes)
    return ", ".join(dict.fromkeys(places))


RULE = Rule(
    id="injected",
    title="Offline pods carry what the mutating webhook writes",
    remedy=(
        "create the pod again; if it happens again, the mutating webhook of mgpu-hybrid is not reached or "
        "another webhook undoes its changes: see its status and logs"
    ),
    source="mgpu-hybrid's own contract",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
    judges_change=True,
    for_templates=False,
    in_audit=False,
)
