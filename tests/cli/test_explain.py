"""`explain`: every rule has an answer."""

from pathlib import Path

import pytest

from cli.main import main
from cli.rule_pages import render_markdown
from cli.terminal import Terminal
from policies.engine import ALL_RULE_IDS, rule_by_id
from policies.policy import Policy
from policies.remedies import remedy_of

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
    assert f"  fix      {remedy_of(rule, Policy())}\n" in out
    assert f"  source   {rule.source}\n" in out
    assert out.count(rule.title) == 1
    assert out.count(rule.source) == 1
    assert "\n## " not in out
    assert out.endswith("\n")
    assert not out.endswith("\n\n")


POLICY = (
    "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\nmetadata: {name: p}\n"
    "spec: {rules: {offline-memory: Audit, gpu-by-env: Warn}}\n"
)


@pytest.fixture
def policy_file(tmp_path: Path) -> str:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return str(path)


def test_the_action_is_that_of_the_policy(policy_file: str, capsys: Capture) -> None:
    assert main(["explain", "offline-memory"]) == 0
    assert "\n  default  Deny\n" in capsys.readouterr().out
    assert main(["explain", "offline-memory", "--policy", policy_file]) == 0
    assert "\n  action   Audit\n" in capsys.readouterr().out


def test_the_list_has_the_actions_of_the_policy(policy_file: str, capsys: Capture) -> None:
    assert main(["explain", "--policy", policy_file]) == 0
    words = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert ["offline-memory", "Audit"] in words
    assert ["gpu-by-env", "Warn"] in words
    assert ["multi-card", "Deny"] in words


def test_a_bad_policy_explains_nothing(tmp_path: Path, capsys: Capture) -> None:
    assert main(["explain", "multi-card", "--policy", str(tmp_path / "gone.yaml")]) == 2
    captured = capsys.readouterr()
    assert (captured.out, "No such file" in captured.err) == ("", True)


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
