import pytest

from policies.policy import Action
from tests.builders import GPU_SCHEDULE, WHOLE_CARD, Object, found, node, offline_pod, online_pod

RULE = "node-gpu-mode"


def mode(value: str | None) -> Object:
    return node(labels={GPU_SCHEDULE: value}, allocatable={WHOLE_CARD: "8"})


@pytest.mark.parametrize(
    ("raw_node", "said"),
    [
        pytest.param(mode("mgpu"), "", id="mgpu"),
        pytest.param(mode("MGPU"), "mode MGPU instead of mgpu", id="other case"),
        pytest.param(mode("nvidia"), "mode nvidia instead", id="nvidia"),
        pytest.param(mode("nvidia-dra"), "mode nvidia-dra instead", id="nvidia-dra"),
        pytest.param(mode(None), "mode nvidia instead", id="absent means nvidia"),
        pytest.param(mode(""), "1 has scheduling mode", id="empty is no mode"),
    ],
)
def test_node_gpu_mode(raw_node: Object, said: str) -> None:
    result = found(RULE, offline_pod(), nodes=[raw_node])
    assert [(f.path, f.action) for f in result] == ([("spec", Action.DENY)] if said else [])
    assert all(said in f.message and "gpu-1" in f.message for f in result)


def test_online_pods_have_another_rule() -> None:
    assert found(RULE, online_pod(), nodes=[mode("nvidia")]) == ()
