import pytest

from policies.policy import Action, Policy
from tests.builders import decision, found, offline_pod, online_pod

RULE = "cluster-version"


@pytest.mark.parametrize(
    ("version", "action"),
    [
        ("v1.24.17-vke.38", None),
        ("v1.24.17-vke.37", Action.DENY),
        ("v1.26.15-vke.26", None),
        ("v1.26.15-vke.25", Action.DENY),
        ("v1.28.15-vke.19", None),
        ("v1.28.15-vke.18", Action.DENY),
        ("v1.28.3-vke.99", Action.DENY),
        ("v1.28.16-vke.1", None),
        ("v1.30.4-vke.3", None),
        ("v1.30.4-vke.2", Action.DENY),
        ("v1.32.1-vke.1", None),
        ("v1.31.0", None),
        ("v1.29.9-vke.9", Action.WARN),
        ("v1.22.15-vke.9", Action.WARN),
        ("v1.28.15", Action.WARN),
        ("1.28.15-vke.19", None),
        ("unknown", Action.WARN),
    ],
)
def test_cluster_version(version: str, action: Action | None) -> None:
    result = found(RULE, offline_pod(), cluster_version=version)
    assert [(f.path, f.action) for f in result] == ([] if action is None else [("spec", action)])
    assert all(version in f.message for f in result)


@pytest.mark.parametrize("action", [Action.DENY, Action.WARN, Action.AUDIT])
def test_unknown_does_what_the_policy_says(action: Action) -> None:
    policy = Policy(unknown_facts=action)
    (finding,) = found(RULE, offline_pod(), cluster_version="v1.28.15", policy=policy)
    assert finding.action is action


def test_it_is_for_offline_pods_whose_cluster_is_known() -> None:
    assert found(RULE, online_pod(), cluster_version="v1.28.3-vke.1") == ()
    assert RULE in decision(offline_pod()).not_judged
    assert RULE not in decision(offline_pod(), cluster_version="v1.30.4-vke.3").not_judged
