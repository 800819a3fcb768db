"""After injection a pod can land exactly where it could before and the injected requirements hold."""

from collections.abc import Mapping

from hypothesis import event, given

from policies.node_selector import matches_requirement, matches_terms
from policies.policy import Policy
from tests.properties.fields import Document
from tests.properties.patching import patched
from tests.properties.placements import NODE_LABELS, NODE_NAMES
from tests.properties.pods import offline_pods
from tests.properties.reading import terms_of

WANTED = Policy().injection.node_requirements


def _matches(pod: Document, labels: Mapping[str, str], name: str) -> bool:
    terms = terms_of(pod)
    return terms is None or matches_terms(terms, labels, name)


@given(raw=offline_pods(), labels=NODE_LABELS, name=NODE_NAMES)
def test_a_node_matches_exactly_when_it_did_before_and_has_what_is_injected(
    raw: Document, labels: dict[str, str], name: str
) -> None:
    before = _matches(raw, labels, name)
    holds = all(matches_requirement(requirement, labels) for requirement in WANTED)
    event(f"matched before: {before}, holds what is injected: {holds}")
    assert _matches(patched(raw), labels, name) == (before and holds)
