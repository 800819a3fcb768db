import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import MalformedError
from policies.tolerations import (
    Taint,
    Toleration,
    covers,
    parse_taints,
    parse_tolerations,
    tolerates,
)


def toleration(
    key: str = "",
    operator: str = "",
    value: str = "",
    effect: str = "",
    *,
    seconds: int | None = None,
) -> Toleration:
    return Toleration(key, operator, value, effect, seconds)


TAINT = Taint("gpu", "5", "NoSchedule")


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (toleration("gpu", "Exists"), True),
        (toleration("gpu", "Exists", effect="NoSchedule"), True),
        (toleration("gpu", "Exists", effect="NoExecute"), False),
        (toleration("other", "Exists"), False),
        (toleration("", "Exists"), True),
        (toleration("", "Exists", effect="NoExecute"), False),
        (toleration("gpu", "Exists", "ignored"), True),
        (toleration("gpu", "Equal", "5"), True),
        (toleration("gpu", "Equal", "05"), False),
        (toleration("gpu", "", "5"), True),
        (toleration("gpu", "", ""), False),
        (toleration("", "Equal", "5"), True),
        (toleration("gpu", "Gt", "4"), True),
        (toleration("gpu", "Gt", "5"), False),
        (toleration("gpu", "Gt", "-5"), True),
        (toleration("gpu", "Lt", "6"), True),
        (toleration("gpu", "Lt", "5"), False),
        (toleration("gpu", "Gt", "04"), False),
        (toleration("gpu", "Gt", "+4"), False),
        (toleration("gpu", "Gt", "-0"), False),
        (toleration("gpu", "Lt", "9223372036854775807"), True),
        (toleration("gpu", "Lt", "9223372036854775808"), False),
        (toleration("gpu", "Gt", ""), False),
        (toleration("gpu", "exists"), False),
    ],
    ids=str,
)
def test_tolerates(candidate: Toleration, *, expected: bool) -> None:
    assert tolerates(candidate, TAINT) is expected


@pytest.mark.parametrize("value", ["", "x", "07", "+7", "-0", "1.5"])
def test_comparison_needs_a_plain_integer_in_the_taint(value: str) -> None:
    taint = Taint("gpu", value, "NoSchedule")
    assert not tolerates(toleration("gpu", "Gt", "-9"), taint)
    assert not tolerates(toleration("gpu", "Lt", "9"), taint)


RECLAIMED = toleration("mgpu-hybrid.io/reclaimed", "Exists", effect="NoSchedule")


@pytest.mark.parametrize(
    ("existing", "wanted", "expected"),
    [
        (RECLAIMED, RECLAIMED, True),
        (toleration("mgpu-hybrid.io/reclaimed", "Exists"), RECLAIMED, True),
        (toleration("", "Exists"), RECLAIMED, True),
        (toleration("", "Exists", effect="NoSchedule"), RECLAIMED, True),
        (toleration("", "Exists", effect="NoExecute"), RECLAIMED, False),
        (toleration("mgpu-hybrid.io/reclaimed", "Exists", effect="NoExecute"), RECLAIMED, False),
        (toleration("mgpu-hybrid.io/other", "Exists"), RECLAIMED, False),
        (toleration("mgpu-hybrid.io/reclaimed", "Equal", "", "NoSchedule"), RECLAIMED, False),
        (toleration("mgpu-hybrid.io/reclaimed", "", "true", "NoSchedule"), RECLAIMED, False),
        (toleration("mgpu-hybrid.io/reclaimed", "Gt", "0", "NoSchedule"), RECLAIMED, False),
        (RECLAIMED, toleration("mgpu-hybrid.io/reclaimed", "Exists"), False),
        (RECLAIMED, toleration("", "Exists", effect="NoSchedule"), False),
        (
            toleration("a", "Exists", seconds=5),
            toleration("a", "Exists", effect="NoSchedule"),
            True,
        ),
        (toleration("a", "", "x"), toleration("a", "Equal", "x"), True),
        (toleration("a", "Equal", "x"), toleration("a", "", "y"), False),
        (toleration("a", "Exists"), toleration("a", "Gt", "3"), True),
        (toleration("a", "Gt", "3"), toleration("a", "Equal", "4"), True),
        (toleration("a", "Gt", "3"), toleration("a", "Equal", "3"), False),
        (toleration("a", "Gt", "3"), toleration("a", "Gt", "3"), True),
        (toleration("a", "Gt", "3"), toleration("a", "Gt", "4"), True),
        (toleration("a", "Gt", "3"), toleration("a", "Gt", "2"), False),
        (toleration("a", "Lt", "3"), toleration("a", "Lt", "2"), True),
        (toleration("a", "Lt", "3"), toleration("a", "Lt", "4"), False),
        (toleration("a", "Lt", "3"), toleration("a", "Gt", "2"), False),
        (toleration("a", "Equal", "3"), toleration("a", "Gt", "2"), False),
        (toleration("a", "exists"), toleration("a", "Equal", ""), False),
        (toleration("a", "exists"), toleration("a", "Exists"), False),
    ],
)
def test_covers(existing: Toleration, wanted: Toleration, *, expected: bool) -> None:
    assert covers(existing, wanted) is expected


