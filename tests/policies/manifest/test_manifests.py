"""From the bytes of a file to objects with their lines, or to one error with its line."""

import contextlib
import errno
import io
import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.facts import Operation
from policies.manifest import manifest_files
from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifest_files import read_manifests
from policies.manifest.manifests import SourcedObject, objects_in

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
NODE_JSON = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}'


def objects(content: str | bytes, file: str = "pod.yaml") -> list[SourcedObject]:
    return list(objects_in(content.encode() if isinstance(content, str) else content, file))


def places(content: str | bytes, file: str = "pod.yaml") -> list[tuple[str, str]]:
    return [(found.source, found.name) for found in objects(content, file)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(POD, [("pod.yaml:1", "a")], id="one document"),
        pytest.param("# a licence\n---\n" + POD, [("pod.yaml:3", "a")], id="past comments and ---"),
        pytest.param(
            POD + "---\n" + POD, [("pod.yaml:1", "a"), ("pod.yaml:5", "a")], id="two documents"
        ),
        pytest.param(
            "---\n---\n# empty\n---\n" + POD + "---\n",
            [("pod.yaml:5", "a")],
            id="empty documents are nothing",
        ),
        pytest.param("\ufeff" + POD, [("pod.yaml:1", "a")], id="byte order mark of UTF-8"),
        pytest.param(POD.replace("\n", "\r\n"), [("pod.yaml:1", "a")], id="CRLF"),
        pytest.param("%YAML 1.1\n---\n" + POD, [("pod.yaml:3", "a")], id="YAML directive"),
        pytest.param(NODE_JSON, [("pod.yaml:1", "n")], id="JSON in a YAML file"),
        pytest.param(
            "\n" + NODE_JSON + "\n\n" + NODE_JSON,
            [("pod.yaml:2", "n"), ("pod.yaml:4", "n")],
            id="JSON objects one after another",
        ),
        pytest.param(
            "{apiVersion: v1, kind: Pod, metadata: {name: f}}\n",
            [("pod.yaml:1", "f")],
            id="flow YAML is no JSON",
        ),
        pytest.param(
            NODE_JSON + "\n---\n" + NODE_JSON,
            [("pod.yaml:1", "n"), ("pod.yaml:3", "n")],
            id="JSON between YAML separators",
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n"
            "    name: a\n-\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n",
            [("pod.yaml:4", "a"), ("pod.yaml:9", "b")],
            id="items of a List have their own lines",
        ),
        pytest.param(
            '{\n"apiVersion": "v1",\n"metadata": {"items": [1]},\n"kind": "List",\n"items": [\n'
            f"{NODE_JSON},\n\n{NODE_JSON}\n]}}",
            [("pod.yaml:6", "n"), ("pod.yaml:8", "n")],
            id="items of a JSON List too",
        ),
        pytest.param("apiVersion: v1\nkind: List\nitems: []\n", [], id="an empty List"),
        pytest.param("apiVersion: v1\nkind: List\n", [], id="a List without items"),
        pytest.param(
            '{"apiVersion": "v1", "kind": "List", "items": []}', [], id="an empty JSON List"
        ),
        pytest.param(
            "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: x}\n",
            [("pod.yaml:1", "x")],
            id="a kind that ends in List is no list",
        ),
    ],
)
def test_objects_are_found_with_their_lines(content: str, expected: list[tuple[str, str]]) -> None:
    assert places(content) == expected


