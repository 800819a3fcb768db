"""`policy show` and `policy check`."""

from pathlib import Path

import pytest
import yaml

from cli.main import main
from policies.document.loading import load_policy
from policies.policy import Policy

Capture = pytest.CaptureFixture[str]
GOOD = """\
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
metadata: {name: p}
spec:
  rules: {gpu-by-env: Warn}
"""
BAD = GOOD.replace("Warn", "Wran") + "  nonsense: 1\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text(GOOD)
    Path("bad.yaml").write_text(BAD)


def test_the_shown_default_is_the_built_in_policy(capsys: Capture) -> None:
    assert main(["policy", "show"]) == 0
    assert load_policy(capsys.readouterr().out, "shown") == Policy()


@pytest.mark.parametrize("flags", [["good.yaml"], ["--policy", "good.yaml"]], ids=["FILE", "flag"])
def test_a_shown_file_has_every_default(flags: list[str], capsys: Capture) -> None:
    assert main(["policy", "show", *flags]) == 0
    out = capsys.readouterr().out
    assert load_policy(out, "shown") == load_policy(GOOD, "good.yaml")
    assert yaml.safe_load(out)["spec"]["rules"]["gpu-by-env"] == "Warn"
    assert len(yaml.safe_load(out)["spec"]) > 1


def test_a_good_file_passes(capsys: Capture) -> None:
    assert main(["policy", "check", "good.yaml"]) == 0
    assert capsys.readouterr().out == "good.yaml: a valid HybridPolicy\n"


@pytest.mark.parametrize("command", [["check"], ["show"]], ids=["check", "show"])
def test_all_mistakes_come_at_once(command: list[str], capsys: Capture) -> None:
    assert main(["policy", *command, "bad.yaml"]) == 2
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert [line.split(":")[1] for line in lines] == ["5", "6"]
    assert "gpu-by-env" in lines[0]
    assert "nonsense" in lines[1]


@pytest.mark.parametrize(
    "arguments",
    [[], ["check"], ["check", "gone.yaml"], ["show", "good.yaml", "--policy", "good.yaml"]],
    ids=["no action", "no file", "missing file", "two files"],
)
def test_bad_flags(arguments: list[str], capsys: Capture) -> None:
    assert main(["policy", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err
    assert captured.out == ""
