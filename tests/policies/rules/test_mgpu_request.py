"""The request table. A container is written "mgpu-core/mgpu-memory" with "." for an absent key; both values
stand in limits and requests. `said` is what the finding says, empty where the pod passes.
"""

import pytest

from policies.facts import Operation
from policies.policy import Action
from tests.builders import (
    MGPU_CORE,
    MGPU_MEMORY,
    MULTI_CARD,
    ONLINE_ASKS,
    Object,
    container,
    found,
    offline_pod,
    online_pod,
    split,
)

RULE = "mgpu-request"
FIRST = "spec.containers[0].resources"
ANNOTATION = f"metadata.annotations[{MULTI_CARD}]"


def asking(written: str, name: str) -> Object:
    amounts = dict(zip((MGPU_CORE, MGPU_MEMORY), written.split("/"), strict=True))
    return container({key: amount for key, amount in amounts.items() if amount != "."}, name)


def requesting(counts: str | None, containers: str) -> Object:
    asks = [asking(written, f"c{index}") for index, written in enumerate(containers.split())]
    return online_pod(*asks, annotations={MULTI_CARD: counts})


SINGLE = [
    ("30/4096", ""),
    ("1/256", ""),
    ("99/256", ""),
    ("99/255", "mgpu-core 99 with 255 MiB of GPU memory, less than 256"),
    ("30/.", "with 0 MiB"),
    ("30/0", "with 0 MiB"),
    ("./4096", "mgpu-memory 4096 without mgpu-core above 0"),
    ("0/0", "without mgpu-core above 0"),
    ("0/4096", "without mgpu-core above 0"),
    ("0/.", "without mgpu-core above 0"),
    ("./0", "without mgpu-core above 0"),
    ("-20/6k", "without mgpu-core above 0"),
    ("30/-1", "mgpu-memory -1, less than nothing"),
    ("100/-1", "less than nothing"),
    ("100/.", ""),
    ("200/.", ""),
    ("800/.", ""),
    ("100/0", "full cards (mgpu-core 100) together with mgpu-memory 0"),
    ("100/4096", "full cards"),
    ("200/6k", "together with mgpu-memory 6k"),
    ("101/.", "mgpu-core 101, which is above 100 and no multiple"),
    ("120/128", "above 100 and no multiple"),
    ("150/4096", "above 100 and no multiple"),
    ("199/.", "above 100 and no multiple"),
    ("0.5/4096", "0.5, which is not a whole number"),
    ("50m/4096", "50m, which is not a whole number"),
    ("100000m/.", ""),
    ("1e2/.", ""),
    ("1e2/4096", "full cards"),
    ("1.5e2/.", "above 100 and no multiple"),
    ("30/6k", ""),
    ("30/0.2k", "with 200 MiB"),
    ("30/0.25Ki", ""),
    ("30/4096.5", "4096.5, which is not a whole number"),
    ("30.0/4096", ""),
    ("thirty/4096", "thirty, which is not a quantity"),
    ("30/4Gib", "4Gib, which is not a quantity"),
]


@pytest.mark.parametrize(("written", "said"), SINGLE, ids=[written for written, _ in SINGLE])
def test_one_container(written: str, said: str) -> None:
    result = found(RULE, requesting(None, written))
    assert [(f.path, f.action) for f in result] == ([(FIRST, Action.DENY)] if said else [])
    assert all(f.message.startswith("container c0 asks") and said in f.message for f in result)


