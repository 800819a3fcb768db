"""A patch applies, changes what it names and nothing else, and is needed once."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.apply import applied
from policies.engine import mutate
from policies.node_selector import Requirement
from policies.placement import is_same
from policies.pod import parse_pod
from policies.raw import object_at, objects_at
from tests.properties.defaulting import stored
from tests.properties.fields import Document
from tests.properties.injections import POLICIES
from tests.properties.patching import apply_patch, patch_of, patched, touched, without
from tests.properties.pods import offline_pods
from tests.properties.reading import raw_terms, spec_of, terms_of

POLICY_NAMES = st.sampled_from(sorted(POLICIES))
PATCHED_SCALARS = (
    *("priorityClassName", "priority", "preemptionPolicy"),
    *("schedulerName", "runtimeClassName", "overhead"),
)


@given(raw=offline_pods(), policy=POLICY_NAMES)
def test_mutating_twice_equals_mutating_once(raw: Document, policy: str) -> None:
    before = copy.deepcopy(raw)
    assert patch_of(patched(raw, POLICIES[policy]), POLICIES[policy]) == []
    assert raw == before, "mutate changed its input"


@given(raw=offline_pods(), policy=POLICY_NAMES)
def test_mutating_after_defaulting_by_the_api_server_adds_nothing(
    raw: Document, policy: str
) -> None:
    assert patch_of(stored(patched(raw, POLICIES[policy])), POLICIES[policy]) == []
    assert patch_of(stored(patched(stored(raw), POLICIES[policy])), POLICIES[policy]) == []


@given(raw=offline_pods(), policy=POLICY_NAMES)
def test_nothing_but_what_the_patch_names_has_changed(raw: Document, policy: str) -> None:
    places = touched(patch_of(raw, POLICIES[policy]))
    assert without(patched(raw, POLICIES[policy]), places) == without(raw, places)


@given(raw=offline_pods(), policy=POLICY_NAMES)
def test_the_patch_names_only_what_mutations_own(raw: Document, policy: str) -> None:
    for place in touched(patch_of(raw, POLICIES[policy])):
        match place:
            case ("metadata",):
                assert raw.get("metadata") is None
            case ("metadata", "labels" | "annotations", *_):
                pass
            case ("spec", "containers" | "initContainers", _, "env", *_):
                pass
            case ("spec", "tolerations") | ("spec", "affinity", *_):
                pass
            case ("spec", field):
                assert field in PATCHED_SCALARS
            case _:
                pytest.fail(f"patch names {place}")


@given(raw=offline_pods(), policy=POLICY_NAMES)
def test_tolerations_of_the_user_stay_first_and_as_they_are(raw: Document, policy: str) -> None:
    before = spec_of(raw).get("tolerations")
    user = before if isinstance(before, list) else []
    after = spec_of(patched(raw, POLICIES[policy])).get("tolerations")
    assert (after or [])[: len(user)] == user if isinstance(after, list) else after == before


@given(raw=offline_pods(), policy=POLICY_NAMES)
def test_the_product_applies_a_patch_as_the_jsonpatch_library_does(
    raw: Document, policy: str
) -> None:
    document = json.loads(json.dumps(raw))
    mutation = mutate(parse_pod(document, POLICIES[policy]), POLICIES[policy])
    assert applied(document, mutation) == patched(raw, POLICIES[policy])
    assert document == raw


@given(raw=offline_pods(), count=st.integers(0, 20))
def test_every_operation_is_needed(raw: Document, count: int) -> None:
    """After any part of the patch just as many operations are left to do as were not applied."""
    patch = patch_of(raw)
    count = min(count, len(patch))
    assert len(patch_of(apply_patch(raw, patch[:count]))) == len(patch) - count


@given(raw=offline_pods())
def test_every_term_but_the_empty_holds_what_is_injected_and_loses_nothing(raw: Document) -> None:
    wanted = POLICIES["default"].injection.node_requirements
    before, after = raw_terms(raw), raw_terms(patched(raw))
    assert after is not None
    if before is None:
        assert len(after) == 1
        assert _requirements(patched(raw)) == [list(wanted)]
        return
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        old_own, new_own = (objects_at(t, "matchExpressions", "") for t in (old, new))
        if not old_own and not old.get("matchFields"):
            assert new == old
            continue
        assert new_own[: len(old_own)] == old_own
        assert {k: v for k, v in new.items() if k != "matchExpressions"} == {
            k: v for k, v in old.items() if k != "matchExpressions"
        }
    for requirements in _requirements(patched(raw)):
        assert all(any(is_same(w, r) for r in requirements) for w in wanted)


@given(raw=offline_pods())
def test_labels_of_the_user_stay_and_the_class_label_is_set(raw: Document) -> None:
    labels = [
        object_at(object_at(pod, "metadata", ""), "labels", "") for pod in (raw, patched(raw))
    ]
    expected = {**labels[0], "mgpu-hybrid.io/class": "offline"}
    assert labels[1] == expected


@given(raw=offline_pods())
def test_values_of_the_priority_class_leave_with_the_old_class(raw: Document) -> None:
    policy = POLICIES["priority"]
    before, after = spec_of(raw), spec_of(patched(raw, policy))
    assert after["priorityClassName"] == "batch-low"
    if before.get("priorityClassName") != "batch-low":
        assert "priority" not in after
        assert "preemptionPolicy" not in after


def _requirements(pod: Document) -> list[list[Requirement]]:
    terms = terms_of(pod) or ()
    return [list(t.expressions) for t in terms if t.expressions or t.fields]
