import pytest

from policies.policy import Action, NodePool, Policy
from tests.builders import (
    GPU_SCHEDULE,
    Object,
    affinity,
    expression,
    found,
    node,
    offline_pod,
    online_pod,
)

RULE = "node-match"
NODES = [node("a-1", labels={"pool": "a"}), node("b-1", labels={"pool": "b"})]
CPU = node("cpu-1", labels={GPU_SCHEDULE: None, "pool": "cpu"}, allocatable={})


def selecting(pool: str) -> Object:
    return offline_pod(nodeSelector={"pool": pool})


def required(*terms: Object) -> Object:
    return offline_pod(affinity=affinity(*terms))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="no selection"),
        pytest.param(selecting("a"), {}, id="selector matches"),
        pytest.param(
            selecting("c"),
            {"spec": "none of the 2 known GPU nodes matches nodeSelector pool=c"},
            id="selector does not",
        ),
        pytest.param(selecting("cpu"), {"spec": "pool=cpu"}, id="only a node without GPU matches"),
        pytest.param(offline_pod(nodeName="b-1"), {}, id="nodeName"),
        pytest.param(offline_pod(nodeName="b-2"), {"spec": "nodeName b-2"}, id="unknown nodeName"),
        pytest.param(
            required({"matchExpressions": [expression("pool", "In", "b", "c")]}), {}, id="affinity"
        ),
        pytest.param(
            required({"matchExpressions": [expression("pool", "In", "c")]}),
            {"spec": "required node affinity"},
            id="affinity does not match",
        ),
        pytest.param(required({}), {"spec": "required node affinity"}, id="empty term"),
        pytest.param(online_pod(nodeSelector={"pool": "c"}), {}, id="online pod"),
    ],
)
def test_node_match(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw, nodes=[*NODES, CPU])
    assert [(f.path, f.action) for f in result] == [(path, Action.WARN) for path in expected]
    assert all(expected[f.path] in f.message for f in result)


def test_without_an_inventory_it_is_not_judged() -> None:
    assert found(RULE, selecting("c")) == ()


def test_an_empty_inventory_matches_nothing() -> None:
    assert len(found(RULE, offline_pod(), nodes=[])) == 1


def test_a_pool_that_stands_at_zero_counts() -> None:
    pool = NodePool("c", {"pool": "c", GPU_SCHEDULE: "mgpu"}, os_image="veLinux 1.0")
    assert found(RULE, selecting("c"), nodes=NODES, policy=Policy(node_pools=(pool,))) == ()


def test_the_injected_affinity_narrows_nothing() -> None:
    assert found(RULE, offline_pod(), nodes=[node(labels={GPU_SCHEDULE: "nvidia"})]) == ()
