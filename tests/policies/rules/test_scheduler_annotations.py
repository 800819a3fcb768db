import pytest

from policies.facts import Operation
from policies.policy import Action, Policy
from tests.builders import (
    ASSUMED,
    GPU_INDEX,
    Object,
    found,
    offline_pod,
    online_pod,
    template_of,
    whole_card_pod,
)

RULE = "scheduler-annotations"
SCHEDULER = "system:kube-scheduler"
LISTED = Policy(schedulers=(SCHEDULER,))
INDEX_PATH = f"metadata.annotations[{GPU_INDEX}]"


def placed(value: str = "0") -> Object:
    return online_pod(annotations={GPU_INDEX: value})


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(online_pod(), {}, id="absent"),
        pytest.param(placed(), {INDEX_PATH: f'{GPU_INDEX} is set to "0"'}, id="card index"),
        pytest.param(
            online_pod(annotations={ASSUMED: "true"}),
            {f"metadata.annotations[{ASSUMED}]": '"true"'},
            id="assumed",
        ),
        pytest.param(
            online_pod(annotations={f"{ASSUMED}-2": "true"}), {}, id="a key that only begins alike"
        ),
        pytest.param(
            offline_pod(annotations={GPU_INDEX: "", ASSUMED: "false"}),
            {f"metadata.annotations[{ASSUMED}]": '"false"', INDEX_PATH: '""'},
            id="both, whatever the value",
        ),
        pytest.param(whole_card_pod(annotations={GPU_INDEX: "0"}), {}, id="whole-card pod"),
    ],
)
def test_at_create(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


def test_at_create_not_even_the_scheduler() -> None:
    (finding,) = found(RULE, placed(), policy=LISTED, username=SCHEDULER)
    assert finding.action is Action.DENY
    assert f"by {SCHEDULER}" in finding.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param(online_pod(), placed(), 'is set to "0"', id="set"),
        pytest.param(placed("0"), placed("1"), 'is set to "1"', id="changed"),
        pytest.param(placed(), online_pod(), "is removed", id="removed"),
    ],
)
def test_on_update(old: Object, new: Object, said: str) -> None:
    def actions(policy: Policy, username: str) -> list[Action]:
        result = found(
            RULE, new, old=old, operation=Operation.UPDATE, policy=policy, username=username
        )
        assert all(said in f.message and username in f.message for f in result)
        return [f.action for f in result]

    assert actions(LISTED, SCHEDULER) == []
    assert actions(LISTED, "alice") == [Action.DENY]
    assert actions(Policy(), "alice") == [Action.WARN]


def test_on_update_what_stays_is_not_judged() -> None:
    old = online_pod(annotations={GPU_INDEX: "0", "note": "a"})
    new = online_pod(annotations={GPU_INDEX: "0", "note": "b"})
    assert found(RULE, new, old=old, operation=Operation.UPDATE, policy=LISTED, username="a") == ()


def test_a_binding() -> None:
    raw: Object = {"metadata": {"name": "app", "annotations": {GPU_INDEX: "0"}}}

    def actions(policy: Policy, username: str) -> list[Action]:
        result = found(RULE, raw, subresource="binding", policy=policy, username=username)
        return [f.action for f in result]

    assert actions(LISTED, SCHEDULER) == []
    assert actions(LISTED, "alice") == [Action.DENY]
    assert actions(Policy(), "alice") == [Action.WARN]


@pytest.mark.parametrize("operation", [Operation.CREATE, Operation.UPDATE])
def test_a_template_would_only_make_pods_that_are_refused(operation: Operation) -> None:
    new, old = template_of(placed()), template_of(online_pod())
    result = found(RULE, new, old=old, operation=operation, template_kind="Deployment")
    assert [f.action for f in result] == [Action.DENY]
    assert result[0].path == f"spec.template.{INDEX_PATH}"


def test_the_remedy_fits_the_act() -> None:
    (created,) = found(RULE, placed(), username="eve")
    (updated,) = found(RULE, placed(), old=online_pod(), operation=Operation.UPDATE, username="eve")
    assert "schedulers" not in created.remedy
    assert "add it to the policy's `schedulers`" in updated.remedy


def test_audit_leaves_it_out() -> None:
    assert found(RULE, placed(), is_audit=True) == ()
