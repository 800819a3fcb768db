import pytest

from policies.policy import Action
from tests.builders import MULTI_CARD, Object, found, offline_pod, online_pod

RULE = "multi-card-mode"
PATH = f"metadata.annotations[{MULTI_CARD}]"


def counts(text: str) -> Object:
    return offline_pod(annotations={MULTI_CARD: text})


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="absent"),
        pytest.param(counts("1"), {PATH: '"1"'}, id="one card"),
        pytest.param(counts("0"), {PATH: '"0"'}, id="no card"),
        pytest.param(counts("2"), {}, id="two cards are for multi-card"),
        pytest.param(counts("x"), {}, id="no integer is for multi-card"),
        pytest.param(counts("1,1"), {}, id="a wrong length is for multi-card"),
        pytest.param(online_pod(annotations={MULTI_CARD: "1"}), {}, id="online pod"),
    ],
)
def test_multi_card_mode(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
