"""Labels and annotations of offline pods.

The label `mgpu-hybrid.io/class=offline` lets people and programs select these pods; nothing of ours
trusts it. Further labels and annotations are the policy's own and none by default.
"""

from collections.abc import Iterator, Mapping

from policies.patch import Change, Op
from policies.pod import Pod
from policies.policy import Injection
from policies.raw import short_text, strings_at

REASON = "lets people and programs select offline pods"


def changes(pod: Pod, injection: Injection) -> Iterator[Change]:
    """The labels and annotations that are missing or have another value."""
    if pod.raw.get("metadata") is None:
        wanted = {"labels": dict(injection.labels), "annotations": dict(injection.annotations)}
        value = {field: entries for field, entries in wanted.items() if entries}
        if value:
            yield Change(Op.ADD, ("metadata",), REASON, value)
        return
    labels = strings_at(pod.metadata, "labels", "metadata")
    yield from _map_changes(pod, "labels", labels, injection.labels)
    yield from _map_changes(pod, "annotations", pod.annotations, injection.annotations)


def _map_changes(
    pod: Pod, field: str, present: Mapping[str, str], wanted: tuple[tuple[str, str], ...]
) -> Iterator[Change]:
    missing = {key: value for key, value in wanted if present.get(key) != value}
    if missing and pod.metadata.get(field) is None:
        yield Change(Op.ADD, ("metadata", field), REASON, missing)
        return
    for key, value in missing.items():
        old = present.get(key)
        warning = (
            ""
            if old is None
            else f'metadata.{field}: {key} was "{short_text(old)}", is now "{value}"'
        )
        op = Op.ADD if old is None else Op.REPLACE
        yield Change(op, ("metadata", field, key), REASON, value, warning)
