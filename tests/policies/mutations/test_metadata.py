import pytest

from policies.engine import mutate
from policies.pod import parse_pod
from policies.policy import Injection, Policy
from tests.builders import (
    OFFLINE_ASKS,
    QOS_LEVEL,
    Object,
    bare_offline_pod,
    container,
    mutated,
)

CLASS = "mgpu-hybrid.io/class"
MORE = Policy(
    injection=Injection(
        labels=((CLASS, "offline"), ("team/a~b", "x")), annotations=(("note", "offline"),)
    )
)


def metadata_after(raw: Object, policy: Policy | None = None) -> Object:
    metadata = mutated(raw, policy)["metadata"]
    assert isinstance(metadata, dict)
    return metadata


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param(None, {CLASS: "offline"}, id="null"),
        pytest.param({}, {CLASS: "offline"}, id="empty"),
        pytest.param({"a": "b"}, {"a": "b", CLASS: "offline"}, id="beside others"),
        pytest.param({CLASS: "offline"}, {CLASS: "offline"}, id="there already"),
        pytest.param({CLASS: "online"}, {CLASS: "offline"}, id="another value"),
        pytest.param({CLASS: None}, {CLASS: "offline"}, id="a null value"),
    ],
)
def test_labels(labels: Object | None, expected: Object) -> None:
    assert metadata_after(bare_offline_pod(metadata={"labels": labels}))["labels"] == expected


def test_absent_labels_are_added() -> None:
    assert metadata_after(bare_offline_pod())["labels"] == {CLASS: "offline"}


@pytest.mark.parametrize("before", [{}, {"metadata": None}], ids=["absent", "null"])
def test_metadata_is_added(before: Object) -> None:
    raw = {**before, "spec": {"containers": [container(OFFLINE_ASKS)]}}
    assert metadata_after(raw) == {"labels": {CLASS: "offline"}}
    assert metadata_after(raw, MORE) == {
        "labels": {CLASS: "offline", "team/a~b": "x"},
        "annotations": {"note": "offline"},
    }


def test_further_labels_and_annotations_of_the_policy() -> None:
    after = metadata_after(bare_offline_pod(), MORE)
    assert after["labels"] == {CLASS: "offline", "team/a~b": "x"}
    assert after["annotations"] == {QOS_LEVEL: "reclaimed_cores", "note": "offline"}


@pytest.mark.parametrize(
    ("label", "warnings"),
    [("offline", ()), ("online", (f'metadata.labels: {CLASS} was "online", is now "offline"',))],
)
def test_a_replaced_value_warns(label: str, warnings: tuple[str, ...]) -> None:
    pod = parse_pod(bare_offline_pod(metadata={"labels": {CLASS: label}}), Policy())
    assert mutate(pod, Policy()).warnings == warnings
