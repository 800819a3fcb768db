from dataclasses import replace

import pytest

from policies.facts import Operation
from policies.policy import Action, EnvVar, Injection, Policy
from tests.builders import (
    OFFLINE_ASKS,
    Object,
    affinity,
    bare_offline_pod,
    container,
    expression,
    found,
    mutated,
    offline_pod,
    online_pod,
    template_of,
)

RULE = "injected"
CLASS = {"name": "MGPU_TASK_CLASS", "value": "online"}


def but(**spec: object) -> Object:
    """A mutated pod in which another webhook has overwritten these fields of its spec."""
    raw = offline_pod()
    own = raw["spec"]
    assert isinstance(own, dict)
    return {**raw, "spec": {**own, **spec}}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="all there"),
        pytest.param(online_pod(), {}, id="online pod"),
        pytest.param(
            bare_offline_pod(),
            {
                "spec": "spec.containers.0.env, spec.tolerations, spec.affinity, metadata.labels",
            },
            id="nothing there",
        ),
        pytest.param(but(tolerations=[]), {"spec": "spec.tolerations"}, id="no toleration"),
        pytest.param(
            but(tolerations=[{"operator": "Exists"}]), {}, id="a toleration of everything"
        ),
        pytest.param(but(affinity=None), {"spec": "spec.affinity"}, id="no affinity"),
        pytest.param(
            but(affinity=affinity({"matchExpressions": [expression("pool", "Exists")]})),
            {"spec": "nodeSelectorTerms.0.matchExpressions"},
            id="another affinity",
        ),
        pytest.param(
            but(containers=[container(OFFLINE_ASKS)]),
            {"spec": "spec.containers.0.env"},
            id="no env",
        ),
        pytest.param(
            but(containers=[container(OFFLINE_ASKS, env=[CLASS])]),
            {"spec": "spec.containers.0.env.0.value"},
            id="another class in env",
        ),
    ],
)
def test_injected(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(f.message.endswith(expected[f.path]) for f in result)


def test_only_creating_is_judged() -> None:
    raw = bare_offline_pod()
    assert found(RULE, raw, operation=Operation.UPDATE, old=offline_pod()) == ()
    assert found(RULE, raw, is_audit=True) == ()
    assert found(RULE, template_of(raw), template_kind="Job") == ()


NEW = Policy(injection=replace(Injection(), env=(EnvVar("MGPU_TASK_CLASS", "batch"),)))


def test_an_injection_of_a_moment_ago_still_counts() -> None:
    old = mutated(bare_offline_pod())
    assert [f.action for f in found(RULE, old, policy=NEW)] == [Action.DENY]
    assert found(RULE, old, policy=NEW, previous_injections=(Injection(),)) == ()
    assert found(RULE, mutated(old, NEW), policy=NEW, previous_injections=(Injection(),)) == ()


def test_half_of_each_injection_does_not_count() -> None:
    previous = (replace(Injection(), env=(EnvVar("MGPU_CLASS", "offline"),)),)
    assert found(RULE, bare_offline_pod(), previous_injections=previous)
