import pytest

from policies.policy import Action
from tests.builders import Object, found, offline_pod, online_pod

RULE = "offline-deadline"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="absent"),
        pytest.param(offline_pod(activeDeadlineSeconds=None), {}, id="null"),
        pytest.param(
            offline_pod(activeDeadlineSeconds=3600),
            {"spec.activeDeadlineSeconds": "3600"},
            id="an hour",
        ),
        pytest.param(online_pod(activeDeadlineSeconds=3600), {}, id="online pod"),
    ],
)
def test_offline_deadline(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
