import pytest

from policies.policy import Action
from tests.builders import (
    DRA_CLASSES,
    OFFLINE_ASKS,
    QOS_LEVEL,
    WHOLE_CARD,
    Object,
    container,
    dra_pod,
    found,
    offline_pod,
    whole_card_pod,
)

RULE = "reclaimed-whole-card"
PATH = f"metadata.annotations[{QOS_LEVEL}]"
RECLAIMED: dict[str, str | None] = {QOS_LEVEL: "reclaimed_cores"}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(whole_card_pod(), {}, id="whole card"),
        pytest.param(
            whole_card_pod(annotations=RECLAIMED),
            {PATH: "reclaimed_cores"},
            id="reclaimed whole card",
        ),
        pytest.param(
            whole_card_pod(annotations={QOS_LEVEL: "shared_cores"}), {}, id="shared whole card"
        ),
        pytest.param(dra_pod(), {}, id="claim"),
        pytest.param(
            dra_pod(annotations=RECLAIMED), {PATH: "reclaimed_cores"}, id="reclaimed claim"
        ),
        pytest.param(
            offline_pod(container({**OFFLINE_ASKS, WHOLE_CARD: "1"})),
            {},
            id="mGPU too is another rule",
        ),
    ],
)
def test_reclaimed_whole_card(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw, device_classes=DRA_CLASSES)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