def test_the_items_of_a_typed_list_get_its_kind() -> None:
    content = "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n"
    found = objects(content)[0]
    assert (found.api_version, found.kind, found.name) == ("v1", "Pod", "a")
    assert list(found.raw) == ["apiVersion", "kind", "metadata"]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        pytest.param("", 1, "empty", id="empty"),
        pytest.param("# only words\n", 1, "empty", id="comments alone"),
        pytest.param("---\n", 1, "empty", id="a separator alone"),
        pytest.param("- a\n- b\n", 1, "is a list", id="a list"),
        pytest.param("just words\n", 1, "is a string", id="a string"),
        pytest.param("[1, 2]", 1, "is a list", id="a JSON list"),
        pytest.param("kind: Pod\n", 1, "no apiVersion", id="no apiVersion"),
        pytest.param(POD + "---\n\napiVersion: v1\n", 6, "no kind", id="no kind"),
        pytest.param("apiVersion: v1\nkind: 5\n", 2, "is a number", id="kind is a number"),
        pytest.param("apiVersion: v1\nkind: Pod\na: 'x\n", 4, "end of stream", id="open quote"),
        pytest.param("apiVersion: v1\n\tkind: Pod\n", 2, "tab", id="tab"),
        pytest.param("a: b: c\n", 1, "mapping values", id="two colons"),
        pytest.param("a: 1\nb: 2\na: 3\n", 3, "'a' is there twice", id="key twice"),
        pytest.param("a: 1\nb: {c: 1, c: 2}\n", 2, "'c' is there twice", id="key twice in flow"),
        pytest.param("on: 1\ntrue: 2\n", 2, "'true' is there twice", id="two spellings of true"),
        pytest.param('{\n"a": 1,\n"a": 2}', 3, "'a' is there twice", id="key twice in JSON"),
        pytest.param('{"a": 1,\n  "b": }', 2, "not JSON", id="JSON syntax"),
        pytest.param('{"a": NaN}', 1, "NaN", id="NaN in JSON"),
        pytest.param('{"a": 1e999}', 1, "too large", id="huge float in JSON"),
        pytest.param('{"a": ' + "9" * 5000 + "}", 1, "too large", id="huge whole number in JSON"),
        pytest.param('{"a": "\\ud800"}', 1, "surrogate", id="half a surrogate pair"),
        pytest.param("a: .nan\n", 1, "no form in JSON", id="nan in YAML"),
        pytest.param("a: !!binary aGk=\n", 1, "!!binary", id="binary"),
        pytest.param("a: !!python/object:os.x y\n", 1, "!!python", id="python objects"),
        pytest.param("? [a]\n: b\n", 1, "a key must be a string", id="a list as a key"),
        pytest.param("~: b\n", 1, "a key must be a string, is null", id="null as a key"),
        pytest.param("a: 1\nb: *x\n", 2, "undefined alias", id="unknown alias"),
        pytest.param("a: &x [*x]\n", 1, "inside its own anchor", id="an alias in its own anchor"),
        pytest.param("a:\n  b: \x01\n", 2, "control characters", id="control character"),
        pytest.param("é:\n  b: \x00\n", 2, "control characters", id="NUL"),
        pytest.param("a: " + "[" * 300 + "]" * 300, 1, "nested deeper", id="deep YAML"),
        pytest.param("[" * 100_000, 1, "nest", id="very deep YAML"),
        pytest.param('{"a":' * 100_000, 1, "nested too deeply", id="very deep JSON"),
        pytest.param('{"a":' * 300 + "1" + "}" * 300, 1, "nested too deeply", id="deep JSON"),
        pytest.param(b"a: 1\nb: \xff\n", 2, "not UTF-8 text (byte 0xff)", id="not UTF-8"),
        pytest.param("a: b\n".encode("utf-16"), 1, "UTF-16", id="UTF-16"),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems: 5\n", 3, "is a number", id="items is no list"
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- 5\n", 4, "is a number", id="an item is no object"
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n",
            4,
            "no kind",
            id="an item's kind",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(content: str | bytes, line: int, reason: str) -> None:
    with pytest.raises(ManifestError) as caught:
        objects(content)
    assert reason in caught.value.reason
    assert (caught.value.source, caught.value.line) == ("pod.yaml", line)
    assert "\n" not in str(caught.value)


def test_what_precedes_a_mistake_is_still_there() -> None:
    found = objects_in(f"{POD}---\na: b: c\n".encode(), "pod.yaml")
    assert next(found).name == "a"
    with pytest.raises(ManifestError):
        next(found)


def test_an_alias_bomb_ends() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 30):
        aliases = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} [{aliases}]")
    with pytest.raises(ManifestError, match="aliases repeat more than"):
        objects("\n".join(lines))


