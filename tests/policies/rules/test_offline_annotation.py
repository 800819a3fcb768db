import pytest

from policies.policy import Action
from tests.builders import (
    MGPU_CORE,
    OFFLINE_ASKS,
    QOS_LEVEL,
    Object,
    container,
    found,
    offline_pod,
    online_pod,
)

RULE = "offline-annotation"
PATH = f"metadata.annotations[{QOS_LEVEL}]"
UNMARKED: dict[str, str | None] = {QOS_LEVEL: None}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="marked"),
        pytest.param(offline_pod(annotations=UNMARKED), {PATH: "worker asks"}, id="absent"),
        pytest.param(
            offline_pod(annotations={QOS_LEVEL: "shared_cores"}),
            {PATH: '"shared_cores"'},
            id="online",
        ),
        pytest.param(
            offline_pod(annotations={QOS_LEVEL: "RECLAIMED_CORES"}),
            {PATH: '"RECLAIMED_CORES"'},
            id="other case",
        ),
        pytest.param(
            offline_pod(annotations=UNMARKED, metadata={"labels": {QOS_LEVEL: "reclaimed_cores"}}),
            {PATH: "is absent"},
            id="marked by a label only",
        ),
        pytest.param(
            offline_pod(
                container(),
                annotations=UNMARKED,
                initContainers=[container(OFFLINE_ASKS, "prepare")],
            ),
            {PATH: "prepare asks"},
            id="only an init container asks",
        ),
        pytest.param(online_pod(), {}, id="online pod without it"),
        pytest.param(
            offline_pod(container({MGPU_CORE: "30"})),
            {},
            id="marked pod that asks no reclaimed compute",
        ),
    ],
)
def test_offline_annotation(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
