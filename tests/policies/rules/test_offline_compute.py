import pytest

from policies.policy import Action
from tests.builders import (
    MGPU_CORE,
    MGPU_MEMORY,
    OFFLINE_ASKS,
    RECLAIMED,
    Object,
    container,
    found,
    offline_pod,
    online_pod,
    split,
)

RULE = "offline-compute"
REQUEST = f"spec.containers[0].resources.requests[{RECLAIMED}]"
LIMIT = f"spec.containers[0].resources.limits[{RECLAIMED}]"
CORE = f"spec.containers[0].resources.requests[{MGPU_CORE}]"
INIT = f"spec.initContainers[0].resources.requests[{RECLAIMED}]"


def asking(amount: object) -> Object:
    return offline_pod(container({RECLAIMED: amount, MGPU_MEMORY: "4096"}))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(asking("1"), {}, id="1 is the least"),
        pytest.param(asking("0"), {REQUEST: "worker asks"}, id="0"),
        pytest.param(asking("-1"), {REQUEST: ": -1"}, id="negative"),
        pytest.param(asking("100"), {}, id="100 is the most"),
        pytest.param(asking("101"), {REQUEST: ": 101"}, id="101"),
        pytest.param(asking(50), {}, id="a JSON number"),
        pytest.param(asking("1e2"), {}, id="100 as an exponent"),
        pytest.param(asking("2e2"), {REQUEST: ": 2e2"}, id="200 as an exponent"),
        pytest.param(asking("1.0"), {}, id="whole with a point"),
        pytest.param(asking("0.5"), {REQUEST: ": 0.5, which is not a whole"}, id="fraction"),
        pytest.param(asking("50m"), {REQUEST: ": 50m, which is not a whole"}, id="milli"),
        pytest.param(asking("1k"), {REQUEST: ": 1k"}, id="thousand"),
        pytest.param(asking(None), {REQUEST: ": null"}, id="null is zero"),
        pytest.param(asking("half"), {REQUEST: "half, which is not a quantity"}, id="no quantity"),
        pytest.param(asking([]), {REQUEST: "which is not a quantity"}, id="list"),
        pytest.param(offline_pod(split(OFFLINE_ASKS, {})), {}, id="limits only"),
        pytest.param(
            offline_pod(split({RECLAIMED: "101", MGPU_MEMORY: "4096"}, {})),
            {LIMIT: ": 101"},
            id="limits only, too much",
        ),
        pytest.param(
            offline_pod(split({MGPU_MEMORY: "4096"}, OFFLINE_ASKS)),
            {REQUEST: ": 50, which is a request without a limit"},
            id="requests only",
        ),
        pytest.param(
            offline_pod(split({RECLAIMED: "60", MGPU_MEMORY: "4096"}, OFFLINE_ASKS)),
            {REQUEST: ": 50, which differs from its limit 60"},
            id="limit above request",
        ),
        pytest.param(
            offline_pod(split({RECLAIMED: "5e1", MGPU_MEMORY: "4096"}, OFFLINE_ASKS)),
            {},
            id="the same amount written in two ways",
        ),
        pytest.param(
            offline_pod(container({**OFFLINE_ASKS, MGPU_CORE: "20"})),
            {CORE: f"container worker of an offline pod asks {MGPU_CORE}: 20"},
            id="online compute too",
        ),
        pytest.param(
            offline_pod(container({MGPU_CORE: "20", MGPU_MEMORY: "4096"})),
            {CORE: "worker", "spec.containers": RECLAIMED},
            id="online compute instead",
        ),
        pytest.param(
            offline_pod(container({MGPU_MEMORY: "4096"})),
            {"spec.containers": RECLAIMED},
            id="memory only",
        ),
        pytest.param(
            offline_pod(container(), initContainers=[container(OFFLINE_ASKS, "prepare")]),
            {},
            id="only an init container asks",
        ),
        pytest.param(
            offline_pod(initContainers=[container({RECLAIMED: "101"}, "prepare")]),
            {INIT: "container prepare asks"},
            id="init container asks too much",
        ),
        pytest.param(online_pod(), {}, id="online pod"),
    ],
)
def test_offline_compute(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


def test_each_container_is_judged() -> None:
    first, second = container({RECLAIMED: "101"}, "one"), container({RECLAIMED: "102"}, "two")
    assert [f.path for f in found(RULE, offline_pod(first, second))] == [
        REQUEST,
        f"spec.containers[1].resources.requests[{RECLAIMED}]",
    ]
