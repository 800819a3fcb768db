"""Tolerations of the taints that keep everything but offline work off reclaimed capacity.

A toleration is added unless one that is there already tolerates all that it would, by Kubernetes' own
rules: `Exists` without a key tolerates everything.
"""

from collections.abc import Iterator

from policies.patch import Change, Op
from policies.pod import Pod
from policies.policy import Injection
from policies.raw import JsonObject
from policies.tolerations import Toleration, covers


def changes(pod: Pod, injection: Injection) -> Iterator[Change]:
    """The tolerations that are missing."""
    present = pod.tolerations
    missing = [t for t in injection.tolerations if not any(covers(p, t) for p in present)]
    if not missing:
        return
    path = ("spec", "tolerations")
    if pod.spec.get("tolerations") is None:
        keys = ", ".join(t.key for t in missing)
        yield Change(Op.ADD, path, _reason(keys), [_document(t) for t in missing])
        return
    for toleration in missing:
        yield Change(Op.ADD, (*path, "-"), _reason(toleration.key), _document(toleration))


def _reason(keys: str) -> str:
    return f"admits nodes that are tainted for offline work ({keys})"


def _document(toleration: Toleration) -> JsonObject:
    """The toleration as the API server writes it: what is empty is left out."""
    fields = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.seconds,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}
