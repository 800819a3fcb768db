import pytest

from policies.policy import Action
from tests.builders import (
    DRA_CLASSES,
    GPU_SCHEDULE,
    WHOLE_CARD,
    Object,
    container,
    dra_pod,
    found,
    node,
    offline_pod,
    online_pod,
    pod,
    whole_card_pod,
)

RULE = "gpu-mode-mismatch"
MGPU = node("share")
WHOLE = node("whole", labels={GPU_SCHEDULE: "nvidia"})
UNLABELLED = node("plain", labels={GPU_SCHEDULE: None}, allocatable={WHOLE_CARD: "8"})
DRA = node("dra", labels={GPU_SCHEDULE: "nvidia-dra"})
ODD = node("odd", labels={GPU_SCHEDULE: "MGPU"})


@pytest.mark.parametrize(
    ("raw", "nodes", "expected"),
    [
        pytest.param(online_pod(), [MGPU], {}, id="online on mgpu"),
        pytest.param(
            online_pod(),
            [WHOLE, DRA],
            {
                "spec": "online pod needs a node in mode mgpu, its possible nodes are in mode nvidia, nvid"
            },
            id="online elsewhere",
        ),
        pytest.param(online_pod(), [WHOLE, MGPU], {}, id="one of two is enough"),
        pytest.param(online_pod(), [ODD], {"spec": "in mode MGPU"}, id="a mode is exact"),
        pytest.param(whole_card_pod(), [WHOLE], {}, id="whole card on nvidia"),
        pytest.param(whole_card_pod(), [UNLABELLED], {}, id="absent means nvidia"),
        pytest.param(whole_card_pod(), [MGPU], {"spec": "whole-card pod needs"}, id="whole card"),
        pytest.param(dra_pod(), [DRA], {}, id="claim on nvidia-dra"),
        pytest.param(dra_pod(), [WHOLE], {"spec": "mode nvidia-dra"}, id="claim elsewhere"),
        pytest.param(
            online_pod(nodeSelector={"pool": "none"}), [WHOLE], {}, id="no possible node: no word"
        ),
        pytest.param(offline_pod(), [WHOLE], {}, id="offline pods have the node rules"),
        pytest.param(pod(container()), [WHOLE], {}, id="no GPU"),
    ],
)
def test_gpu_mode_mismatch(raw: Object, nodes: list[Object], expected: dict[str, str]) -> None:
    result = found(RULE, raw, nodes=nodes, device_classes=DRA_CLASSES)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


def test_without_an_inventory_it_is_not_judged() -> None:
    assert found(RULE, online_pod()) == ()
