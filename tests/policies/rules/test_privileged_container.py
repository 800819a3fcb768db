import pytest

from policies.policy import Action
from tests.builders import (
    ONLINE_ASKS,
    Object,
    container,
    found,
    offline_pod,
    online_pod,
    whole_card_pod,
)

RULE = "privileged-container"
PATH = "spec.containers[0].securityContext.privileged"


def worker(*, privileged: object) -> Object:
    return container(ONLINE_ASKS, securityContext={"privileged": privileged})


PRIVILEGED = container(name="debug", securityContext={"privileged": True})


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(online_pod(), {}, id="absent"),
        pytest.param(online_pod(worker(privileged=False)), {}, id="false"),
        pytest.param(online_pod(worker(privileged=None)), {}, id="null"),
        pytest.param(online_pod(worker(privileged=True)), {PATH: "container worker"}, id="true"),
        pytest.param(
            online_pod(container(ONLINE_ASKS), PRIVILEGED),
            {"spec.containers[1].securityContext.privileged": "container debug"},
            id="a neighbour without GPU",
        ),
        pytest.param(
            offline_pod(initContainers=[PRIVILEGED]),
            {"spec.initContainers[0].securityContext.privileged": "container debug"},
            id="init container of an offline pod",
        ),
        pytest.param(whole_card_pod(initContainers=[PRIVILEGED]), {}, id="whole-card pod"),
    ],
)
def test_privileged_container(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
