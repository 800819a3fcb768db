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

RULE = "offline-liveness"
HTTP = {"httpGet": {"port": 8080}}
GRPC = {"grpc": {"port": 8080}}
TCP = {"tcpSocket": {"port": 8080}}
EXEC = {"exec": {"command": ["true"]}}


def probed(**probes: object) -> Object:
    return offline_pod({**container(OFFLINE_ASKS), **probes})


SIDECAR = container(OFFLINE_ASKS, "sidecar", restartPolicy="Always", livenessProbe=HTTP)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="no probe"),
        pytest.param(
            probed(livenessProbe=HTTP),
            {"spec.containers[0].livenessProbe.httpGet": "container worker has HTTP"},
            id="HTTP liveness",
        ),
        pytest.param(
            probed(livenessProbe=GRPC),
            {"spec.containers[0].livenessProbe.grpc": "container worker has gRPC"},
            id="gRPC liveness",
        ),
        pytest.param(
            probed(startupProbe=HTTP),
            {"spec.containers[0].startupProbe.httpGet": "in its startupProbe"},
            id="HTTP startup",
        ),
        pytest.param(
            probed(startupProbe=GRPC),
            {"spec.containers[0].startupProbe.grpc": "in its startupProbe"},
            id="gRPC startup",
        ),
        pytest.param(probed(readinessProbe=HTTP), {}, id="HTTP readiness kills nothing"),
        pytest.param(probed(livenessProbe=EXEC), {}, id="exec liveness"),
        pytest.param(probed(livenessProbe=TCP, startupProbe=TCP), {}, id="TCP"),
        pytest.param(probed(livenessProbe=None), {}, id="null"),
        pytest.param(
            offline_pod(container(OFFLINE_ASKS), container(name="log", livenessProbe=HTTP)),
            {},
            id="a container without GPU is not suspended",
        ),
        pytest.param(
            offline_pod(initContainers=[SIDECAR]),
            {"spec.initContainers[0].livenessProbe.httpGet": "container sidecar"},
            id="sidecar",
        ),
        pytest.param(online_pod(container(ONLINE_ASKS, livenessProbe=HTTP)), {}, id="online pod"),
    ],
)
def test_offline_liveness(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
