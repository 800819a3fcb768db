"""An offline pod uses one card per container.

Multi-card mode cannot be hybrid: suspending a job that spans cards leaves the others waiting.
Field: the annotation `vke.volcengine.com/container-multiple-gpu`, one count per entry of spec.containers.
Allowed: absent, or integers 0 and 1, as many as there are containers.
"""

from collections.abc import Iterator

from policies.card_counts import CardCountError, parse_card_counts
from policies.facts import Facts, Rule, Violation
from policies.pod import Pod, PodClass
from policies.raw import short_text


def check(facts: Facts) -> Iterator[Violation]:
    """At most one violation: what is wrong with the list."""
    key = facts.policy.keys.container_multiple_gpu
    text = facts.pod.annotations.get(key)
    if text is None:
        return
    fault = _fault(text, facts.pod)
    if fault:
        yield Violation(
            path=facts.pod.annotation_path(key),
            message=f'annotation {key} is "{short_text(text)}": {fault}',
        )


def _fault(text: str, pod: Pod) -> str:
    try:
        counts = parse_card_counts(text)
    except CardCountError as error:
        return str(error)
    containers = len(pod.main_containers)
    if len(counts) != containers:
        return f"{len(counts)} counts for {containers} containers"
    wrong = [count for count in counts if not 0 <= count <= 1]
    if wrong:
        return f"an offline container cannot have {wrong[0]} cards"
    return ""


RULE = Rule(
    id="multi-card",
    title="Offline pods do not use several cards",
    remedy=(
        "remove the annotation {keys.container_multiple_gpu}; split the work into pods of one card"
    ),
    source="VKE documentation of hybrid deployment; the public mGPU scheduler code",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
