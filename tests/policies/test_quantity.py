"""The expected values come from `resource.ParseQuantity` of k8s.io/apimachinery v0.36.3."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.quantity import MAX_NANOS, MAX_VALUE, Quantity, QuantityError, parse_quantity

# text, exact amount in nano units, Quantity.Value()
ACCEPTED = [
    ("0", 0, 0),
    ("1", 1000000000, 1),
    ("100", 100000000000, 100),
    ("007", 7000000000, 7),
    ("+5", 5000000000, 5),
    ("-5", -5000000000, -5),
    ("-0", 0, 0),
    ("+", 0, 0),
    ("-", 0, 0),
    (".", 0, 0),
    ("k", 0, 0),
    ("Ti", 0, 0),
    ("e5", 0, 0),
    (".5", 500000000, 1),
    ("5.", 5000000000, 5),
    ("-.5", -500000000, -1),
    ("0.5", 500000000, 1),
    ("1.5", 1500000000, 2),
    ("1.", 1000000000, 1),
    ("1.G", 1000000000000000000, 1000000000),
    ("100m", 100000000, 1),
    ("1500m", 1500000000, 2),
    ("-1500m", -1500000000, -2),
    ("1u", 1000, 1),
    ("999999999n", 999999999, 1),
    ("1000000000n", 1000000000, 1),
    ("1n", 1, 1),
    ("0.1n", 1, 1),
    ("1.0000000001", 1000000001, 2),
    ("0.0000000000000001", 1, 1),
    ("1k", 1000000000000, 1000),
    ("1M", 1000000000000000, 1000000),
    ("1G", 1000000000000000000, 1000000000),
    ("1T", 1000000000000000000000, 1000000000000),
    ("1P", 1000000000000000000000000, 1000000000000000),
    ("1E", 1000000000000000000000000000, 1000000000000000000),
    ("9E", 9000000000000000000000000000, 9000000000000000000),
    ("1Ki", 1024000000000, 1024),
    ("1Mi", 1048576000000000, 1048576),
    ("1Gi", 1073741824000000000, 1073741824),
    ("1.5Gi", 1610612736000000000, 1610612736),
    ("0.5Ki", 512000000000, 512),
    ("1Ti", 1099511627776000000000, 1099511627776),
    ("1Pi", 1125899906842624000000000, 1125899906842624),
    ("7Ei", 8070450532247928832000000000, 8070450532247928832),
    ("8Ei", 9223372036854775807000000000, 9223372036854775807),
    ("16Ei", 9223372036854775807000000000, 9223372036854775807),
    ("-16Ei", -9223372036854775807000000000, -9223372036854775807),
    ("0.1Ki", 102400000000, 103),
    ("1e3", 1000000000000, 1000),
    ("1E3", 1000000000000, 1000),
    ("1e+3", 1000000000000, 1000),
    ("1E-3", 1000000, 1),
    ("1e-9", 1, 1),
    ("1e-12", 1, 1),
    ("1.5e2", 150000000000, 150),
    ("0e999999999", 0, 0),
    ("1e4294967299", 1000000000000, 1000),
    ("9223372036854775807", 9223372036854775807000000000, 9223372036854775807),
    ("256Mi", 268435456000000000, 268435456),
    ("8192", 8192000000000, 8192),
    ("0.00000000000000000000001Ei", 11530, 1),
    ("12345678901234567890m", 12345678901234567890000000, 12345678901234568),
]

REFUSED = [
    "Pi",
    "",
    "1K",
    "1ki",
    "1mi",
    "1i",
    "Ei",
    "1KB",
    "1_000",
    "1,000",
    "1 k",
    " 1",
    "1 ",
    "1\n",
    "NaN",
    "Inf",
    "inf",
    "-Inf",
    "0x10",
    "1e",
    "1e+",
    "1Ee3",
    "1ee3",
    "1e3k",
    "1e9223372036854775808",
    "1.2.3",
    "..5",
    "--1",
    "+-1",
    "1+5",
    "1Ki5",
    "e-10",
    "\u0661",
    "\uff11",
    "\u00bd",
    "\u00b2",
    "1\u0663",
    "abc",
    "true",
    "1" * 1025,
]

# apimachinery keeps these as they are, and Value() overflows; here they stop at the documented cap.
CAPPED = ["9223372036854775808", "10E", "1e19", "1e999999999", "1234567890123456789e99"]


@pytest.mark.parametrize(("text", "nanos", "value"), ACCEPTED, ids=[row[0] for row in ACCEPTED])
def test_reads_what_the_api_server_reads(text: str, nanos: int, value: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.nanos, quantity.value) == (nanos, value)
    assert quantity.is_whole == (nanos % 10**9 == 0)


@pytest.mark.parametrize("text", REFUSED, ids=ascii)
def test_refuses_what_the_api_server_refuses(text: str) -> None:
    with pytest.raises(QuantityError, match="is not a quantity"):
        parse_quantity(text)


@pytest.mark.parametrize("text", CAPPED)
def test_caps_at_the_largest_amount(text: str) -> None:
    assert parse_quantity(text).value == MAX_VALUE
    assert parse_quantity(f"-{text}").value == -MAX_VALUE


@pytest.mark.parametrize(
    ("raw", "same_as"),
    [
        (None, "0"),
        (0, "0"),
        (42, "42"),
        (-3, "-3"),
        (1.5, "1.5"),
        (2.0, "2"),
        (-0.0, "0"),
        (1e16, "1e16"),
        (1e-7, "100n"),
        (10**3000, "16Ei"),
        (-(10**3000), "-16Ei"),
    ],
)
def test_reads_json_numbers_and_null(raw: object, same_as: str) -> None:
    assert parse_quantity(raw) == parse_quantity(same_as)


@pytest.mark.parametrize(
    "raw", [True, False, [], {}, ["1"], b"1", float("nan"), float("inf"), float("-inf")], ids=repr
)
def test_refuses_other_types(raw: object) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(raw)


@pytest.mark.parametrize("spellings", [("1", "1.0", "1000m", "1e0"), ("1Ki", "1024", "1.024k")])
def test_equal_amounts_are_equal_however_written(spellings: tuple[str, ...]) -> None:
    assert len({parse_quantity(text) for text in spellings}) == 1


def test_orders_by_amount() -> None:
    texts = ["16Ei", "1k", "-1", "1n", "1Ki", "0", "100m"]
    ordered = sorted(texts, key=parse_quantity)
    assert ordered == ["-1", "0", "1n", "100m", "1k", "1Ki", "16Ei"]


def test_a_long_text_is_shown_shortened() -> None:
    with pytest.raises(QuantityError) as refusal:
        parse_quantity("x" * 100_000)
    assert len(str(refusal.value)) < 300


@given(st.integers(min_value=-MAX_VALUE, max_value=MAX_VALUE))
def test_whole_numbers_round_trip(number: int) -> None:
    assert parse_quantity(str(number)) == parse_quantity(number) == Quantity(number * 10**9)
    assert parse_quantity(str(number)).value == number


@given(st.integers(min_value=0, max_value=MAX_NANOS))
def test_value_is_the_next_whole_number(nanos: int) -> None:
    quantity = Quantity(nanos)
    assert 0 <= quantity.value - Fraction(nanos, 10**9) < 1
    assert Quantity(-nanos).value == -quantity.value


@given(st.text("+-.0123456789eEinumkKMGTP \u0661", max_size=40))
def test_any_text_is_an_amount_in_range_or_refused(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except QuantityError:
        return
    assert -MAX_NANOS <= quantity.nanos <= MAX_NANOS


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_any_exponent_is_answered(exponent: int) -> None:
    assert 1 <= parse_quantity(f"1e{exponent}").nanos <= MAX_NANOS
