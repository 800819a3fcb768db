import pytest

from policies.engine import mutate
from policies.patch import Mutation
from policies.pod import parse_pod
from policies.policy import EnvVar, Injection, Policy
from tests.builders import (
    MGPU_MEMORY,
    OFFLINE_ASKS,
    Object,
    bare_offline_pod,
    container,
    mutated,
    online_pod,
    whole_card_pod,
)

OWN = {"name": "OWN", "value": "1"}
MARK = {"name": "MGPU_TASK_CLASS", "value": "offline"}
FALSE_MARK = {"name": "MGPU_TASK_CLASS", "value": "online"}
REFERENCE = {"name": "MGPU_TASK_CLASS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}


def mutation(raw: Object, policy: Policy | None = None) -> Mutation:
    rules = policy or Policy()
    return mutate(parse_pod(raw, rules), rules)


def env_of(raw: Object, field: str = "containers", index: int = 0) -> object:
    spec = raw["spec"]
    assert isinstance(spec, dict)
    return spec[field][index].get("env")


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        pytest.param(None, [MARK], id="null"),
        pytest.param([], [MARK], id="empty"),
        pytest.param([OWN], [MARK, OWN], id="before the user's"),
        pytest.param([MARK], [MARK], id="there already"),
        pytest.param([OWN, MARK], [OWN, MARK], id="there already, elsewhere"),
        pytest.param([OWN, FALSE_MARK], [OWN, MARK], id="replaced in place"),
        pytest.param([FALSE_MARK, MARK], [MARK, MARK], id="the first of two"),
        pytest.param([MARK, FALSE_MARK], [MARK, MARK], id="the last of two, which counts"),
        pytest.param([FALSE_MARK, OWN, FALSE_MARK], [MARK, OWN, MARK], id="every duplicate"),
        pytest.param([REFERENCE], [MARK], id="a reference is replaced"),
        pytest.param([{"name": "MGPU_TASK_CLASS"}], [MARK], id="no value"),
        pytest.param([{"name": "MGPU_TASK_CLASS", "value": None}], [MARK], id="null value"),
        pytest.param(
            [{"name": "mgpu_task_class", "value": "x"}], None, id="other case is another name"
        ),
    ],
)
def test_env(env: list[Object] | None, expected: list[Object] | None) -> None:
    raw = bare_offline_pod(container(OFFLINE_ASKS, env=env))
    wanted = [MARK, *(env or [])] if expected is None else expected
    assert env_of(mutated(raw)) == wanted


def test_an_absent_env_is_added() -> None:
    assert env_of(mutated(bare_offline_pod())) == [MARK]


def test_unknown_fields_of_an_entry_survive() -> None:
    entry = {**REFERENCE, "comment": "x"}
    raw = bare_offline_pod(container(OFFLINE_ASKS, env=[entry]))
    assert env_of(mutated(raw)) == [{**MARK, "comment": "x"}]


def test_every_container_that_asks_mgpu_and_no_other() -> None:
    raw = bare_offline_pod(
        container(OFFLINE_ASKS, "worker"),
        container(name="log"),
        container({MGPU_MEMORY: "256"}, "cache"),
        initContainers=[container(name="copy"), container(OFFLINE_ASKS, "prepare")],
    )
    after = mutated(raw)
    assert [env_of(after, "containers", index) for index in range(3)] == [[MARK], None, [MARK]]
    assert [env_of(after, "initContainers", index) for index in range(2)] == [None, [MARK]]


@pytest.mark.parametrize(
    ("env", "warnings"),
    [
        pytest.param([], [], id="added"),
        pytest.param([MARK], [], id="there already"),
        pytest.param([FALSE_MARK], ['was "online", is now "offline"'], id="replaced"),
        pytest.param([REFERENCE], ["was taken from a reference"], id="reference"),
        pytest.param([FALSE_MARK, FALSE_MARK], ['was "online"', 'was "online"'], id="both"),
    ],
)
def test_a_replaced_value_warns(env: list[Object], warnings: list[str]) -> None:
    result = mutation(bare_offline_pod(container(OFFLINE_ASKS, env=env))).warnings
    assert len(result) == len(warnings)
    for warning, said in zip(result, warnings, strict=True):
        assert warning.startswith("spec.containers[0].env: MGPU_TASK_CLASS ")
        assert said in warning


def test_each_change_names_its_container() -> None:
    changes = mutation(bare_offline_pod()).changes
    assert changes[0].path == ("spec", "containers", "0", "env")
    assert "container worker" in changes[0].reason


TWO = Policy(injection=Injection(env=(EnvVar("A", "1"), EnvVar("B", ""))))


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        pytest.param([], ["A", "B"], id="both in order"),
        pytest.param([OWN], ["A", "B", "OWN"], id="both before the user's"),
        pytest.param([{"name": "B"}], ["A", "B"], id="an empty value left out is right"),
        pytest.param([{"name": "B", "value": "x"}, OWN], ["A", "B", "OWN"], id="one is corrected"),
    ],
)
def test_several_variables(env: list[Object], expected: list[str]) -> None:
    after = env_of(mutated(bare_offline_pod(container(OFFLINE_ASKS, env=env)), TWO))
    assert isinstance(after, list)
    assert [entry["name"] for entry in after] == expected
    assert {entry["name"]: entry.get("value", "") for entry in after} | {"OWN": ""} == {
        "A": "1",
        "B": "",
        "OWN": "",
    }


@pytest.mark.parametrize("raw", [online_pod(), whole_card_pod()], ids=["online", "whole card"])
def test_other_pods_are_not_touched(raw: Object) -> None:
    assert mutation(raw) == Mutation()