def test_an_alias_is_a_copy_not_the_same_object() -> None:
    raw = objects(POD + "a: &x {k: [1]}\nb: *x\nc: {<<: *x, k: 2, z: 3}\n")[0].raw
    assert raw["a"] == raw["b"] == {"k": [1]}
    assert raw["a"] is not raw["b"]
    assert raw["c"] == {"k": 2, "z": 3}


def test_keys_are_strings() -> None:
    raw = objects(POD + "80: a\ntrue: b\n1.5: c\n'80x': d\n")[0].raw
    assert list(raw)[3:] == ["80", "true", "1.5", "80x"]


def review(**request: object) -> str:
    body = {"uid": "1", "operation": "CREATE", "namespace": "jobs", **request}
    document = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": body}
    return json.dumps(document)


POD_OBJECT = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


def test_an_admission_review_is_taken_apart() -> None:
    content = review(
        operation="UPDATE",
        object=POD_OBJECT,
        oldObject={**POD_OBJECT, "spec": {}},
        userInfo={"username": "alice"},
        subResource="status",
    )
    found = objects(content)[0]
    assert (found.kind, found.name, found.namespace) == ("Pod", "a", "jobs")
    assert found.operation is Operation.UPDATE
    assert found.old == {**POD_OBJECT, "spec": {}}
    assert (found.username, found.subresource) == ("alice", "status")


def test_a_review_of_a_deletion_is_about_the_old_object() -> None:
    found = objects(review(operation="DELETE", object=None, oldObject=POD_OBJECT))[0]
    assert (found.operation, found.name, found.old) == (Operation.DELETE, "a", None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(
            '{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}',
            "request: is missing",
            id="no request",
        ),
        pytest.param(review(), "request.object: is missing", id="no object"),
        pytest.param(
            review(object=5), "request.object: must be an object", id="object is a number"
        ),
        pytest.param(
            review(operation="PATCH", object=POD_OBJECT), "request.operation", id="operation"
        ),
        pytest.param(
            review(object=POD_OBJECT, userInfo="x"), "request.userInfo: must be", id="userInfo"
        ),
        pytest.param(review(object={"kind": "Pod"}), "no apiVersion", id="object without version"),
    ],
)
def test_a_review_that_asks_nothing_is_a_mistake(content: str, reason: str) -> None:
    with pytest.raises(ManifestError, match=reason):
        objects(content)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param("spec.containers[1].name", 9, id="an entry's field"),
        pytest.param("spec.containers[1].image", 9, id="absent: the nearest parent"),
        pytest.param("spec.containers[7]", 6, id="absent entry: the list"),
        pytest.param("metadata.annotations[example.com/a.b]", 5, id="key in brackets"),
        pytest.param("metadata.annotations.example.com/a.b", 5, id="key with dots"),
        pytest.param("status", 1, id="absent: the object"),
    ],
)
@pytest.mark.parametrize("is_json", [False, True], ids=["yaml", "json"])
def test_a_malformed_field_is_named_by_its_line(path: str, line: int, *, is_json: bool) -> None:
    text = (
        '{"apiVersion": "v1",\n"kind": "Pod",\n"metadata": {\n"annotations": {\n'
        '"example.com/a.b": "x"},\n"name": "p"}, "spec": {"containers": [\n{"name": "a"},\n\n'
        '{"name": "b"}]}}'
    )
    if not is_json:
        text = text.replace('{"apiVersion"', "{apiVersion")
    assert objects(text)[0].malformed(path, "is wrong").line == line


def test_a_field_of_an_item_is_looked_up_inside_the_item() -> None:
    content = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"- apiVersion: v1\n  kind: Pod\n  spec:\n    x: {n}\n" for n in range(3)
    )
    error = objects(content)[2].malformed("spec.x", "is wrong")
    assert str(error) == "pod.yaml:15: spec.x: is wrong"


