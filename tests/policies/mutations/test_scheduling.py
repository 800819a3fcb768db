import pytest

from policies.engine import mutate
from policies.pod import parse_pod
from policies.policy import Injection, Policy
from tests.builders import Object, bare_offline_pod, mutated

PRIORITY = Policy(injection=Injection(priority_class_name="batch"))
SCHEDULER = Policy(injection=Injection(scheduler_name="volcano"))
RUNTIME = Policy(injection=Injection(runtime_class_name="nvidia"))
FIELDS = (
    "priorityClassName",
    "priority",
    "preemptionPolicy",
    "schedulerName",
    "runtimeClassName",
    "overhead",
)


@pytest.mark.parametrize(
    ("policy", "before", "expected"),
    [
        pytest.param(Policy(), {"priority": 0}, {"priority": 0}, id="off by default"),
        pytest.param(PRIORITY, {}, {"priorityClassName": "batch"}, id="priority class"),
        pytest.param(
            PRIORITY,
            {"priorityClassName": "high", "priority": 9, "preemptionPolicy": "Never"},
            {"priorityClassName": "batch"},
            id="what is derived from the old class leaves",
        ),
        pytest.param(
            PRIORITY,
            {"priority": 0, "preemptionPolicy": None},
            {"priorityClassName": "batch"},
            id="defaults leave",
        ),
        pytest.param(
            PRIORITY,
            {"priorityClassName": "batch", "priority": 1},
            {"priorityClassName": "batch", "priority": 1},
            id="right already",
        ),
        pytest.param(
            PRIORITY, {"priorityClassName": None}, {"priorityClassName": "batch"}, id="null class"
        ),
        pytest.param(
            SCHEDULER,
            {"schedulerName": "default-scheduler"},
            {"schedulerName": "volcano"},
            id="scheduler",
        ),
        pytest.param(
            RUNTIME,
            {"runtimeClassName": "runc", "overhead": {"cpu": "1"}},
            {"runtimeClassName": "nvidia"},
            id="runtime class",
        ),
    ],
)
def test_scheduling(policy: Policy, before: Object, expected: Object) -> None:
    raw = bare_offline_pod(annotations=None, metadata=None, **before)
    spec = mutated(raw, policy)["spec"]
    assert isinstance(spec, dict)
    assert {field: spec[field] for field in FIELDS if field in spec} == expected


@pytest.mark.parametrize(
    ("policy", "before", "warned"),
    [
        pytest.param(PRIORITY, {}, False, id="added"),
        pytest.param(PRIORITY, {"priorityClassName": "high"}, True, id="the user's is replaced"),
        pytest.param(SCHEDULER, {"schedulerName": "default-scheduler"}, False, id="the default is"),
        pytest.param(SCHEDULER, {"schedulerName": "own"}, True, id="the user's scheduler is"),
    ],
)
def test_a_replaced_value_warns(policy: Policy, before: Object, *, warned: bool) -> None:
    raw = bare_offline_pod(annotations=None, metadata=None, **before)
    assert bool(mutate(parse_pod(raw, policy), policy).warnings) is warned


@pytest.mark.parametrize("policy", [Policy(), PRIORITY, SCHEDULER, RUNTIME])
def test_mutating_twice_equals_mutating_once(policy: Policy) -> None:
    once = mutated(bare_offline_pod(priority=0, schedulerName="own"), policy)
    assert mutate(parse_pod(once, policy), policy).patch == []
