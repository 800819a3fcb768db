import pytest

from policies.policy import Action
from tests.builders import (
    MULTI_CARD,
    OFFLINE_ASKS,
    Object,
    container,
    found,
    offline_pod,
    online_pod,
)

RULE = "multi-card"
PATH = f"metadata.annotations[{MULTI_CARD}]"
PREPARE = [container(name="prepare")]


def counts(text: str) -> Object:
    return offline_pod(annotations={MULTI_CARD: text})


def pair(text: str) -> Object:
    containers = container(OFFLINE_ASKS, "one"), container(OFFLINE_ASKS, "two")
    return offline_pod(*containers, annotations={MULTI_CARD: text})


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="absent"),
        pytest.param(counts("1"), {}, id="one card"),
        pytest.param(counts("0"), {}, id="no card"),
        pytest.param(counts("+1"), {}, id="a sign passes"),
        pytest.param(counts("01"), {}, id="a leading zero passes"),
        pytest.param(counts("2"), {PATH: "cannot have 2 cards"}, id="two cards"),
        pytest.param(counts("-1"), {PATH: "cannot have -1 cards"}, id="negative"),
        pytest.param(counts(""), {PATH: 'part 1, ""'}, id="empty"),
        pytest.param(counts("1 "), {PATH: '"1 "'}, id="a space"),
        pytest.param(counts("1,"), {PATH: 'part 2, ""'}, id="a trailing comma"),
        pytest.param(counts("1.5"), {PATH: '"1.5", is not an integer'}, id="fraction"),
        pytest.param(counts("a"), {PATH: '"a", is not an integer'}, id="a letter"),
        pytest.param(counts("1_0"), {PATH: '"1_0", is not an integer'}, id="an underscore"),
        pytest.param(counts("\u0661"), {PATH: "is not an integer"}, id="a digit of another script"),
        pytest.param(counts("1,1"), {PATH: "2 counts for 1 containers"}, id="one too many"),
        pytest.param(pair("1,1"), {}, id="two containers, one card each"),
        pytest.param(pair("1"), {PATH: "1 counts for 2 containers"}, id="one too few"),
        pytest.param(pair("1,2"), {PATH: "cannot have 2 cards"}, id="the second has two cards"),
        pytest.param(
            offline_pod(annotations={MULTI_CARD: "1"}, initContainers=PREPARE),
            {},
            id="init containers are not counted",
        ),
        pytest.param(
            offline_pod(annotations={MULTI_CARD: "1,1"}, initContainers=PREPARE),
            {PATH: "2 counts for 1 containers"},
            id="a count for an init container",
        ),
        pytest.param(online_pod(annotations={MULTI_CARD: "2"}), {}, id="online pod"),
    ],
)
def test_multi_card(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
