"""Plain scalars mean what go-yaml makes of them; expected values are from its resolve.go and tests."""

import pytest

from policies.manifest.yaml_scalars import JsonScalar, resolve_plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("", None, id="nothing"),
        pytest.param("~", None, id="tilde"),
        pytest.param("NULL", None, id="NULL"),
        pytest.param("nULL", "nULL", id="odd case is a string"),
        pytest.param("y", True, id="y"),
        pytest.param("On", True, id="On"),
        pytest.param("oN", "oN", id="oN is a string"),
        pytest.param("off", False, id="off"),
        pytest.param("N", False, id="N"),
        pytest.param("50", 50, id="whole"),
        pytest.param("-5", -5, id="negative"),
        pytest.param("+5", 5, id="plus"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("017", 15, id="octal of YAML 1.1"),
        pytest.param("0o17", 15, id="octal of YAML 1.2"),
        pytest.param("08", 8.0, id="no octal digit: a float"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("-0b11", -3, id="binary"),
        pytest.param("9223372036854775808", 2**63, id="beyond int64, within uint64"),
        pytest.param("18446744073709551616", 2.0**64, id="beyond uint64 is a float"),
        pytest.param("0xFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFF", id="too long for its base"),
        pytest.param("1.5", 1.5, id="fraction"),
        pytest.param(".5", 0.5, id="no whole part"),
        pytest.param("1e3", 1000.0, id="exponent without a dot"),
        pytest.param("1e999", "1e999", id="no float is so large"),
        pytest.param("4Ki", "4Ki", id="a quantity"),
        pytest.param("1:30", "1:30", id="no sexagesimal numbers"),
        pytest.param("2020-01-01", "2020-01-01", id="no dates"),
        pytest.param("1.2.3", "1.2.3", id="a version"),
        pytest.param("-", "-", id="a dash"),
        pytest.param(".", ".", id="a dot"),
        pytest.param("0.07.35.23", "0.07.35.23", id="a driver version"),
        pytest.param("٣", "٣", id="digits of other scripts"),
        pytest.param("9" * 5000, "9" * 5000, id="very many digits"),
    ],
)
def test_a_plain_scalar_is(text: str, value: JsonScalar) -> None:
    resolved = resolve_plain(text)
    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize("text", [".nan", ".NAN", ".inf", "-.Inf", "+.INF"])
def test_what_json_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no form in JSON"):
        resolve_plain(text)
