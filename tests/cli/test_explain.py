"""`explain`: every rule has an answer."""

import pytest

from cli.main import main
from cli.rule_pages import render_markdown
from cli.terminal import Terminal
from policies.engine import ALL_RULE_IDS, rule_by_id

Capture = pytest.CaptureFixture[str]


def test_without_a_rule_all_are_listed(capsys: Capture) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(ALL_RULE_IDS)
    assert all(line.split()[1] in {"Deny", "Warn", "Audit", "Off"} for line in lines)


@pytest.mark.parametrize("rule_id", ALL_RULE_IDS)
def test_a_rule_is_explained(rule_id: str, capsys: Capture) -> None:
    rule = rule_by_id(rule_id)
    assert rule is not None
    assert main(["explain", rule_id]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{rule_id}: {rule.title}\n")
    assert rule.remedy in out
    assert rule.source in out


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("ofline_memory", "did you mean offline-memory"),
        ("Node-Image", "did you mean node-image"),
        ("zzzz", "`mgpu-hybrid explain` lists them"),
    ],
)
def test_an_unknown_rule_is_guessed(word: str, advice: str, capsys: Capture) -> None:
    assert main(["explain", word]) == 2
    captured = capsys.readouterr()
    assert advice in captured.err
    assert captured.out == ""


def test_a_page_is_rendered_for_a_terminal() -> None:
    page = (
        "# Title\n\nSome **bold** text that is\nwrapped in the `source`.\n\n"
        "- an item that is long enough to wrap\n- [a link](https://example.com/)\n\n"
        "```yaml\na:  1\n```\n| a | b |\n"
    )
    assert list(render_markdown(page, Terminal(40))) == [
        "Title",
        "",
        "Some bold text that is wrapped in the\n`source`.",
        "",
        "- an item that is long enough to wrap",
        "- a link (https://example.com/)",
        "",
        "    a:  1",
        "| a | b |",
    ]
