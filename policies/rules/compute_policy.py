"""An offline pod asks for a compute policy that can be hybrid.

Under `native-burst-share` the driver does not arbitrate, so nothing can suspend offline work.
Field: the annotation `vke.volcengine.com/mgpu-compute-policy`.
Allowed: absent (fixed-share), `fixed-share`, `guaranteed-burst-share` (recommended).
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass
from policies.raw import short_text


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when the annotation is there with another value."""
    key = facts.policy.keys.compute_policy
    value = facts.pod.annotations.get(key)
    if value is None or value in facts.policy.support.compute_policies:
        return
    yield Violation(
        path=facts.pod.annotation_path(key),
        message=f'annotation {key} is "{short_text(value)}", which cannot be hybrid',
    )


RULE = Rule(
    id="compute-policy",
    title="Offline pods ask for a compute policy that can be hybrid",
    remedy="ask for {compute_policies}, or remove the annotation",
    source="VKE documentation of hybrid deployment",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
)
