import pytest

from policies.policy import Eligibility, Injection, Keys, Policy, node_requirements
from tests.builders import Object, affinity, bare_offline_pod, expression, mutated

MODE = expression("vke.node.gpu.schedule", "In", "mgpu")
SHARE = expression("vke.volcengine.com/mgpu-compute-policy", "NotIn", "native-burst-share")
ELIGIBLE = expression("mgpu-hybrid.node-restriction.kubernetes.io/eligible", "In", "true")
INJECTED = [MODE, SHARE, ELIGIBLE]
OWN = expression("pool", "In", "a")
NAME = expression("metadata.name", "In", "n-1")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}
NEW = affinity({"matchExpressions": INJECTED})


def affinity_after(value: object, policy: Policy | None = None) -> object:
    spec = mutated(bare_offline_pod(affinity=value), policy)["spec"]
    assert isinstance(spec, dict)
    return spec["affinity"]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="null"),
        pytest.param({}, id="empty"),
        pytest.param({"nodeAffinity": None}, id="null node affinity"),
        pytest.param({"nodeAffinity": {}}, id="empty node affinity"),
        pytest.param({"nodeAffinity": {REQUIRED: None}}, id="null required block"),
    ],
)
def test_without_a_required_block_there_is_one_new_term(value: object) -> None:
    assert affinity_after(value) == NEW


def test_an_absent_affinity_is_added() -> None:
    spec = mutated(bare_offline_pod())["spec"]
    assert isinstance(spec, dict)
    assert spec["affinity"] == NEW


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            [{"matchExpressions": [OWN]}], [{"matchExpressions": [OWN, *INJECTED]}], id="one"
        ),
        pytest.param(
            [{"matchExpressions": [OWN]}, {"matchExpressions": [MODE]}],
            [{"matchExpressions": [OWN, *INJECTED]}, {"matchExpressions": INJECTED}],
            id="every term, for terms are ORed",
        ),
        pytest.param(
            [{"matchFields": [NAME]}],
            [{"matchFields": [NAME], "matchExpressions": INJECTED}],
            id="fields only",
        ),
        pytest.param(
            [{"matchFields": [NAME], "matchExpressions": []}],
            [{"matchFields": [NAME], "matchExpressions": INJECTED}],
            id="fields and no expressions",
        ),
        pytest.param(
            [{"matchFields": [NAME], "matchExpressions": None}],
            [{"matchFields": [NAME], "matchExpressions": INJECTED}],
            id="fields and null",
        ),
        pytest.param([{}], [{}], id="an empty term matches no node and stays"),
        pytest.param([None], [None], id="a null term too"),
        pytest.param(
            [{}, {"matchExpressions": [OWN]}],
            [{}, {"matchExpressions": [OWN, *INJECTED]}],
            id="an empty term beside another",
        ),
        pytest.param([], [], id="no terms"),
        pytest.param(
            [{"matchExpressions": [ELIGIBLE, SHARE, MODE]}],
            [{"matchExpressions": [ELIGIBLE, SHARE, MODE]}],
            id="all there in another order",
        ),
        pytest.param(
            [{"matchExpressions": [{**MODE, "values": ["mgpu", "nvidia"]}]}],
            [{"matchExpressions": [{**MODE, "values": ["mgpu", "nvidia"]}, *INJECTED]}],
            id="a wider expression does not count",
        ),
        pytest.param(
            [{"matchExpressions": [OWN], "comment": "x"}],
            [{"matchExpressions": [OWN, *INJECTED], "comment": "x"}],
            id="unknown fields stay",
        ),
    ],
)
def test_terms(before: list[Object], after: list[Object]) -> None:
    value = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": before}}}
    assert affinity_after(value) == {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": after}}}


@pytest.mark.parametrize("required", [{}, {"nodeSelectorTerms": None}], ids=["absent", "null"])
def test_a_required_block_without_terms_matches_no_node_and_stays(required: Object) -> None:
    value = {"nodeAffinity": {REQUIRED: required}}
    assert affinity_after(value) == value


def test_preferences_and_pod_affinity_stay() -> None:
    value = {"podAntiAffinity": {"x": 1}, "nodeAffinity": PREFERRED}
    assert affinity_after(value) == {
        "podAntiAffinity": {"x": 1},
        "nodeAffinity": {
            **PREFERRED,
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": INJECTED}]},
        },
    }


def test_not_refused_asks_for_a_label_that_is_not_false() -> None:
    requirements = node_requirements(Keys(), Eligibility.NOT_REFUSED)
    policy = Policy(injection=Injection(node_requirements=requirements))
    key = "mgpu-hybrid.node-restriction.kubernetes.io/eligible"
    assert affinity_after(None, policy) == affinity(
        {"matchExpressions": [MODE, SHARE, expression(key, "NotIn", "false")]}
    )


def test_no_requirements_add_nothing() -> None:
    assert affinity_after({}, Policy(injection=Injection(node_requirements=()))) == {}