MULTI = [
    ("a", "60/4096", {ANNOTATION: 'is "a": part 1, "a", is not an integer'}),
    ("", "60/4096", {ANNOTATION: 'part 1, "", is not an integer'}),
    ("1.5", "60/4096", {ANNOTATION: '"1.5", is not an integer'}),
    ("2,", "60/4096", {ANNOTATION: 'part 2, "", is not an integer'}),
    ("2, 1", "60/4096 30/2048", {ANNOTATION: 'part 2, " 1", is not an integer'}),
    ("3,2", "200/6k", {ANNOTATION: "2 counts for 1 containers"}),
    ("-1,2", "200/6k", {ANNOTATION: "2 counts for 1 containers"}),
    ("2", "60/4096 60/4096", {ANNOTATION: "1 counts for 2 containers"}),
    ("+2", "60/4096", {}),
    ("02", "60/4096", {}),
    ("-1", "60/4096", {FIRST: "has -1 cards"}),
    ("2", "200/6k", {FIRST: "full cards (mgpu-core 200) together with mgpu-memory 6k"}),
    ("2", "200/0", {FIRST: "full cards"}),
    ("2", "200/.", {}),
    ("3", "130/6k", {FIRST: "which 3 cards cannot share evenly"}),
    ("3", "100/6k", {FIRST: "cannot share evenly"}),
    ("2", "60/4096", {}),
    ("2", "60/2048", {}),
    ("2", "60/2046", {FIRST: "2046 MiB for 2 cards, less than 1024 each"}),
    ("2", "60/2047", {FIRST: "less than 1024 each"}),
    ("2", "60/2049", {FIRST: "cannot share evenly"}),
    ("2", "60/.", {FIRST: "asks 0 MiB for 2 cards"}),
    ("2", "150/4096", {}),
    ("2", "31/4096", {FIRST: "mgpu-core 31 and 4096 MiB, which 2 cards"}),
    ("2", "202/4096", {FIRST: "mgpu-core 202 of 2 cards, more than 100 percent each"}),
    ("2", "300/4096", {FIRST: "more than 100 percent each"}),
    ("2", "0/4096", {FIRST: "mgpu-core 0, which is not above 0"}),
    ("2", "-60/4096", {FIRST: "mgpu-core -60, which is not above 0"}),
    ("2", "60/-4096", {FIRST: "less than nothing"}),
    ("2", "0.5/4096", {FIRST: "0.5, which is not a whole number"}),
    ("2", "./4096", {FIRST: "has 2 cards but asks no mgpu-core"}),
    ("1", "100/.", {}),
    ("1", "60/1024", {}),
    ("1", "1/1024", {}),
    ("1", "60/1023", {FIRST: "1023 MiB for 1 cards, less than 1024 each"}),
    ("1", "100/4096", {FIRST: "full cards"}),
    ("1", "120/4096", {FIRST: "more than 100 percent each"}),
    ("0", "60/4096", {FIRST: "has 0 cards but asks mGPU"}),
    ("0", "./4096", {FIRST: "has 0 cards but asks mGPU"}),
    ("0", "0/0", {FIRST: "mgpu-core 0, which is not above 0"}),
    ("2,0", "60/4096 ./.", {}),
    ("0,2", "./. 60/4096", {}),
    ("0,2", "30/4096 60/4096", {FIRST: "container c0 has 0 cards"}),
    ("2,2", "60/4096 ./.", {"spec.containers[1].resources": "container c1 has 2 cards"}),
    (
        "2,-3",
        "200/. 61/100",
        {"spec.containers[1].resources": "container c1 has -3 cards"},
    ),
    ("2,2", "61/4096 200/.", {FIRST: "container c0 asks mgpu-core 61"}),
    ("2,2", "200/. 61/4096", {"spec.containers[1].resources": "container c1 asks mgpu-core 61"}),
    ("100", "100/102400", {}),
]


@pytest.mark.parametrize(
    ("counts", "containers", "expected"), MULTI, ids=[f"{c} for {w}" for c, w, _ in MULTI]
)
def test_multi_card(counts: str, containers: str, expected: dict[str, str]) -> None:
    result = found(RULE, requesting(counts, containers))
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


SEVERAL = [
    ("./. 30/4096", []),
    ("30/4096 150/.", [1]),
    ("100/. 30/100", [1]),
    ("100/. 200/. 30/4096", []),
    ("150/. 100/. 0/.", [0, 2]),
]


@pytest.mark.parametrize(("containers", "wrong"), SEVERAL, ids=[c for c, _ in SEVERAL])
def test_every_container_is_judged_to_the_end(containers: str, wrong: list[int]) -> None:
    result = found(RULE, requesting(None, containers))
    assert [f.path for f in result] == [f"spec.containers[{index}].resources" for index in wrong]
    assert [f.message.split()[1] for f in result] == [f"c{index}" for index in wrong]


