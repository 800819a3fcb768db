"""Warnings come in pieces that the API server keeps and clients show."""

import pytest

from webhook.warning_text import MAX_CHARACTERS, MAX_TOTAL_CHARACTERS, split_warnings

FITS = "x" * MAX_CHARACTERS


def test_what_fits_stays_whole() -> None:
    assert split_warnings([FITS, "[a-rule] short"]) == (FITS, "[a-rule] short")


def test_what_does_not_fit_goes_on_with_the_rules_id() -> None:
    text = "[a-rule] " + "word " * 30
    first, second = split_warnings([text])
    assert max(len(first), len(second)) <= MAX_CHARACTERS
    assert first.startswith("[a-rule] word")
    assert second.startswith("[a-rule] … word")
    assert (first + second.removeprefix("[a-rule] …")).count("word") == 30


def test_a_word_that_is_too_long_is_cut() -> None:
    pieces = split_warnings([FITS + "y"])
    assert all(len(piece) <= MAX_CHARACTERS for piece in pieces)
    assert "".join(pieces).count("x") == MAX_CHARACTERS


def test_a_very_long_text_ends_with_an_ellipsis() -> None:
    pieces = split_warnings(["word " * 1000])
    assert len(pieces) == 4
    assert pieces[-1].endswith("…")


def test_all_together_stay_below_what_the_api_server_keeps() -> None:
    pieces = split_warnings([f"{number:03} {'x' * 100}" for number in range(100)])
    assert sum(len(piece) for piece in pieces) <= MAX_TOTAL_CHARACTERS
    assert pieces[-1] == "… more warnings are not shown"
    assert pieces[0].startswith("000")


@pytest.mark.parametrize("character", ["\n", "\r", "\t", "\x00", "\x7f", "\x85"], ids=ascii)
def test_control_characters_become_spaces(character: str) -> None:
    assert split_warnings([f"a{character}b"]) == ("a b",)


def test_other_letters_stay() -> None:
    assert split_warnings(["größer als 显存 🚀"]) == ("größer als 显存 🚀",)


def test_an_empty_text_is_no_warning() -> None:
    assert split_warnings(["", " \n"]) == ()
