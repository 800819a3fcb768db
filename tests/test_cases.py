"""Every case gives its answer in all three ways: the decision, the command line and HTTPS."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonpatch
import pytest
import yaml

from cli.main import main
from demo.admission import AdmissionClient
from demo.server import running_server
from policies.engine import decide, mutate
from policies.facts import Decision, Facts
from policies.node import inventory_of
from policies.pod import parse_pod
from policies.policy import Action, Policy
from tests.cases import NODES, VERSION, Case, admission_cases, request_cases

CASES = [*admission_cases(), *request_cases()]
POLICY = Policy()
INVENTORY = inventory_of(yaml.safe_load(NODES.read_text())["items"], POLICY)
LEADING_ID = re.compile(r"^\[([a-z-]+)\]", re.MULTILINE)

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def decided(case: Case) -> Decision:
    patch = mutate(parse_pod(case.pod, POLICY), POLICY).patch
    pod = parse_pod(jsonpatch.apply_patch(case.pod, patch), POLICY)
    return decide(Facts(pod=pod, policy=POLICY, inventory=INVENTORY, cluster_version=VERSION))


@each_case
def test_decision(case: Case) -> None:
    decision = decided(case)
    assert {f.rule for f in decision.by_action(Action.DENY)} == case.deny
    assert {f.rule for f in decision.by_action(Action.WARN)} == case.warn
    assert decision.allowed is not bool(case.deny)
    assert decision.pod_class == case.pod_class
    assert bool(mutate(parse_pod(case.pod, POLICY), POLICY).patch) is case.is_mutated


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All cases in one file: the results come in the order of the documents."""
    manifests = tmp_path / "cases.json"
    manifests.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [case.pod for case in CASES]})
    )
    options = ["--nodes", str(NODES), "--kubernetes-version", VERSION, "-o", "json"]
    assert main(["validate", "-f", str(manifests), *options]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["summary"]["checked"] == len(CASES)
    assert answer["summary"]["denied"] == sum(bool(case.deny) for case in CASES)
    for case, result in zip(CASES, answer["results"], strict=True):
        found = {(f["rule"], f["action"]) for f in result["findings"]}
        expected = {(i, "Deny") for i in case.deny} | {(i, "Warn") for i in case.warn}
        assert (case.name, found) == (case.name, expected)
        assert (case.name, result["class"]) == (case.name, case.pod_class)
        assert result["allowed"] is not bool(case.deny)


@pytest.mark.parametrize("case", CASES[::9], ids=lambda case: case.name)
def test_command_line_alone(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of its own gives the exit code: 1 when something denies, else 0."""
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(yaml.safe_dump(case.pod))
    options = ["--nodes", str(NODES), "--kubernetes-version", VERSION]
    assert main(["validate", "-f", str(manifest), *options]) == (1 if case.deny else 0)
    text = capsys.readouterr().out
    assert all(rule in text for rule in case.deny | case.warn)


@pytest.fixture(scope="module")
def webhook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdmissionClient]:
    arguments = ["--nodes", str(NODES), "--kubernetes-version", VERSION]
    with running_server(tmp_path_factory.mktemp("webhook"), arguments) as server:
        yield server.client


@each_case
def test_https(case: Case, webhook: AdmissionClient) -> None:
    admission = webhook.create(case.pod)
    assert admission.allowed is not bool(case.deny)
    assert set(LEADING_ID.findall(admission.message)) == case.deny
    assert bool(admission.patch) is case.is_mutated
    warned = {rule for w in admission.warnings for rule in LEADING_ID.findall(w)}
    assert warned == case.warn
