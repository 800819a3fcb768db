"""Changes applied in process equal the JSON patch applied by a library that is not ours."""

import copy

import jsonpatch
import pytest
from hypothesis import given

from policies.apply import applied, apply_in_place
from policies.engine import mutate
from policies.patch import Change, Mutation, Op
from policies.pod import parse_pod
from tests.properties.fields import Document
from tests.properties.injections import POLICIES
from tests.properties.pods import offline_pods


@pytest.mark.parametrize("policy", POLICIES)
@given(raw=offline_pods())
def test_it_is_what_the_patch_says(raw: Document, policy: str) -> None:
    mutation = mutate(parse_pod(raw, POLICIES[policy]), POLICIES[policy])
    before = copy.deepcopy(raw)
    assert applied(raw, mutation) == jsonpatch.apply_patch(raw, mutation.patch)
    assert raw == before


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(Change(Op.ADD, ("l", "-"), "", 9), {"l": [1, 2, 9]}, id="append"),
        pytest.param(Change(Op.ADD, ("l", "0"), "", 9), {"l": [9, 1, 2]}, id="insert first"),
        pytest.param(Change(Op.ADD, ("l", "2"), "", 9), {"l": [1, 2, 9]}, id="insert at the end"),
        pytest.param(Change(Op.REPLACE, ("l", "1"), "", 9), {"l": [1, 9]}, id="replace an entry"),
        pytest.param(Change(Op.REMOVE, ("l", "0"), ""), {"l": [2]}, id="remove an entry"),
        pytest.param(Change(Op.ADD, ("a/b",), "", 9), {"l": [1, 2], "a/b": 9}, id="add a key"),
        pytest.param(Change(Op.REPLACE, ("l",), "", 9), {"l": 9}, id="replace a key"),
        pytest.param(Change(Op.REMOVE, ("l",), ""), {}, id="remove a key"),
    ],
)
def test_one_change(change: Change, expected: Document) -> None:
    raw: Document = {"l": [1, 2]}
    assert apply_in_place(raw, Mutation((change,))) is raw
    assert raw == expected
    assert raw == jsonpatch.apply_patch({"l": [1, 2]}, Mutation((change,)).patch)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(Change(Op.REPLACE, ("x",), "", 9), id="replace an absent key"),
        pytest.param(Change(Op.REMOVE, ("x",), ""), id="remove an absent key"),
        pytest.param(Change(Op.ADD, ("l", "3"), "", 9), id="insert beyond the end"),
        pytest.param(Change(Op.REMOVE, ("l", "2"), ""), id="remove beyond the end"),
        pytest.param(Change(Op.ADD, ("x", "y"), "", 9), id="below an absent key"),
        pytest.param(Change(Op.ADD, ("l", "0", "y"), "", 9), id="into a number"),
        pytest.param(Change(Op.ADD, ("l", "0", "y", "z"), "", 9), id="through a number"),
    ],
)
def test_a_change_that_does_not_fit_is_a_fault(change: Change) -> None:
    with pytest.raises(LookupError):
        apply_in_place({"l": [1, 2]}, Mutation((change,)))
