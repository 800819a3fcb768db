import pytest

from policies.policy import Action
from tests.builders import DRIVER_VERSION, GPU_SCHEDULE, found, node, offline_pod

RULE = "node-driver-version"


@pytest.mark.parametrize(
    ("version", "action", "said"),
    [
        ("0.07.35.23", None, ""),
        ("0.07.35.22", Action.DENY, "mGPU driver 0.07.35.22, older than 0.07.35.23"),
        ("0.7.35.23", None, ""),
        ("0.7.36.0", None, ""),
        ("0.07.4.99", Action.DENY, "0.07.4.99"),
        ("0.10.0.0", None, ""),
        ("1.0", None, ""),
        ("0.07.35", Action.DENY, "0.07.35"),
        ("new", Action.WARN, 'an unknown mGPU driver version "new"'),
        (None, Action.WARN, "an unknown mGPU driver version"),
    ],
)
def test_node_driver_version(version: str | None, action: Action | None, said: str) -> None:
    result = found(RULE, offline_pod(), nodes=[node(annotations={DRIVER_VERSION: version})])
    assert [(f.path, f.action) for f in result] == ([("spec", action)] if action else [])
    assert all(said in f.message and "gpu-1" in f.message for f in result)


def test_elsewhere_than_on_mgpu_nodes_its_absence_says_nothing() -> None:
    whole = node(labels={GPU_SCHEDULE: "nvidia"}, annotations={DRIVER_VERSION: None})
    assert found(RULE, offline_pod(), nodes=[whole]) == ()
