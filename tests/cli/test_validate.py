"""`validate`: verdicts, both forms of the report, exit codes."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import pytest

from cli.main import main
from tests.cli.manifests import (
    DEPLOYMENT,
    MALFORMED,
    NODE,
    OFFLINE,
    ONE_CARD_WORDS,
    PLAIN,
    SERVICE,
    TOO_MUCH,
    documents,
)

Capture = pytest.CaptureFixture[str]
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes pod.yaml in the current directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def _write(text: str, name: str = "pod.yaml") -> str:
        Path(name).write_text(text)
        return name

    return _write


class Report(TypedDict):
    results: list[dict[str, object]]
    summary: dict[str, object]


def report(capsys: Capture, *arguments: str) -> tuple[int, Report]:
    code = main(["validate", *arguments, "-o", "json"])
    answer: Report = json.loads(capsys.readouterr().out)
    return code, answer


def rules(result: dict[str, object], action: str = "Deny") -> set[str]:
    findings = result["findings"]
    assert isinstance(findings, list)
    return {found["rule"] for found in findings if found["action"] == action}


@pytest.mark.parametrize(
    ("content", "code", "word"),
    [
        pytest.param(OFFLINE, 0, "ok", id="good"),
        pytest.param(PLAIN, 0, "ok", id="not ours"),
        pytest.param(ONE_CARD_WORDS, 0, "warned", id="a warning is no refusal"),
        pytest.param(TOO_MUCH, 1, "DENIED", id="denied"),
        pytest.param(DEPLOYMENT, 1, "DENIED", id="a template"),
        pytest.param(documents(PLAIN, TOO_MUCH), 1, "DENIED", id="one of two"),
        pytest.param(SERVICE, 0, "1 skipped (1 Service)", id="another kind"),
        pytest.param(MALFORMED, 2, "0 checked", id="malformed"),
        pytest.param(documents(TOO_MUCH, MALFORMED), 2, "DENIED", id="malformed wins over denied"),
        pytest.param("a: b: c\n", 2, "0 checked", id="no YAML"),
    ],
)
def test_exit_code_and_verdict(
    content: str, code: int, word: str, write: Write, capsys: Capture
) -> None:
    assert main(["validate", "-f", write(content)]) == code
    assert word in capsys.readouterr().out


def test_the_json_report_is_the_contract(write: Write, capsys: Capture) -> None:
    code, answer = report(capsys, "-f", write(documents(TOO_MUCH, SERVICE, ONE_CARD_WORDS, PLAIN)))
    assert code == 1
    assert list(answer) == ["results", "summary"]
    greedy, warned, plain = answer["results"]
    assert {key: greedy[key] for key in greedy if key != "findings"} == {
        "source": "pod.yaml:1",
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "jobs",
        "name": "greedy",
        "class": "offline",
        "allowed": False,
        "warnings": [],
    }
    assert isinstance(greedy["findings"], list)
    assert list(greedy["findings"][0]) == ["rule", "action", "path", "message", "remedy"]
    assert rules(greedy) == {"offline-compute"}
    assert (warned["allowed"], rules(warned, "Warn")) == (True, {"multi-card-mode"})
    assert (plain["class"], plain["findings"], plain["namespace"]) == ("none", [], "default")
    summary = answer["summary"]
    not_judged = summary.pop("notJudged")
    assert summary == {"checked": 3, "denied": 1, "warned": 1, "skipped": 1}
    assert isinstance(not_judged, dict)
    assert not_judged["node-match"] == not_judged["cluster-version"] == 2


def test_nodes_and_version_are_judged_when_they_are_given(write: Write, capsys: Capture) -> None:
    pod = write(OFFLINE)
    nodes = write(NODE, "nodes.yaml")
    code, answer = report(
        capsys, "-f", pod, "--nodes", nodes, "--kubernetes-version", "v1.28.15-vke.18"
    )
    assert code == 1
    assert rules(answer["results"][0]) == {"node-compute-policy", "cluster-version"}
    assert answer["summary"]["notJudged"] == {}


@pytest.mark.parametrize(
    ("flags", "namespace"),
    [([], "default"), (["-n", "team-a"], "team-a")],
    ids=["default", "-n"],
)
def test_the_namespace_of_objects_without_one(
    flags: list[str], namespace: str, write: Write, capsys: Capture
) -> None:
    _, answer = report(capsys, "-f", write(documents(PLAIN, OFFLINE)), *flags)
    assert [result["namespace"] for result in answer["results"]] == [namespace, "jobs"]


def test_a_policy_file_counts(write: Write, capsys: Capture) -> None:
    policy = (
        "apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\nmetadata: {name: p}\n"
        "spec: {rules: {offline-compute: Warn}}\n"
    )
    flags = ["--policy", write(policy, "policy.yaml")]
    code, answer = report(capsys, "-f", write(TOO_MUCH), *flags)
    assert (code, rules(answer["results"][0], "Warn")) == (0, {"offline-compute"})


def review(operation: str, pod: dict[str, object], **request: object) -> str:
    body = {"uid": "1", "namespace": "jobs", "operation": operation, "object": pod, **request}
    document = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": body}
    return json.dumps(document)


BOUND: dict[str, object] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "annotations": {"vke.volcengine.com/assumed": "true"}},
    "spec": {
        "containers": [
            {
                "name": "w",
                "resources": {
                    "limits": {
                        "vke.volcengine.com/mgpu-core": "30",
                        "vke.volcengine.com/mgpu-memory": "4096",
                    }
                },
            }
        ]
    },
}


@pytest.mark.parametrize(
    ("content", "code", "found"),
    [
        pytest.param(review("CREATE", BOUND), 1, {"scheduler-annotations"}, id="create"),
        pytest.param(review("UPDATE", BOUND, oldObject=BOUND), 0, set(), id="update, unchanged"),
    ],
)
def test_a_review_is_judged_by_its_operation(
    content: str, code: int, found: set[str], write: Write, capsys: Capture
) -> None:
    exit_code, answer = report(capsys, "-f", write(content))
    assert (exit_code, rules(answer["results"][0])) == (code, found)


def test_a_review_that_the_webhook_would_not_answer(write: Write, capsys: Capture) -> None:
    raw = {**json.loads(review("CREATE", BOUND)), "apiVersion": "admission.k8s.io/v1beta1"}
    assert main(["validate", "-f", write("\n" + json.dumps(raw, indent=1))]) == 2
    line = "pod.yaml:3: apiVersion: must be admission.k8s.io/v1, the only version that the webhook"
    assert capsys.readouterr().err == f"{line} answers, is admission.k8s.io/v1beta1\n"


def test_a_review_of_a_deletion_is_skipped(write: Write, capsys: Capture) -> None:
    content = json.loads(review("DELETE", BOUND))
    content["request"].update(object=None, oldObject=BOUND)
    code, answer = report(capsys, "-f", write(json.dumps(content)))
    assert (code, answer["results"]) == (0, [])
    assert answer["summary"]["skipped"] == 1


def test_claim_templates_tell_gpu_claims_from_others(write: Write, capsys: Capture) -> None:
    claims = "".join(
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
        f"metadata: {{name: {name}}}\nspec: {{spec: {{devices: {{requests: "
        f"[{{name: r, exactly: {{deviceClassName: {device_class}}}}}]}}}}}}\n"
        for name, device_class in (("one", "gpu.nvidia.com"), ("two", "net.example.com"))
    )
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n"
        f"  resourceClaims: [{{name: c, resourceClaimTemplateName: {name}}}]\n"
        "  containers: [{name: a}]\n"
        for name in ("one", "two", "three")
    )
    _, answer = report(capsys, "-f", write(pods + claims))
    assert [result["class"] for result in answer["results"]] == ["dra", "none", "none"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(MALFORMED, "pod.yaml:7: spec.containers[0].resources: must be", id="a field"),
        pytest.param("a: b: c\n", "pod.yaml:1: is not YAML", id="syntax"),
        pytest.param("kind: Pod\n", "pod.yaml:1: has no apiVersion", id="no object"),
        pytest.param("", "pod.yaml:1: holds no Kubernetes object", id="empty"),
    ],
)
def test_unusable_input_is_one_line_on_stderr(
    content: str, line: str, write: Write, capsys: Capture
) -> None:
    assert main(["validate", "-f", write(content), "-o", "json"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1
    assert json.loads(captured.out)["results"] == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["--kubernetes-version", "soon"], "is not a version", id="version"),
        pytest.param(["--nodes", "pod.yaml"], "holds no Node, only Pod", id="no node"),
        pytest.param(["--nodes", "gone.yaml"], "No such file", id="no nodes file"),
        pytest.param(["--policy", "gone.yaml"], "No such file", id="no policy file"),
        pytest.param(["--policy", "pod.yaml"], "pod.yaml:", id="no policy"),
        pytest.param(["-o", "xml"], "invalid choice", id="output"),
        pytest.param(["--name", "x"], "unrecognized arguments", id="abbreviation"),
        pytest.param(["-f", "-", "--nodes", "-"], "once only", id="stdin twice"),
    ],
)
def test_bad_flags(flags: list[str], message: str, write: Write, capsys: Capture) -> None:
    assert main(["validate", "-f", write(OFFLINE), *flags]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_malformed_node_is_named(write: Write, capsys: Capture) -> None:
    nodes = documents(NODE, NODE.replace("status:", "spec: {taints: 5}\nstatus:"))
    flags = ["--nodes", write(nodes, "nodes.yaml")]
    assert main(["validate", "-f", write(OFFLINE), *flags]) == 2
    assert capsys.readouterr().err.startswith("nodes.yaml:18: spec.taints: must be a list")


def test_an_empty_inventory_is_an_inventory(write: Write, capsys: Capture) -> None:
    nodes = write("apiVersion: v1\nkind: List\nitems: []\n", "nodes.yaml")
    code, answer = report(capsys, "-f", write(OFFLINE), "--nodes", nodes)
    assert (code, rules(answer["results"][0], "Warn")) == (0, {"node-match"})


def test_the_text_says_what_was_not_judged_and_how(write: Write, capsys: Capture) -> None:
    assert main(["validate", "-f", write(OFFLINE)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ok      pod.yaml:1  Pod jobs/batch (offline)"
    assert lines[2] == "1 checked: 0 denied, 0 warned, 1 clean"
    assert lines[3].startswith("not judged without --nodes FILE or --live: node-match, ")
    assert lines[4] == "not judged without --kubernetes-version V: cluster-version"


def test_the_text_has_rule_message_remedy_and_path(write: Write, capsys: Capture) -> None:
    main(["validate", "-f", write(TOO_MUCH)])
    verdict, rule, message, remedy, path = capsys.readouterr().out.splitlines()[:5]
    assert verdict == "DENIED  pod.yaml:1  Pod jobs/greedy (offline)"
    assert rule == "  Deny    offline-compute"
    assert "150" in message
    assert remedy.startswith("          fix: ")
    assert path.startswith("          at:  spec.containers[0].resources")


def test_a_manifest_cannot_steer_the_terminal(write: Write, capsys: Capture) -> None:
    name = r'"\e[2J\u202Ex"'
    main(["validate", "-f", write(PLAIN.replace("name: web", f"name: {name}"))])
    out = capsys.readouterr().out
    assert r"default/\x1b[2J\u202ex" in out
    assert "\x1b" not in out


def test_a_file_name_that_is_no_text(write: Write, capsys: Capture) -> None:
    name = write(TOO_MUCH, os.fsdecode(b"p\xff.yaml"))
    code, answer = report(capsys, "-f", name)
    assert (code, answer["results"][0]["source"]) == (1, "p\\udcff.yaml:1")
    assert main(["validate", "-f", name]) == 1
    assert "p\\udcff.yaml:1" in capsys.readouterr().out