def test_directories_are_read_whole_sorted_and_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "sub/c.json", ".hidden.yaml", "..data/d.yaml", "note.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(NODE_JSON)
    found = [str(entry) for entry in map(_source, read_manifests([str(tmp_path)]))]
    assert found == [f"{tmp_path}/{name}:1" for name in ("a.yml", "b.yaml", "sub/c.json")]


def test_a_mistake_in_one_file_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: b: c")
    (tmp_path / "b.yaml").write_text(POD)
    (tmp_path / "empty").mkdir()
    paths = [str(tmp_path), str(tmp_path / "missing.yaml"), str(tmp_path / "empty"), "a\0b"]
    found = list(read_manifests(paths))
    assert [type(entry) for entry in found] == [
        ManifestError,
        SourcedObject,
        ManifestError,
        ManifestError,
        ManifestError,
    ]
    assert str(found[2]) == f"{tmp_path}/missing.yaml: cannot be read: No such file or directory"
    assert str(found[3]) == f"{tmp_path}/empty: holds no .yaml, .yml or .json file"


def test_a_directory_that_cannot_be_read_is_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.yaml").write_text(POD)
    scandir = os.scandir

    def refuse(path: str) -> object:  # for root, no directory is closed
        if path.endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = list(read_manifests([str(tmp_path)]))
    assert isinstance(found[0], SourcedObject)
    assert [str(entry) for entry in found[1:]] == [
        f"{tmp_path}/closed: cannot be read: Permission denied"
    ]


def test_in_a_directory_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(POD)
    (tmp_path / "b.yaml").symlink_to("a.yaml")
    (tmp_path / "c.yaml").symlink_to("gone.yaml")
    os.mkfifo(tmp_path / "d.yaml")
    (tmp_path / "e.yaml").symlink_to("d.yaml")
    (tmp_path / "f.yaml").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "g.yaml"))
        found = list(read_manifests([str(tmp_path)]))
    assert [entry.source.removeprefix(f"{tmp_path}/") for entry in found] == [
        *("a.yaml:1", "b.yaml:1", "c.yaml"),
        *("d.yaml", "e.yaml", "f.yaml", "g.yaml"),
    ]
    reasons = [entry.reason for entry in found if isinstance(entry, ManifestError)]
    assert reasons[0] == "cannot be read: No such file or directory"
    assert {reason.partition(":")[0] for reason in reasons[1:]} == {"is not a regular file"}


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_one_input_has_a_bound(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 1024 * 1024
    monkeypatch.setattr(manifest_files, "MAX_BYTES", limit)
    monkeypatch.setattr(manifest_files, "CHUNK_BYTES", 1000)
    for size, is_read in ((limit, True), (limit + 1, False)):
        content = POD.encode().ljust(size, b"\n")
        (tmp_path / "a.yaml").write_bytes(content)
        path = "-" if source == "standard input" else str(tmp_path / "a.yaml")
        (found,) = read_manifests([path], io.BytesIO(content))
        assert isinstance(found, SourcedObject) is is_read
    assert isinstance(found, ManifestError)
    assert found.reason == "is larger than 1 MiB: split it"


def test_standard_input_that_is_closed_is_a_mistake() -> None:
    (found,) = read_manifests(["-"], None)
    assert str(found) == "<stdin>: cannot be read: it is closed"


def _source(entry: SourcedObject | ManifestError) -> str:
    return entry.source


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=12,
)


@given(VALUES)
def test_json_is_read_as_json_reads_it(value: object) -> None:
    content = json.dumps({"apiVersion": "v1", "kind": "X", "v": value}, indent=1)
    assert objects(content)[0].raw["v"] == value


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_anything_is_objects_or_one_error(content: bytes) -> None:
    with contextlib.suppress(ManifestError):
        assert all(found.line >= 1 for found in objects(content))


@given(st.text(alphabet="{}[]&*!|>%@`\"'#?:-,~<= \t\na1", max_size=60))
def test_yaml_punctuation_is_objects_or_one_error(text: str) -> None:
    with contextlib.suppress(ManifestError):
        assert all(found.line >= 1 for found in objects(text))
