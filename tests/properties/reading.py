"""Looks into generated pods, for tests: null and absent are nothing."""

from collections.abc import Iterator, Sequence

from policies.node_selector import SelectorTerm, parse_terms
from policies.pod import REQUIRED
from policies.raw import JsonObject, object_at, objects_at


def spec_of(pod: JsonObject) -> JsonObject:
    """The pod's spec."""
    return object_at(pod, "spec", "")


def containers_of(pod: JsonObject) -> Iterator[JsonObject]:
    """Containers, then init containers."""
    for field in ("containers", "initContainers"):
        yield from objects_at(spec_of(pod), field, "")


def env_of(container: JsonObject) -> list[JsonObject]:
    """The entries of `env`."""
    return objects_at(container, "env", "")


def raw_terms(pod: JsonObject) -> Sequence[JsonObject] | None:
    """The nodeSelectorTerms of required node affinity; None when nothing is required."""
    affinity = object_at(spec_of(pod), "affinity", "")
    node_affinity = object_at(affinity, "nodeAffinity", "")
    if node_affinity.get(REQUIRED) is None:
        return None
    return objects_at(object_at(node_affinity, REQUIRED, ""), "nodeSelectorTerms", "")


def terms_of(pod: JsonObject) -> tuple[SelectorTerm, ...] | None:
    """The same as values."""
    raw = raw_terms(pod)
    return None if raw is None else parse_terms(list(raw), "nodeSelectorTerms")
