import pytest

from policies.facts import Operation
from policies.policy import Action, Policy
from tests.builders import (
    COMPUTE_POLICY,
    MGPU_CORE,
    MULTI_CARD,
    QOS_LEVEL,
    Object,
    Texts,
    container,
    decision,
    found,
    online_pod,
    template_of,
)

RULE = "class-change"


def path(key: str) -> str:
    return f"metadata.annotations[{key}]"


def marked(annotations: Texts) -> Object:
    return online_pod(container({MGPU_CORE: "30"}), annotations=annotations)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({}, {}, {}, id="nothing"),
        pytest.param({}, {"note": "x"}, {}, id="another annotation"),
        pytest.param({}, {QOS_LEVEL: "shared_cores"}, {}, id="the level that absent means"),
        pytest.param({}, {QOS_LEVEL: "system_cores"}, {}, id="a level of the same class"),
        pytest.param(
            {},
            {QOS_LEVEL: "reclaimed_cores"},
            {QOS_LEVEL: "from online to offline"},
            id="to offline",
        ),
        pytest.param(
            {QOS_LEVEL: "reclaimed_cores"},
            {},
            {QOS_LEVEL: "from offline to online"},
            id="to online",
        ),
        pytest.param(
            {QOS_LEVEL: "reclaimed_cores"},
            {QOS_LEVEL: "reclaimed_core"},
            {QOS_LEVEL: "from offline to online"},
            id="a letter lost",
        ),
        pytest.param({}, {COMPUTE_POLICY: "fixed-share"}, {}, id="the policy that absent means"),
        pytest.param(
            {},
            {COMPUTE_POLICY: "native-burst-share"},
            {COMPUTE_POLICY: "from fixed-share to native-burst-share"},
            id="policy",
        ),
        pytest.param({MULTI_CARD: "1"}, {MULTI_CARD: "1"}, {}, id="the same card counts"),
        pytest.param(
            {MULTI_CARD: "1"}, {MULTI_CARD: "2"}, {MULTI_CARD: "from 1 to 2"}, id="card counts"
        ),
        pytest.param({MULTI_CARD: "1"}, {}, {MULTI_CARD: "from 1 to none"}, id="counts removed"),
        pytest.param(
            {},
            {QOS_LEVEL: "reclaimed_cores", COMPUTE_POLICY: "x", MULTI_CARD: "2"},
            {QOS_LEVEL: "class", COMPUTE_POLICY: "compute policy", MULTI_CARD: "card counts"},
            id="all three",
        ),
    ],
)
def test_class_change(before: Texts, after: Texts, expected: dict[str, str]) -> None:
    result = found(RULE, marked(after), old=marked(before), operation=Operation.UPDATE)
    assert [(f.path, f.action) for f in result] == [(path(key), Action.DENY) for key in expected]
    assert all(said in f.message for f, said in zip(result, expected.values(), strict=True))


def test_only_an_update_of_a_pod_changes_a_class() -> None:
    new, old = marked({QOS_LEVEL: "reclaimed_cores"}), marked({})
    assert found(RULE, new) == ()
    assert decision(new, operation=Operation.UPDATE).failures == ()
    new, old = template_of(new), template_of(old)
    assert found(RULE, new, old=old, operation=Operation.UPDATE, template_kind="Job") == ()


@pytest.mark.parametrize(
    ("annotations", "schedulers", "username", "expected"),
    [
        pytest.param({}, ("s",), "eve", {}, id="nothing"),
        pytest.param({"note": "x"}, ("s",), "eve", {}, id="another annotation"),
        pytest.param({QOS_LEVEL: "shared_cores"}, ("s",), "s", {}, id="the scheduler"),
        pytest.param({QOS_LEVEL: "shared_cores"}, (), "eve", {QOS_LEVEL: "Warn"}, id="no list yet"),
        pytest.param({QOS_LEVEL: "x"}, ("s",), "eve", {QOS_LEVEL: "Deny"}, id="qos level"),
        pytest.param({COMPUTE_POLICY: "x"}, ("s",), "eve", {COMPUTE_POLICY: "Deny"}, id="policy"),
        pytest.param({MULTI_CARD: "2"}, ("s",), "eve", {MULTI_CARD: "Deny"}, id="card counts"),
    ],
)
def test_a_binding_carries_none_of_them(
    annotations: Texts, schedulers: tuple[str, ...], username: str, expected: Texts
) -> None:
    binding: Object = {"kind": "Binding", "metadata": {"name": "p", "annotations": annotations}}
    policy = Policy(schedulers=schedulers)
    result = found(RULE, binding, subresource="binding", policy=policy, username=username)
    assert {f.path: f.action for f in result} == {path(k): a for k, a in expected.items()}
