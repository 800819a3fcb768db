"""Log lines are JSON, one per event, whatever they hold."""

import json
import logging
from datetime import UTC, datetime

import pytest

from webhook.logs import JsonLineFormatter


def line(message: str, **attributes: object) -> dict[str, object]:
    record = logging.makeLogRecord(
        {"name": "webhook.x", "levelname": "INFO", "msg": message, **attributes}
    )
    text = JsonLineFormatter().format(record)
    assert "\n" not in text
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


def test_a_line_has_time_level_logger_and_message() -> None:
    found = line("%s is up", args=("it",), created=0.5)
    assert found == {
        "time": "1970-01-01T00:00:00.500+00:00",
        "level": "info",
        "logger": "webhook.x",
        "message": "it is up",
    }


def test_fields_stand_beside_the_message() -> None:
    found = line(
        "denied", fields={"uid": "u", "rules": ["a"], "at": datetime(2026, 1, 1, tzinfo=UTC)}
    )
    assert (found["uid"], found["rules"]) == ("u", ["a"])
    assert found["at"] == "2026-01-01 00:00:00+00:00"


def test_line_ends_in_names_stay_inside_the_line() -> None:
    assert line("a\nb", fields={"name": 'x\n{"level": "error"}'})["message"] == "a\nb"


def test_an_exception_is_one_field() -> None:
    with pytest.raises(KeyError) as caught:
        raise KeyError("x")
    info = (caught.type, caught.value, caught.tb)
    assert "KeyError" in str(line("failed", exc_info=info)["exception"])


@pytest.mark.parametrize("value", ["\ud800", 2**70, {1, 2}], ids=["surrogate", "large", "set"])
def test_a_value_that_json_does_not_know_is_logged_all_the_same(value: object) -> None:
    assert line("odd", fields={"value": value})["message"] == "odd"
