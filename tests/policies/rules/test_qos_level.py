import pytest

from policies.policy import Action
from tests.builders import QOS_LEVEL, Object, found, offline_pod, online_pod, whole_card_pod

RULE = "qos-level"
PATH = f"metadata.annotations[{QOS_LEVEL}]"


def level(value: str) -> Object:
    return online_pod(annotations={QOS_LEVEL: value})


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(online_pod(), {}, id="absent"),
        pytest.param(level("shared_cores"), {}, id="shared"),
        pytest.param(level("dedicated_cores"), {}, id="dedicated"),
        pytest.param(level("system_cores"), {}, id="system"),
        pytest.param(offline_pod(), {}, id="reclaimed"),
        pytest.param(level("reclaimed_core"), {PATH: '"reclaimed_core"'}, id="one letter less"),
        pytest.param(level("Reclaimed_Cores"), {PATH: '"Reclaimed_Cores"'}, id="other case"),
        pytest.param(level("reclaimed_cores "), {PATH: '"reclaimed_cores "'}, id="trailing space"),
        pytest.param(level("offline"), {PATH: '"offline"'}, id="other word"),
        pytest.param(level(""), {PATH: '""'}, id="empty"),
        pytest.param(
            offline_pod(annotations={QOS_LEVEL: "reclaimed"}),
            {PATH: '"reclaimed"'},
            id="offline pod",
        ),
        pytest.param(
            online_pod(metadata={"labels": {QOS_LEVEL: "offline"}}), {}, id="a label means nothing"
        ),
        pytest.param(whole_card_pod(annotations={QOS_LEVEL: "x"}), {}, id="whole-card pod"),
    ],
)
def test_qos_level(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


def test_a_long_value_is_shown_short() -> None:
    (finding,) = found(RULE, online_pod(annotations={QOS_LEVEL: "x" * 10_000}))
    assert len(finding.message) < 250
