import pytest

from policies.policy import DEFAULT_ACTIONS, Action, Policy
from tests.builders import (
    DRA_CLASSES,
    ONLINE_ASKS,
    WHOLE_CARD,
    Object,
    container,
    dra_pod,
    found,
    online_pod,
    pod,
)

RULE = "gpu-by-env"
POLICY = Policy(actions={**DEFAULT_ACTIONS, RULE: Action.WARN})
PATH = "spec.containers[0].env[0]"


def visible(value: object, asks: dict[str, str] | None = None) -> Object:
    return container(asks, env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}])


REFERENCE = {"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(pod(), {}, id="absent"),
        pytest.param(pod(visible("all")), {PATH: "worker asks no GPU but sets"}, id="all"),
        pytest.param(pod(visible("0,1")), {PATH: '"0,1"'}, id="indexes"),
        pytest.param(pod(visible("none")), {}, id="none"),
        pytest.param(pod(visible("void")), {}, id="void"),
        pytest.param(pod(visible("")), {}, id="empty"),
        pytest.param(pod(visible(None)), {}, id="null"),
        pytest.param(pod(container(env=[REFERENCE])), {PATH: "from a reference"}, id="reference"),
        pytest.param(online_pod(visible("all", ONLINE_ASKS)), {}, id="asks mGPU"),
        pytest.param(pod(visible("all", {WHOLE_CARD: "1"})), {}, id="asks a whole card"),
        pytest.param(
            online_pod(container(ONLINE_ASKS), initContainers=[visible("all")]),
            {"spec.initContainers[0].env[0]": "worker"},
            id="another container asks",
        ),
    ],
)
def test_gpu_by_env(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw, policy=POLICY)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


def test_a_container_with_a_gpu_claim_asks_a_gpu() -> None:
    raw = dra_pod(containers=[{**visible("all"), "resources": {"claims": [{"name": "gpu"}]}}])
    assert found(RULE, raw, policy=POLICY, device_classes=DRA_CLASSES) == ()


def test_a_claim_of_something_else_is_no_gpu() -> None:
    raw = dra_pod(containers=[{**visible("all"), "resources": {"claims": [{"name": "nic"}]}}])
    assert [f.path for f in found(RULE, raw, policy=POLICY, device_classes=DRA_CLASSES)] == [PATH]


def test_it_is_off_by_default() -> None:
    assert found(RULE, pod(visible("all"))) == ()
