"""The generator stays worth its time: a fixed sample holds enough offline pods of every kind.

Without this a change of a strategy could leave the properties with pods that nothing happens to.
"""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from policies.engine import decide, mutate
from policies.facts import Facts
from policies.patch import Mutation, Op
from policies.pod import Pod, PodClass, parse_pod
from policies.policy import Policy
from policies.raw import object_at
from tests.properties.containers import INJECTED_NAME
from tests.properties.fields import Document
from tests.properties.injections import POLICIES
from tests.properties.patching import patched
from tests.properties.pods import offline_pods, pods
from tests.properties.reading import containers_of, env_of, raw_terms, spec_of, terms_of

POLICY = Policy()
SAMPLE = 400
LEAST = 5


def _sample(strategy: st.SearchStrategy[Document]) -> list[Document]:
    drawn: list[Document] = []

    @settings(
        max_examples=SAMPLE,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(raw=strategy)
    def draw(raw: Document) -> None:
        drawn.append(raw)

    draw()
    return drawn


@pytest.fixture(scope="module")
def offline_sample() -> list[Document]:
    return _sample(offline_pods())


def _pod(raw: Document) -> Pod:
    return parse_pod(raw, POLICY)


def _mutation(raw: Document) -> Mutation:
    return mutate(_pod(raw), POLICY)


def _marks(raw: Document) -> list[list[object]]:
    """The values of the injected name in each container that asks mGPU."""
    return [
        [entry for entry in env_of(c.raw) if entry.get("name") == INJECTED_NAME]
        for c in _pod(raw).mgpu_containers
    ]


def _missing_per_term(raw: Document) -> list[int]:
    wanted = POLICY.injection.node_requirements
    terms = terms_of(raw) or ()
    return [len(set(wanted) - set(term.expressions)) for term in terms if term.expressions]


def _names(raw: Document, *places: tuple[str, ...]) -> bool:
    paths = {change.path for change in _mutation(raw).changes}
    return any(place in paths for place in places)


FEATURES: Mapping[str, Callable[[Document], bool]] = {
    "several containers ask mGPU": lambda raw: len(_pod(raw).mgpu_containers) > 1,
    "an init container asks mGPU": lambda raw: any(c.is_init for c in _pod(raw).mgpu_containers),
    "a sidecar asks mGPU": lambda raw: any(
        c.is_init and c.raw.get("restartPolicy") == "Always" for c in _pod(raw).mgpu_containers
    ),
    "a container asks nothing": lambda raw: not all(c.asks_mgpu for c in _pod(raw).containers),
    "an ephemeral container": lambda raw: bool(spec_of(raw).get("ephemeralContainers")),
    "a null container": lambda raw: {} in list(containers_of(raw)),
    "no metadata": lambda raw: raw.get("metadata") is None,
    "null labels": lambda raw: object_at(raw, "metadata", "").get("labels", 0) is None,
    "no qos_level": lambda raw: _pod(raw).qos_level is None,
    "a wrong qos_level": lambda raw: _pod(raw).qos_level not in (None, "reclaimed_cores"),
    "offline by annotation": lambda raw: not any(c.reclaimed for c in _pod(raw).containers),
    "an amount that is no quantity": lambda raw: any(
        c.reclaimed is not None and c.reclaimed.problem for c in _pod(raw).containers
    ),
    "a mark is right already": lambda raw: any(
        marks and all(mark == {"name": INJECTED_NAME, "value": "offline"} for mark in marks)
        for marks in _marks(raw)
    ),
    "a mark is there twice": lambda raw: any(len(marks) > 1 for marks in _marks(raw)),
    "a mark with valueFrom": lambda raw: any("valueFrom" in str(marks) for marks in _marks(raw)),
    "a mark goes before other variables": lambda raw: any(
        change.path[3:] == ("env", "0") for change in _mutation(raw).changes
    ),
    "a mark without a value": lambda raw: any(
        change.path[-1] == "value" and change.op is Op.ADD for change in _mutation(raw).changes
    ),
    "tolerations appended": lambda raw: _names(raw, ("spec", "tolerations", "-")),
    "tolerations made": lambda raw: _names(raw, ("spec", "tolerations")),
    "taint tolerated already": lambda raw: (
        not _names(raw, ("spec", "tolerations"), ("spec", "tolerations", "-"))
    ),
    "affinity made": lambda raw: _names(raw, ("spec", "affinity")),
    "node affinity made": lambda raw: _names(raw, ("spec", "affinity", "nodeAffinity")),
    "required block made": lambda raw: any(
        change.path[-1].startswith("required") for change in _mutation(raw).changes
    ),
    "no terms": lambda raw: raw_terms(raw) == [],
    "several terms": lambda raw: len(raw_terms(raw) or ()) > 1,
    "an empty term": lambda raw: any(
        not t.expressions and not t.fields for t in terms_of(raw) or ()
    ),
    "a term of fields alone": lambda raw: any(
        t.fields and not t.expressions for t in terms_of(raw) or ()
    ),
    "a term that is complete": lambda raw: 0 in _missing_per_term(raw),
    "a term that lacks one expression": lambda raw: 1 in _missing_per_term(raw),
    "a label is replaced": lambda raw: any("labels" in w for w in _mutation(raw).warnings),
    "values of a priority class leave": lambda raw: any(
        change.op is Op.REMOVE for change in mutate(_pod(raw), POLICIES["priority"]).changes
    ),
    "unknown fields": lambda raw: "x-unknown" in str(raw),
    "pod is admitted": lambda raw: decide(Facts(parse_pod(patched(raw), POLICY), POLICY)).allowed,
}


@pytest.mark.parametrize("feature", FEATURES)
def test_the_sample_has_offline_pods_in_which(feature: str, offline_sample: list[Document]) -> None:
    holds = FEATURES[feature]
    assert sum(1 for raw in offline_sample if holds(raw)) >= LEAST


def test_the_sample_has_pods_of_every_class() -> None:
    classes = [_pod(raw).pod_class for raw in _sample(pods())]
    counts = {pod_class: classes.count(pod_class) for pod_class in PodClass}
    assert counts[PodClass.OFFLINE] > SAMPLE / 4
    assert min(counts[c] for c in PodClass if c is not PodClass.DRA) >= LEAST
