"""The multi-card annotation switches the mode by its mere presence.

Schedulers take a pod with the annotation for a multi-card one even when every count is 0 or 1, and
multi-card mode cannot be hybrid.
Field: the annotation `vke.volcengine.com/container-multiple-gpu`. Allowed: absent.
"""

from collections.abc import Iterator

from policies.card_counts import CardCountError, parse_card_counts
from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass
from policies.raw import short_text


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when the list parses and holds no count above 1; worse lists are for `multi-card`."""
    key = facts.policy.keys.container_multiple_gpu
    text = facts.pod.annotations.get(key)
    if text is None:
        return
    try:
        counts = parse_card_counts(text)
    except CardCountError:
        return
    if len(counts) == len(facts.pod.main_containers) and all(0 <= c <= 1 for c in counts):
        yield Violation(
            path=facts.pod.annotation_path(key),
            message=(
                f'annotation {key} is "{short_text(text)}": '
                "schedulers take its presence for multi-card mode"
            ),
        )


RULE = Rule(
    id="multi-card-mode",
    title="Offline pods leave the multi-card annotation out",
    remedy="remove the annotation {keys.container_multiple_gpu}: one card needs no list",
    source="the public mGPU scheduler code: presence means multi-card",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
