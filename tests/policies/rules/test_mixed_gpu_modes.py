import pytest

from policies.policy import Action
from tests.builders import (
    DRA_CLASSES,
    OFFLINE_ASKS,
    ONLINE_ASKS,
    WHOLE_CARD,
    Object,
    container,
    found,
    offline_pod,
    online_pod,
    whole_card_pod,
)

RULE = "mixed-gpu-modes"
FIRST = "spec.containers[0].resources"
CLAIM = [{"name": "gpu", "resourceClaimTemplateName": "gpu-claim"}]
NETWORK_CLAIM = [{"name": "nic", "resourceClaimTemplateName": "nic-claim"}]
DEVICE_CLASS = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="offline mGPU alone"),
        pytest.param(online_pod(), {}, id="online mGPU alone"),
        pytest.param(whole_card_pod(), {}, id="whole card alone"),
        pytest.param(
            offline_pod(container({**OFFLINE_ASKS, WHOLE_CARD: "1"})),
            {FIRST: "container worker asks whole cards while worker asks mGPU"},
            id="whole card in the offline container",
        ),
        pytest.param(
            offline_pod(container({**OFFLINE_ASKS, WHOLE_CARD: "0"})),
            {},
            id="no whole card, said as 0",
        ),
        pytest.param(
            online_pod(container({**ONLINE_ASKS, WHOLE_CARD: "1"})),
            {FIRST: "worker"},
            id="whole card in the online container",
        ),
        pytest.param(
            online_pod(container(ONLINE_ASKS, "share"), container({WHOLE_CARD: 1}, "card")),
            {"spec.containers[1].resources": "container card asks whole cards while share"},
            id="whole card in another container",
        ),
        pytest.param(
            online_pod(initContainers=[container({WHOLE_CARD: "1"}, "prepare")]),
            {"spec.initContainers[0].resources": "container prepare"},
            id="whole card in an init container",
        ),
        pytest.param(
            online_pod(container({**ONLINE_ASKS, DEVICE_CLASS: "1"})),
            {FIRST: "worker"},
            id="a device class of GPUs asked as a resource",
        ),
        pytest.param(
            online_pod(resourceClaims=CLAIM),
            {"spec.resourceClaims": "resource claim gpu is for a GPU while worker asks mGPU"},
            id="GPU claim",
        ),
        pytest.param(online_pod(resourceClaims=NETWORK_CLAIM), {}, id="claim of a network card"),
    ],
)
def test_mixed_gpu_modes(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw, device_classes=DRA_CLASSES)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
