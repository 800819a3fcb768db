from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import MalformedError
from policies.node_selector import (
    Requirement,
    SelectorTerm,
    is_label_key,
    is_label_value,
    matches_requirement,
    matches_term,
    matches_terms,
    parse_int64,
    parse_terms,
)

LABELS = {"pool": "a10", "empty": "", "cards": "8", "zone/name": "b", "huge": "9" * 19}
PATH = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


@pytest.mark.parametrize(
    ("key", "operator", "values", "matches"),
    [
        ("pool", "In", ("a10",), True),
        ("pool", "In", ("h20", "a10"), True),
        ("pool", "In", ("h20",), False),
        ("pool", "In", ("A10",), False),
        ("absent", "In", ("a10",), False),
        ("absent", "In", ("",), False),
        ("empty", "In", ("",), True),
        ("pool", "In", (), False),
        ("pool", "In", ("a10", "not a label"), False),
        ("pool", "In", ("a10", "x" * 63), True),
        ("pool", "In", ("a10", "x" * 64), False),
        ("pool", "NotIn", ("h20",), True),
        ("pool", "NotIn", ("h20", "a10"), False),
        ("absent", "NotIn", ("a10",), True),
        ("empty", "NotIn", ("",), False),
        ("pool", "NotIn", (), False),
        ("absent", "NotIn", (), False),
        ("pool", "NotIn", ("not a label",), False),
        ("not a key", "NotIn", ("a10",), False),
        ("pool", "Exists", (), True),
        ("empty", "Exists", (), True),
        ("absent", "Exists", (), False),
        ("pool", "Exists", ("a10",), False),
        ("pool", "DoesNotExist", (), False),
        ("absent", "DoesNotExist", (), True),
        ("absent", "DoesNotExist", ("a10",), False),
        ("cards", "Gt", ("7",), True),
        ("cards", "Gt", ("8",), False),
        ("cards", "Gt", ("007",), True),
        ("cards", "Gt", ("-1",), False),
        ("cards", "Gt", ("+7",), False),
        ("cards", "Gt", ("7", "6"), False),
        ("cards", "Gt", (), False),
        ("cards", "Gt", ("seven",), False),
        ("cards", "Gt", ("9223372036854775808",), False),
        ("pool", "Gt", ("7",), False),
        ("absent", "Gt", ("7",), False),
        ("huge", "Gt", ("7",), False),
        ("cards", "Lt", ("9",), True),
        ("cards", "Lt", ("9223372036854775807",), True),
        ("cards", "Lt", ("8",), False),
        ("absent", "Lt", ("9",), False),
        ("pool", "in", ("a10",), False),
        ("pool", "Equals", ("a10",), False),
        ("pool", "", ("a10",), False),
    ],
)
def test_requirements(key: str, operator: str, values: tuple[str, ...], *, matches: bool) -> None:
    assert matches_requirement(Requirement(key, operator, values), LABELS) is matches


def pool_is(value: str) -> Requirement:
    return Requirement("pool", "In", (value,))


def name(operator: str, *values: str) -> Requirement:
    return Requirement("metadata.name", operator, values)


@pytest.mark.parametrize(
    ("expressions", "fields", "matches"),
    [
        ((), (), False),
        ((pool_is("a10"),), (), True),
        ((pool_is("a10"), pool_is("h20")), (), False),
        ((), (name("In", "node-1"),), True),
        ((), (name("In", "node-2"),), False),
        ((), (name("NotIn", "node-2"),), True),
        ((), (name("NotIn", "node-1"),), False),
        ((), (name("In", "node-1", "node-2"),), False),
        ((), (name("NotIn"),), False),
        ((), (name("Exists"),), False),
        ((), (name("Gt", "1"),), False),
        ((), (Requirement("metadata.namespace", "NotIn", ("x",)),), False),
        ((pool_is("a10"),), (name("In", "node-1"),), True),
        ((pool_is("h20"),), (name("In", "node-1"),), False),
        ((pool_is("a10"),), (name("In", "node-2"),), False),
    ],
)
def test_terms_are_anded(
    expressions: tuple[Requirement, ...], fields: tuple[Requirement, ...], *, matches: bool
) -> None:
    assert matches_term(SelectorTerm(expressions, fields), LABELS, "node-1") is matches


