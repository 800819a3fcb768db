import pytest

from policies.policy import DEFAULT_ACTIONS, Action, Policy
from tests.builders import found, node, offline_pod

RULE = "node-kubelet-version"
DENYING = Policy(actions={**DEFAULT_ACTIONS, RULE: Action.DENY})


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("v1.28.15-vke.19", ""),
        ("v1.28.15-vke.18", "kubelet v1.28.15-vke.18, older"),
        ("v1.24.17-vke.38", ""),
        ("v1.24.17-vke.37", "v1.24.17-vke.37"),
        ("v1.30.4-vke.3", ""),
        ("v1.34.0", ""),
        ("v1.27.9-vke.1", "kubelet v1.27.9-vke.1, whose support cannot be told"),
        (None, "an unknown kubelet version"),
    ],
)
def test_node_kubelet_version(version: str | None, said: str) -> None:
    result = found(RULE, offline_pod(), nodes=[node(kubelet=version)])
    assert [(f.path, f.action) for f in result] == ([("spec", Action.WARN)] if said else [])
    assert all(said in f.message and "gpu-1" in f.message for f in result)


@pytest.mark.parametrize(
    ("version", "action"), [("v1.28.15-vke.18", Action.DENY), ("v1.27.9-vke.1", Action.WARN)]
)
def test_where_the_policy_denies_an_unknown_version_warns(version: str, action: Action) -> None:
    (finding,) = found(RULE, offline_pod(), nodes=[node(kubelet=version)], policy=DENYING)
    assert finding.action is action