INIT = "spec.initContainers[0].resources"
SIDECAR = {**asking("150/.", "side"), "restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(online_pod(initContainers=[asking("30/256", "i")]), {}, id="init share"),
        pytest.param(
            online_pod(initContainers=[asking("30/255", "i")]),
            {INIT: "container i asks mgpu-core 30 with 255 MiB"},
            id="init share too small",
        ),
        pytest.param(online_pod(initContainers=[asking("100/.", "i")]), {}, id="init full card"),
        pytest.param(
            online_pod(container(), initContainers=[asking("150/.", "i")]),
            {INIT: "container i"},
            id="only the init container asks",
        ),
        pytest.param(
            online_pod(initContainers=[SIDECAR]), {INIT: "container side asks"}, id="sidecar"
        ),
        pytest.param(
            online_pod(
                asking("60/4096", "c"),
                annotations={MULTI_CARD: "2"},
                initContainers=[asking("30/256", "i")],
            ),
            {},
            id="an init container has no card count",
        ),
        pytest.param(
            online_pod(
                asking("60/4096", "c"),
                annotations={MULTI_CARD: "2"},
                initContainers=[asking("150/4096", "i")],
            ),
            {INIT: "container i asks mgpu-core 150"},
            id="multi-card mode does not widen an init container",
        ),
        pytest.param(
            online_pod(
                asking("60/4096", "c"),
                annotations={MULTI_CARD: "2,1"},
                initContainers=[asking("30/1024", "i")],
            ),
            {ANNOTATION: "2 counts for 1 containers"},
            id="a count for an init container",
        ),
    ],
)
def test_init_containers(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        pytest.param(split(ONLINE_ASKS, {}), "", id="limits only"),
        pytest.param(split({MGPU_CORE: "101"}, {}), "mgpu-core 101", id="limits only, wrong"),
        pytest.param(
            split({}, ONLINE_ASKS), "30, which is a request without a limit", id="requests only"
        ),
        pytest.param(
            split({**ONLINE_ASKS, MGPU_CORE: "40"}, ONLINE_ASKS),
            "30, which differs from its limit 40",
            id="core limit above request",
        ),
        pytest.param(
            split({**ONLINE_ASKS, MGPU_MEMORY: "8192"}, ONLINE_ASKS),
            "4096, which differs from its limit 8192",
            id="memory limit above request",
        ),
        pytest.param(
            split({MGPU_CORE: "30", MGPU_MEMORY: "4.096k"}, ONLINE_ASKS),
            "",
            id="equal in other words",
        ),
        pytest.param(
            split(ONLINE_ASKS, {MGPU_CORE: "30"}), "", id="one request absent takes its limit"
        ),
        pytest.param(
            split({MGPU_CORE: "30"}, ONLINE_ASKS),
            "4096, which is a request without a limit",
            id="memory without a limit",
        ),
        pytest.param(container({MGPU_CORE: 30, MGPU_MEMORY: 4096}), "", id="JSON numbers"),
        pytest.param(container({MGPU_CORE: 30.0, MGPU_MEMORY: 4096}), "", id="a JSON float, whole"),
        pytest.param(
            container({MGPU_CORE: 0.5, MGPU_MEMORY: 4096}),
            "0.5, which is not a whole",
            id="a fraction",
        ),
        pytest.param(
            container({MGPU_CORE: None, MGPU_MEMORY: "4096"}),
            "without mgpu-core",
            id="null core is 0",
        ),
        pytest.param(
            container({MGPU_CORE: "30", MGPU_MEMORY: None}), "with 0 MiB", id="null memory is 0"
        ),
        pytest.param(
            container({MGPU_CORE: "100", MGPU_MEMORY: None}),
            "full cards",
            id="a null key is present",
        ),
        pytest.param(
            container({MGPU_CORE: ["30"], MGPU_MEMORY: "4096"}),
            "which is not a quantity",
            id="list",
        ),
    ],
)
def test_limits_and_requests(raw: Object, said: str) -> None:
    result = found(RULE, online_pod(raw))
    assert [(f.path, f.action) for f in result] == ([(FIRST, Action.DENY)] if said else [])
    assert all("container worker asks" in f.message and said in f.message for f in result)


def test_offline_pods_have_other_rules() -> None:
    assert found(RULE, offline_pod(container({MGPU_CORE: "150"}))) == ()


def test_on_update_what_was_wrong_before_stays() -> None:
    old = requesting(None, "150/.")
    assert found(RULE, old, old=old, operation=Operation.UPDATE) == ()
