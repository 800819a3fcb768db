import pytest

from policies.policy import Action
from tests.builders import (
    COMPUTE_POLICY,
    GPU_SCHEDULE,
    MGPU_CORE,
    MGPU_MEMORY,
    ONLINE_ASKS,
    Object,
    container,
    found,
    node,
    offline_pod,
    online_pod,
)

RULE = "policy-match"
PATH = f"metadata.annotations[{COMPUTE_POLICY}]"
BURST = node("burst")
FIXED = node("fixed", labels={COMPUTE_POLICY: None})
NATIVE = node("native", labels={COMPUTE_POLICY: "native-burst-share"})
WHOLE = node("whole", labels={GPU_SCHEDULE: "nvidia"})


def asking(policy: str) -> Object:
    return online_pod(annotations={COMPUTE_POLICY: policy})


@pytest.mark.parametrize(
    ("raw", "nodes", "expected"),
    [
        pytest.param(online_pod(), [FIXED], {}, id="both absent"),
        pytest.param(asking("fixed-share"), [FIXED], {}, id="written out against absent"),
        pytest.param(
            online_pod(), [BURST], {PATH: "fixed-share, its possible nodes have guar"}, id="absent"
        ),
        pytest.param(asking("guaranteed-burst-share"), [BURST], {}, id="equal"),
        pytest.param(asking("native-burst-share"), [NATIVE], {}, id="equal and not hybrid"),
        pytest.param(
            asking("native-burst-share"),
            [BURST, FIXED],
            {
                PATH: "native-burst-share, its possible nodes have fixed-share, guaranteed-burst-share"
            },
            id="neither of two",
        ),
        pytest.param(asking("guaranteed-burst-share"), [FIXED, BURST], {}, id="one of two"),
        pytest.param(
            online_pod(container({MGPU_CORE: "200"})), [BURST], {}, id="full cards are excepted"
        ),
        pytest.param(
            online_pod(container({MGPU_CORE: "100"}, "one"), container(ONLINE_ASKS, "two")),
            [BURST],
            {PATH: "fixed-share"},
            id="full cards and a share are not",
        ),
        pytest.param(
            online_pod(container({MGPU_CORE: "100"}, "one"), container({MGPU_MEMORY: "1"}, "two")),
            [BURST],
            {PATH: "fixed-share"},
            id="full cards and memory are not",
        ),
        pytest.param(
            online_pod(container({MGPU_CORE: "0"})),
            [BURST],
            {PATH: "fixed-share"},
            id="0 is no full card",
        ),
        pytest.param(online_pod(), [WHOLE], {}, id="no mGPU node: another rule"),
        pytest.param(online_pod(), [], {}, id="no node at all"),
        pytest.param(offline_pod(), [BURST], {}, id="offline pod"),
    ],
)
def test_policy_match(raw: Object, nodes: list[Object], expected: dict[str, str]) -> None:
    result = found(RULE, raw, nodes=nodes)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
