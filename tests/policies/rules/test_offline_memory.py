import pytest

from policies.policy import Action
from tests.builders import (
    MGPU_MEMORY,
    OFFLINE_ASKS,
    RECLAIMED,
    Object,
    container,
    found,
    offline_pod,
    split,
)

RULE = "offline-memory"
RESOURCES = "spec.containers[0].resources"
REQUEST = f"{RESOURCES}.requests[{MGPU_MEMORY}]"


def asking(amount: object) -> Object:
    return offline_pod(container({RECLAIMED: "50", MGPU_MEMORY: amount}))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(asking("256"), {}, id="256 MiB is the least"),
        pytest.param(asking("255"), {REQUEST: f"worker asks {MGPU_MEMORY}: 255"}, id="255 MiB"),
        pytest.param(asking("0"), {REQUEST: ": 0"}, id="0"),
        pytest.param(asking(None), {REQUEST: ": null"}, id="null is zero"),
        pytest.param(asking("-256"), {REQUEST: ": -256"}, id="negative"),
        pytest.param(asking(256), {}, id="a JSON number"),
        pytest.param(asking("6k"), {}, id="thousands"),
        pytest.param(asking("256.5"), {REQUEST: ": 256.5, which is not a whole"}, id="fraction"),
        pytest.param(
            asking("4 Gi"), {REQUEST: ": 4 Gi, which is not a quantity"}, id="no quantity"
        ),
        pytest.param(
            offline_pod(container({RECLAIMED: "50"})),
            {RESOURCES: f"worker asks reclaimed compute but no {MGPU_MEMORY}"},
            id="absent",
        ),
        pytest.param(
            offline_pod(split({RECLAIMED: "50", MGPU_MEMORY: "4096"}, {RECLAIMED: "50"})),
            {},
            id="limit only",
        ),
        pytest.param(
            offline_pod(split({RECLAIMED: "50"}, OFFLINE_ASKS)),
            {REQUEST: ": 4096, which is a request without a limit"},
            id="request only",
        ),
        pytest.param(
            offline_pod(split({RECLAIMED: "50", MGPU_MEMORY: "8192"}, OFFLINE_ASKS)),
            {REQUEST: ": 4096, which differs from its limit 8192"},
            id="limit above request",
        ),
        pytest.param(
            offline_pod(initContainers=[container({RECLAIMED: "50"}, "prepare")]),
            {"spec.initContainers[0].resources": "container prepare"},
            id="init container without memory",
        ),
        pytest.param(
            offline_pod(container(OFFLINE_ASKS), container(name="log")),
            {},
            id="a container without GPU needs none",
        ),
    ],
)
def test_offline_memory(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
