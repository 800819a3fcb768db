"""`validate` on AdmissionReviews of Node updates."""

import json
from pathlib import Path

import pytest

from cli.main import main
from tests.builders import GPU_SCHEDULE, Object, Texts, node, online_pod
from tests.webhook.reviews import review

REMOVED: Texts = {GPU_SCHEDULE: None}
NODE: Texts = {}


def change(before: Texts, after: Texts, **fields: object) -> Object:
    given = {"operation": "UPDATE", "oldObject": node(labels=before), "namespace": ""}
    return review(node(labels=after), **{**given, **fields})


def on(name: str, phase: str = "Running") -> Object:
    return {**online_pod(nodeName=name), "status": {"phase": phase}}


Found = tuple[int, dict[str, object]]


def validated(
    folder: Path, capsys: pytest.CaptureFixture[str], *objects: Object, policy: str = ""
) -> Found:
    """The exit code and the result for the Node."""
    manifests = folder / "input.yaml"
    manifests.write_text("\n---\n".join(json.dumps(each) for each in objects))
    flags = []
    if policy:
        (folder / "policy.yaml").write_text(
            f"apiVersion: mgpu-hybrid.io/v1alpha1\nkind: HybridPolicy\nspec: {policy}\n"
        )
        flags = ["--policy", str(folder / "policy.yaml")]
    code = main(["validate", "-f", str(manifests), "-o", "json", *flags])
    results = json.loads(capsys.readouterr().out)["results"]
    (result,) = (each for each in results if each["kind"] == "Node")
    return code, result


@pytest.mark.parametrize(
    ("objects", "code", "told"),
    [
        pytest.param([change(NODE, NODE)], 0, "", id="no switch"),
        pytest.param([change(NODE, REMOVED), on("gpu-1")], 1, "(jobs/app)", id="held"),
        pytest.param([change(NODE, REMOVED), on("gpu-1", "Failed")], 0, "", id="finished"),
        pytest.param(
            [change(NODE, REMOVED), on("gpu-2")],
            1,
            "no pod with spec.nodeName gpu-1 is in the input",
            id="pods elsewhere",
        ),
        pytest.param([change(NODE, REMOVED)], 1, "no pod with spec.nodeName", id="no pods"),
        pytest.param(
            [change(NODE, REMOVED, subResource="status"), on("gpu-1")], 1, "(jobs/app)", id="status"
        ),
    ],
)
def test_a_switch_is_judged_by_the_pods_of_the_input(
    objects: list[Object], code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exit_code, result = validated(tmp_path, capsys, *objects)
    assert (exit_code, result["allowed"]) == (code, code == 0)
    assert told in str(result["findings"])
    assert (result["class"], result["namespace"], result["name"]) == ("none", "", "gpu-1")


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("{modeSwitch: {users: [alice]}}", 0),
        ("{modeSwitch: {groups: ['system:authenticated']}}", 0),
        ("{modeSwitch: {users: [bob], groups: [ops]}}", 1),
    ],
    ids=["user", "group", "others"],
)
def test_the_reviews_user_may_override(
    policy: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = [change(NODE, REMOVED), on("gpu-1")]
    assert validated(tmp_path, capsys, *objects, policy=policy)[0] == code


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(node(), id="plain"),
        pytest.param(review(node(), operation="CREATE"), id="creation"),
        pytest.param(change(NODE, REMOVED, subResource="proxy"), id="subresource"),
    ],
)
def test_what_is_no_change_is_skipped(
    raw: Object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "node.json").write_text(json.dumps(raw))
    assert main(["validate", "-f", str(tmp_path / "node.json"), "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["skipped"] == 1


def test_a_label_of_a_wrong_type_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: Object = {**node(), "metadata": {"name": "gpu-1", "labels": {GPU_SCHEDULE: 5}}}
    path = tmp_path / "node.json"
    path.write_text(json.dumps(review(wrong, operation="UPDATE", oldObject=node()), indent=1))
    assert main(["validate", "-f", str(path)]) == 2
    assert f"metadata.labels.{GPU_SCHEDULE}: must be a string" in capsys.readouterr().err


def test_the_text_names_the_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "node.json"
    path.write_text(json.dumps(change(NODE, REMOVED)))
    main(["validate", "-f", str(path)])
    assert "Node gpu-1" in capsys.readouterr().out.splitlines()[0]
