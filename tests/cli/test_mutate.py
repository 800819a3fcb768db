"""`mutate`: four forms of the same changes, and what stays as it is."""

import json
from pathlib import Path

import jsonpatch
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cli.main import main
from cli.yaml_output import yaml_of
from policies.manifest.manifests import objects_in
from tests.cli.manifests import DEPLOYMENT, MALFORMED, OFFLINE, PLAIN, SERVICE, documents

Capture = pytest.CaptureFixture[str]
ENV = '    env: [{name: MGPU_TASK_CLASS, value: "online"}]\n'


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("pod.yaml")
    path.write_text(documents(OFFLINE, SERVICE, PLAIN, DEPLOYMENT))
    return path


def output(capsys: Capture, form: str) -> str:
    assert main(["mutate", "-f", "pod.yaml", "-o", form]) == 0
    return capsys.readouterr().out


@pytest.mark.usefixtures("manifest")
def test_all_forms_say_the_same(capsys: Capture) -> None:
    before = list(yaml.safe_load_all(Path("pod.yaml").read_text()))
    after = list(yaml.safe_load_all(output(capsys, "yaml")))
    assert json.loads(output(capsys, "json")) == {
        "apiVersion": "v1",
        "kind": "List",
        "items": after,
    }
    decoder, text, patches = json.JSONDecoder(), output(capsys, "patch"), []
    while text:
        patch, end = decoder.raw_decode(text)
        patches.append(patch)
        text = text[end:].lstrip()
    assert [
        jsonpatch.apply_patch(one, patch) for one, patch in zip(before, patches, strict=True)
    ] == after
    assert patches[1:] == [[], [], []]
    assert after[1:] == before[1:]
    assert after[0]["metadata"]["labels"] == {"mgpu-hybrid.io/class": "offline"}
    assert list(after[0]) == list(before[0])


def test_one_object_is_no_list(manifest: Path, capsys: Capture) -> None:
    manifest.write_text(PLAIN)
    assert json.loads(output(capsys, "json"))["kind"] == "Pod"


def test_reasons_and_warnings_go_to_standard_error(manifest: Path, capsys: Capture) -> None:
    manifest.write_text(OFFLINE + ENV)
    assert main(["mutate", "-f", "pod.yaml"]) == 0
    error = capsys.readouterr().err
    assert all(line.startswith("pod.yaml:1: Pod jobs/batch: ") for line in error.splitlines())
    assert "replace /spec/containers/0/env/0" in error
    assert "warning: " in error
    assert "add /spec/tolerations" in error


def test_the_diff_says_why(manifest: Path, capsys: Capture) -> None:
    manifest.write_text(documents(PLAIN, OFFLINE + ENV))
    lines = output(capsys, "diff").splitlines()
    assert lines[0] == "# Pod jobs/batch"
    assert any(line.startswith("# replace /spec/containers/0/env/0") for line in lines)
    assert "--- pod.yaml:6 as written" in lines
    assert "-      value: online" in lines
    assert "+      value: offline" in lines
    assert not any("web" in line for line in lines)


def test_a_review_of_an_update_is_not_mutated(manifest: Path, capsys: Capture) -> None:
    pod = yaml.safe_load(OFFLINE)
    request = {"uid": "1", "operation": "UPDATE", "object": pod, "oldObject": pod}
    manifest.write_text(
        json.dumps(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
        )
    )
    assert json.loads(output(capsys, "patch")) == []


@pytest.mark.parametrize(
    ("count", "told", "last"),
    [
        pytest.param(20, 20, None, id="all are told"),
        pytest.param(21, 20, "… and 1 more object is changed", id="all but one"),
        pytest.param(25, 20, "… and 5 more objects are changed", id="the first 20"),
    ],
)
def test_many_changes_are_not_all_told(
    count: int, told: int, last: str | None, manifest: Path, capsys: Capture
) -> None:
    manifest.write_text(documents(*[PLAIN, OFFLINE] * count))
    assert main(["mutate", "-f", "pod.yaml"]) == 0
    lines = capsys.readouterr().err.splitlines()
    places = {line.partition(": ")[0] for line in lines if line.startswith("pod.yaml:")}
    assert len(places) == told
    beside = [line for line in lines if not line.startswith("pod.yaml:")]
    assert [line.partition(";")[0] for line in beside] == ([last] if last else [])
    assert output(capsys, "diff").count("# Pod jobs/batch\n") == count


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(MALFORMED, "pod.yaml:7: spec.containers[0].resources: ", id="field"),
        pytest.param("a: b: c", "pod.yaml:1: is not YAML", id="syntax"),
    ],
)
def test_unusable_input(content: str, message: str, manifest: Path, capsys: Capture) -> None:
    manifest.write_text(content)
    assert main(["mutate", "-f", "pod.yaml"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(message)
    assert captured.out == ""


@pytest.mark.usefixtures("manifest")
def test_the_flags_of_validate_are_checked_too(capsys: Capture) -> None:
    assert main(["mutate", "-f", "pod.yaml", "--nodes", "gone.yaml"]) == 2
    assert main(["mutate", "-f", "pod.yaml", "--kubernetes-version", "soon"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text",
    [
        "50",
        "1e3",
        "y",
        "No",
        "null",
        "~",
        "",
        "0o17",
        "017",
        "1:30",
        "2020-01-01",
        ".nan",
        "0x1F",
        "- a",
        "a: b",
        "#",
        "a\nb",
        "a\n",
        "\ttab",
        " lead",
        "é",
        "'",
        '"',
        "\x1b",
        "<<",
        "%",
        "@a",
    ],
)
def test_a_string_stays_a_string(text: str) -> None:
    raw = {"apiVersion": "v1", "kind": "X", "v": text}
    assert next(objects_in(yaml_of(raw).encode(), "x.yaml")).raw == raw


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("ay1-.: \n"), inner),
        max_leaves=12,
    )
)
def test_what_is_written_is_read_back(value: object) -> None:
    raw = {"apiVersion": "v1", "kind": "X", "v": value}
    assert next(objects_in(yaml_of(raw).encode(), "x.yaml")).raw == raw
