import pytest

from policies.policy import Action, Policy
from tests.builders import found, offline_pod, online_pod

RULE = "general-webhook-version"


@pytest.mark.parametrize(
    ("version", "action"),
    [
        ("v1.20.0", None),
        ("v1.19.9", Action.DENY),
        ("1.20.0", None),
        ("v1.20.1", None),
        ("v1.9.0", Action.DENY),
        ("v2.0.0", None),
        ("v1.20.0-rc.1", Action.DENY),
        ("latest", Action.WARN),
        ("", Action.WARN),
    ],
)
def test_general_webhook_version(version: str, action: Action | None) -> None:
    result = found(RULE, offline_pod(), policy=Policy(general_webhook_version=version))
    assert [(f.path, f.action) for f in result] == ([] if action is None else [("spec", action)])
    assert all(version in f.message and "v1.20.0" in f.message for f in result)


def test_by_default_it_is_this_webhook_and_new_enough() -> None:
    assert found(RULE, offline_pod()) == ()


def test_online_pods_need_none() -> None:
    assert found(RULE, online_pod(), policy=Policy(general_webhook_version="v1.0.0")) == ()