EMPTY = SelectorTerm((), ())
A10 = SelectorTerm((pool_is("a10"),), ())
H20 = SelectorTerm((pool_is("h20"),), ())
INVALID = SelectorTerm((Requirement("pool", "Is", ("a10",)),), ())


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        ((), False),
        ((EMPTY,), False),
        ((H20,), False),
        ((H20, A10), True),
        ((EMPTY, A10), True),
        ((INVALID,), False),
        ((INVALID, A10), True),
    ],
)
def test_terms_are_ored(terms: tuple[SelectorTerm, ...], *, matches: bool) -> None:
    assert matches_terms(terms, LABELS, "node-1") is matches


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("pool", True),
        ("a/b", True),
        ("vke.volcengine.com/mgpu-compute-policy", True),
        ("x" * 63, True),
        ("x" * 64, False),
        ("a" * 253 + "/x", True),
        ("a" * 254 + "/x", False),
        ("", False),
        ("/x", False),
        ("a/", False),
        ("a/b/c", False),
        ("A.com/x", False),
        ("a..com/x", False),
        ("-x", False),
        ("x-", False),
        ("x\n", False),
        ("\u00e9", False),
    ],
    ids=ascii,
)
def test_label_keys(text: str, *, valid: bool) -> None:
    assert is_label_key(text) is valid


@pytest.mark.parametrize(
    ("text", "valid"),
    [("", True), ("A.b_c-1", True), ("x" * 63, True), ("x" * 64, False)]
    + [(text, False) for text in ("-1", "+1", "a b", "a/b", "x\n", "\u00e9", "_")],
    ids=ascii,
)
def test_label_values(text: str, *, valid: bool) -> None:
    assert is_label_value(text) is valid


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("+5", 5),
        ("-5", -5),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
    ]
    + [
        (text, None)
        for text in (
            "",
            "+",
            "--5",
            "1_0",
            " 1",
            "1\n",
            "1.0",
            "0x1",
            "\u0661",
            "\u00b2",
            "9223372036854775808",
            "-9223372036854775809",
            "9" * 9999,
        )
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_int64(text: str, number: int | None) -> None:
    assert parse_int64(text) == number


def test_parses_terms() -> None:
    raw = [
        {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a10", "h20"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]},
        {"matchExpressions": None, "matchFields": []},
        {"matchExpressions": [{"key": "pool", "operator": "Exists", "values": None}]},
        {"matchExpressions": [{"key": None, "values": [None]}], "unknown": 1},
        {},
    ]
    assert parse_terms(raw, PATH) == (
        SelectorTerm((Requirement("pool", "In", ("a10", "h20")),), ()),
        SelectorTerm((), (Requirement("metadata.name", "In", ("node-1",)),)),
        EMPTY,
        SelectorTerm((Requirement("pool", "Exists", ()),), ()),
        SelectorTerm((Requirement("", "", ("",)),), ()),
        EMPTY,
    )


@pytest.mark.parametrize("raw", [None, []])
def test_no_terms(raw: object) -> None:
    assert parse_terms(raw, PATH) == ()


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        ({}, ""),
        ("x", ""),
        ([1], "[0]"),
        ([{}, {"matchExpressions": {}}], "[1].matchExpressions"),
        ([{"matchFields": ["x"]}], "[0].matchFields[0]"),
        ([{"matchExpressions": [{"key": 1}]}], "[0].matchExpressions[0].key"),
        ([{"matchExpressions": [{}, {"operator": []}]}], "[0].matchExpressions[1].operator"),
        ([{"matchExpressions": [{"values": "a10"}]}], "[0].matchExpressions[0].values"),
        ([{"matchExpressions": [{"values": ["a", 8]}]}], "[0].matchExpressions[0].values[1]"),
        ([{"matchExpressions": [{"values": [True]}]}], "[0].matchExpressions[0].values[0]"),
    ],
)
def test_a_wrong_type_is_named_with_its_path(raw: object, where: str) -> None:
    with pytest.raises(MalformedError, match="must be") as error:
        parse_terms(raw, PATH)
    assert error.value.path == PATH + where
    assert str(error.value) == f"{error.value.path}: {error.value.message}"


WORDS = st.sampled_from(["a10", "h20", "8", "10", ""])
NODE_LABELS = st.dictionaries(st.sampled_from(["pool", "cards"]), WORDS)


@given(NODE_LABELS, st.sampled_from(["pool", "cards"]), st.lists(WORDS, min_size=1).map(tuple))
def test_in_and_not_in_are_opposites(
    labels: Mapping[str, str], key: str, values: tuple[str, ...]
) -> None:
    within = matches_requirement(Requirement(key, "In", values), labels)
    assert matches_requirement(Requirement(key, "NotIn", values), labels) is not within


@given(st.integers(-(2**70), 2**70))
def test_int64_round_trips(number: int) -> None:
    expected = number if -(2**63) <= number < 2**63 else None
    assert parse_int64(str(number)) == expected
