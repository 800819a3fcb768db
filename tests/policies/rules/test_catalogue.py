"""What every rule owes: its place in the list, its words, a default action, a page and a test."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import policies
from policies.engine import ALL_RULE_IDS, EVERY_RULE, RULES_BY_CLASS
from policies.pod import PodClass
from policies.policy import DEFAULT_ACTIONS, Action

PACKAGE = Path(policies.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(path.stem for path in (PACKAGE / "rules").glob("*.py") if path.stem != "__init__")

DEFAULTS_BY_HAND = {
    "qos-level": "Deny",
    "offline-annotation": "Deny",
    "offline-compute": "Deny",
    "offline-memory": "Deny",
    "multi-card": "Deny",
    "multi-card-mode": "Warn",
    "compute-policy": "Deny",
    "mixed-gpu-modes": "Deny",
    "reclaimed-whole-card": "Warn",
    "mgpu-request": "Deny",
    "container-name": "Warn",
    "policy-match": "Warn",
    "gpu-by-env": "Off",
    "privileged-container": "Warn",
    "offline-liveness": "Warn",
    "offline-deadline": "Warn",
    "injected": "Deny",
    "scheduler-annotations": "Deny",
    "class-change": "Deny",
    "node-gpu-mode": "Deny",
    "node-compute-policy": "Deny",
    "node-image": "Deny",
    "node-driver-version": "Deny",
    "node-addon-version": "Deny",
    "node-kubelet-version": "Warn",
    "node-multi-card": "Deny",
    "node-match": "Warn",
    "cluster-version": "Deny",
    "general-webhook-version": "Deny",
    "gpu-mode-mismatch": "Warn",
    "node-mode-switch": "Deny",
    "node-mode-value": "Warn",
}


def test_the_list_of_rules() -> None:
    assert set(ALL_RULE_IDS) == set(DEFAULTS_BY_HAND)
    assert len(ALL_RULE_IDS) == len(DEFAULTS_BY_HAND)


def test_default_actions() -> None:
    assert {rule: str(action) for rule, action in DEFAULT_ACTIONS.items()} == DEFAULTS_BY_HAND
    assert all(isinstance(action, Action) for action in DEFAULT_ACTIONS.values())


def test_every_file_is_listed_and_every_rule_has_a_file() -> None:
    assert {module.replace("_", "-") for module in MODULES} == set(ALL_RULE_IDS)


@pytest.mark.parametrize("module", MODULES)
def test_what_a_rule_owes(module: str) -> None:
    loaded = import_module(f"policies.rules.{module}")
    rule = loaded.RULE
    assert any(rule is listed for listed in EVERY_RULE)
    assert rule.id == module.replace("_", "-")
    for text in (rule.title, rule.remedy, rule.source):
        assert text.strip() == text
        assert text
    assert not rule.title.endswith(".")
    assert not rule.remedy.endswith((".", ";")), "a message goes on after it"
    doc = loaded.__doc__ or ""
    assert doc.splitlines()[0].endswith(".")
    assert re.search(r"^Fields?: ", doc, re.MULTILINE)
    assert (TESTS / f"test_{module}.py").is_file()
    assert (PACKAGE / "docs" / f"{rule.id}.md").is_file()


def test_there_is_no_page_or_test_without_a_rule() -> None:
    pages = {path.stem for path in (PACKAGE / "docs").glob("*.md")}
    assert pages == set(ALL_RULE_IDS)
    tests = {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")}
    assert tests - set(MODULES) == {"catalogue", "pages"}


def test_rules_do_not_import_each_other() -> None:
    for module in MODULES:
        source = (PACKAGE / "rules" / f"{module}.py").read_text(encoding="utf-8")
        assert "policies.rules" not in source, module
        assert not re.search(r"^\s*from \.", source, re.MULTILINE), module


def test_pods_without_a_gpu_are_judged_by_the_one_rule_that_is_off() -> None:
    assert [rule.id for rule in RULES_BY_CLASS[PodClass.NONE]] == ["gpu-by-env"]