@pytest.mark.parametrize("effect", ["NoExecute", ""])
@pytest.mark.parametrize(
    ("existing", "wanted", "expected"),
    [
        (None, None, True),
        (None, 30, True),
        (30, None, False),
        (30, 30, True),
        (29, 30, False),
        (31, 30, True),
    ],
)
def test_a_shorter_time_covers_less(
    effect: str, existing: int | None, wanted: int | None, *, expected: bool
) -> None:
    shorter = toleration("a", "Exists", effect=effect, seconds=existing)
    longer = toleration("a", "Exists", effect=effect, seconds=wanted)
    assert covers(shorter, longer) is expected


KEYS = st.sampled_from(["a", "b"])
VALUES = st.sampled_from(["", "x", "1", "2", "3", "03", "-1"])
EFFECTS = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
OPERATORS = st.sampled_from(["", "Equal", "Exists", "Gt", "Lt", "None"])
TAINTS = st.builds(Taint, KEYS, VALUES, EFFECTS)
TOLERATIONS = st.builds(
    Toleration,
    st.just("") | KEYS,
    OPERATORS,
    VALUES,
    st.just("") | EFFECTS,
    st.none() | st.integers(0, 3),
)


@given(TOLERATIONS, TOLERATIONS, TAINTS)
def test_what_covers_tolerates_as_much(
    existing: Toleration, wanted: Toleration, taint: Taint
) -> None:
    if covers(existing, wanted) and tolerates(wanted, taint):
        assert tolerates(existing, taint)


@given(TOLERATIONS, TOLERATIONS, TOLERATIONS)
def test_covering_is_transitive(first: Toleration, second: Toleration, third: Toleration) -> None:
    if covers(first, second) and covers(second, third):
        assert covers(first, third)


def test_parses_tolerations() -> None:
    raw = [
        {"key": "a", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
        {"operator": "Exists", "tolerationSeconds": 300, "unknown": {}},
        {"key": None, "operator": None, "value": None, "effect": None, "tolerationSeconds": None},
    ]
    assert parse_tolerations(raw, "spec.tolerations") == (
        toleration("a", "Equal", "x", "NoSchedule"),
        toleration("", "Exists", seconds=300),
        toleration(),
    )


def test_parses_taints() -> None:
    raw = [{"key": "a", "value": "x", "effect": "NoSchedule", "timeAdded": "now"}, {"key": "b"}]
    assert parse_taints(raw, "spec.taints") == (Taint("a", "x", "NoSchedule"), Taint("b", "", ""))


def test_null_is_none() -> None:
    assert parse_tolerations(None, "spec.tolerations") == ()
    assert parse_taints(None, "spec.taints") == ()


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        ({}, ""),
        (["x"], "[0]"),
        ([{}, {"key": 1}], "[1].key"),
        ([{"value": True}], "[0].value"),
        ([{"effect": ["NoSchedule"]}], "[0].effect"),
    ],
)
def test_a_wrong_type_is_named_with_its_path(raw: object, where: str) -> None:
    with pytest.raises(MalformedError, match="must be") as tolerations_error:
        parse_tolerations(raw, "spec.tolerations")
    with pytest.raises(MalformedError, match="must be") as taints_error:
        parse_taints(raw, "spec.taints")
    assert tolerations_error.value.path == f"spec.tolerations{where}"
    assert taints_error.value.path == f"spec.taints{where}"


@pytest.mark.parametrize("seconds", [True, "300", 1.0, 2**63, -(2**63) - 1, []])
def test_seconds_are_whole_numbers_of_64_bits(seconds: object) -> None:
    with pytest.raises(MalformedError, match="must be a whole number") as error:
        parse_tolerations([{"tolerationSeconds": seconds}], "spec.tolerations")
    assert error.value.path == "spec.tolerations[0].tolerationSeconds"
