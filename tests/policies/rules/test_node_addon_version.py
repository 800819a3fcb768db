import pytest

from policies.policy import Action, Policy
from tests.builders import ADDON_VERSION, GPU_SCHEDULE, found, node, offline_pod

RULE = "node-addon-version"


@pytest.mark.parametrize(
    ("version", "action", "said"),
    [
        ("v0.6.0", None, ""),
        ("v0.5.9", Action.DENY, "mGPU add-on v0.5.9, older than v0.6.0"),
        ("0.6.0", None, ""),
        ("v0.10.0", None, ""),
        ("v0.6.0-rc.1", Action.DENY, "v0.6.0-rc.1"),
        ("v0.6.0-20240901", Action.WARN, 'unknown mGPU add-on version "v0.6.0-20240901"'),
        ("latest", Action.WARN, 'an unknown mGPU add-on version "latest"'),
        (None, Action.WARN, "an unknown mGPU add-on version"),
    ],
)
def test_node_addon_version(version: str | None, action: Action | None, said: str) -> None:
    result = found(RULE, offline_pod(), nodes=[node(annotations={ADDON_VERSION: version})])
    assert [(f.path, f.action) for f in result] == ([("spec", action)] if action else [])
    assert all(said in f.message and "gpu-1" in f.message for f in result)


@pytest.mark.parametrize(
    ("stated", "on_node", "actions"),
    [
        pytest.param("v0.6.0", None, [], id="the policy states it"),
        pytest.param("v0.5.0", None, [Action.DENY], id="the policy states an older one"),
        pytest.param("v0.5.0", "v0.6.0", [], id="the node's word goes before"),
    ],
)
def test_the_policy_may_state_it(stated: str, on_node: str | None, actions: list[Action]) -> None:
    nodes = [node(annotations={ADDON_VERSION: on_node})]
    result = found(RULE, offline_pod(), nodes=nodes, policy=Policy(addon_version=stated))
    assert [f.action for f in result] == actions


def test_elsewhere_than_on_mgpu_nodes_its_absence_says_nothing() -> None:
    whole = node(labels={GPU_SCHEDULE: "nvidia"}, annotations={ADDON_VERSION: None})
    assert found(RULE, offline_pod(), nodes=[whole]) == ()
