import pytest

from policies.patch import Change, Mutation, Op, escape


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("plain", "plain"),
        ("a/b", "a~1b"),
        ("a~b", "a~0b"),
        ("~1", "~01"),
        ("~/", "~0~1"),
        ("-", "-"),
    ],
)
def test_escape(token: str, expected: str) -> None:
    assert escape(token) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            Change(Op.ADD, ("metadata", "labels", "a.io/b"), "why", "c"),
            {"op": "add", "path": "/metadata/labels/a.io~1b", "value": "c"},
            id="add",
        ),
        pytest.param(
            Change(Op.REPLACE, ("spec", "x"), "why", None),
            {"op": "replace", "path": "/spec/x", "value": None},
            id="replace by null",
        ),
        pytest.param(
            Change(Op.REMOVE, ("spec", "x"), "why"),
            {"op": "remove", "path": "/spec/x"},
            id="remove has no value",
        ),
    ],
)
def test_operation(change: Change, expected: dict[str, object]) -> None:
    assert change.operation() == expected


def test_a_mutation_keeps_the_order_and_collects_warnings() -> None:
    first = Change(Op.ADD, ("a",), "why", 1, "one is replaced")
    second = Change(Op.REMOVE, ("b",), "why")
    mutation = Mutation((first, second))
    assert [step["op"] for step in mutation.patch] == ["add", "remove"]
    assert mutation.warnings == ("one is replaced",)


def test_nothing_to_do_is_an_empty_patch() -> None:
    assert Mutation().patch == []
    assert Mutation().warnings == ()
