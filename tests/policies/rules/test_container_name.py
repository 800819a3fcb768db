import pytest

from policies.policy import Action
from tests.builders import (
    OFFLINE_ASKS,
    ONLINE_ASKS,
    Object,
    container,
    found,
    offline_pod,
    online_pod,
)

RULE = "container-name"
FITS = "a" * 43
TOO_LONG = "a" * 44


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(online_pod(container(ONLINE_ASKS, FITS)), {}, id="43 characters"),
        pytest.param(
            online_pod(container(ONLINE_ASKS, TOO_LONG)),
            {"spec.containers[0].name": f"{TOO_LONG} has 44 characters"},
            id="44 characters",
        ),
        pytest.param(
            offline_pod(container(OFFLINE_ASKS, TOO_LONG)),
            {"spec.containers[0].name": TOO_LONG},
            id="offline",
        ),
        pytest.param(
            online_pod(initContainers=[container(ONLINE_ASKS, TOO_LONG)]),
            {"spec.initContainers[0].name": TOO_LONG},
            id="init container",
        ),
        pytest.param(
            online_pod(container(ONLINE_ASKS), container(name=TOO_LONG)),
            {},
            id="a container without GPU",
        ),
    ],
)
def test_container_name(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
