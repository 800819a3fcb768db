"""The nodes on which an offline pod could run."""

import pytest

from policies.node import inventory_of
from policies.node_selector import Requirement
from policies.placement import is_same, parse_placement, possible_nodes
from policies.pod import parse_pod
from policies.policy import Injection, Policy
from tests.builders import (
    COMPUTE_POLICY,
    GPU_SCHEDULE,
    WHOLE_CARD,
    Object,
    affinity,
    bare_offline_pod,
    expression,
    mutated,
    node,
    offline_pod,
    online_pod,
)

POLICY = Policy()
ELIGIBLE = "mgpu-hybrid.node-restriction.kubernetes.io/eligible"


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}


NODES = [
    node("a-1", labels={"pool": "a", "gen": "4"}),
    node("a-2", labels={"pool": "a", "gen": "9", COMPUTE_POLICY: "native-burst-share"}),
    node("b-1", labels={"pool": "b", GPU_SCHEDULE: "nvidia"}),
]
ALL = {"a-1", "a-2", "b-1"}


def possible(raw: Object, nodes: list[Object] | None = None) -> set[str]:
    placement = parse_placement(parse_pod(raw, POLICY), (POLICY.injection,))
    inventory = inventory_of(NODES if nodes is None else nodes, POLICY)
    return {n.name for n in possible_nodes(placement, inventory, POLICY.passing_taints)}


def required(*terms: Object) -> Object:
    return offline_pod(affinity=affinity(*terms))


def matching(key: str, operator: str, *values: str) -> Object:
    return {"matchExpressions": [expression(key, operator, *values)]}


def named(operator: str, name: str) -> Object:
    return {"matchFields": [expression("metadata.name", operator, name)]}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), ALL, id="the injected affinity narrows nothing"),
        pytest.param(offline_pod(nodeSelector={"pool": "a"}), {"a-1", "a-2"}, id="nodeSelector"),
        pytest.param(offline_pod(nodeSelector={"pool": "a", "gen": "4"}), {"a-1"}, id="two labels"),
        pytest.param(
            offline_pod(nodeSelector={"none": ""}), set(), id="an absent label is not empty"
        ),
        pytest.param(offline_pod(nodeName="a-2"), {"a-2"}, id="nodeName"),
        pytest.param(offline_pod(nodeName="x"), set(), id="unknown nodeName"),
        pytest.param(
            offline_pod(nodeName="a-2", nodeSelector={"pool": "b"}),
            set(),
            id="nodeName and selector",
        ),
        pytest.param(required(matching("pool", "In", "b", "c")), {"b-1"}, id="In"),
        pytest.param(required(matching("pool", "NotIn", "b")), {"a-1", "a-2"}, id="NotIn"),
        pytest.param(required(matching("gen", "Exists")), {"a-1", "a-2"}, id="Exists"),
        pytest.param(required(matching("gen", "DoesNotExist")), {"b-1"}, id="DoesNotExist"),
        pytest.param(required(matching("gen", "Gt", "4")), {"a-2"}, id="Gt"),
        pytest.param(required(matching("gen", "Lt", "9")), {"a-1"}, id="Lt"),
        pytest.param(required(named("In", "a-2")), {"a-2"}, id="matchFields"),
        pytest.param(required(named("NotIn", "a-2")), {"a-1", "b-1"}, id="matchFields NotIn"),
        pytest.param(
            required({**matching("pool", "In", "a"), **named("NotIn", "a-2")}),
            {"a-1"},
            id="expressions and fields of a term are ANDed",
        ),
        pytest.param(
            required(matching("gen", "In", "4"), matching("pool", "In", "b")),
            {"a-1", "b-1"},
            id="terms are ORed",
        ),
        pytest.param(required({}), set(), id="an empty term matches no node"),
        pytest.param(required({}, matching("pool", "In", "b")), {"b-1"}, id="an empty term beside"),
        pytest.param(offline_pod(affinity=affinity()), set(), id="no terms match no node"),
        pytest.param(
            required(matching(GPU_SCHEDULE, "In", "mgpu")),
            ALL,
            id="equal to an injected one counts so",
        ),
        pytest.param(
            required(matching(GPU_SCHEDULE, "In", "mgpu", "nvidia-dra")),
            {"a-1", "a-2"},
            id="unequal to an injected one",
        ),
        pytest.param(
            offline_pod(
                affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
            ),
            ALL,
            id="preferences narrow nothing",
        ),
        pytest.param(online_pod(nodeSelector={"pool": "b"}), {"b-1"}, id="online pod"),
    ],
)
def test_selection(raw: Object, expected: set[str]) -> None:
    assert possible(raw) == expected


@pytest.mark.parametrize(
    ("taints", "tolerations", "is_possible"),
    [
        pytest.param([taint("a")], [], False, id="NoSchedule"),
        pytest.param([taint("a", "NoExecute")], [], False, id="NoExecute"),
        pytest.param([taint("a", "PreferNoSchedule")], [], True, id="PreferNoSchedule"),
        pytest.param([taint("a")], [{"key": "a", "operator": "Exists"}], True, id="tolerated"),
        pytest.param(
            [taint("a", value="1")], [{"key": "a", "value": "2"}], False, id="other value"
        ),
        pytest.param(
            [taint("a"), taint("b")], [{"key": "a", "operator": "Exists"}], False, id="one of two"
        ),
        pytest.param(
            [taint("mgpu-hybrid.io/reclaimed")], [], True, id="injected toleration widens"
        ),
        pytest.param([taint("node.kubernetes.io/unschedulable")], [], True, id="cordoned"),
        pytest.param(
            [taint("node.kubernetes.io/not-ready", "NoExecute")], [], True, id="not ready"
        ),
        pytest.param(
            [taint("node.cloudprovider.kubernetes.io/uninitialized")], [], True, id="uninitialised"
        ),
        pytest.param([taint("ToBeDeletedByClusterAutoscaler")], [], True, id="to be deleted"),
        pytest.param([taint("ToBeDeletedByClusterAutoscaler2")], [], False, id="a longer key"),
        pytest.param([taint("node.kubernetes.io")], [], False, id="a prefix alone"),
    ],
)
def test_taints(
    taints: list[dict[str, str]], tolerations: list[Object], *, is_possible: bool
) -> None:
    nodes = [node("a-1", taints=taints)]
    assert possible(offline_pod(tolerations=tolerations), nodes) == (
        {"a-1"} if is_possible else set()
    )


@pytest.mark.parametrize(("effect", "expected"), [("NoSchedule", {"a-1"}), ("NoExecute", set())])
def test_with_node_name_the_kubelet_looks_at_no_execute_alone(
    effect: str, expected: set[str]
) -> None:
    assert (
        possible(offline_pod(nodeName="a-1"), [node("a-1", taints=[taint("a", effect)])])
        == expected
    )


@pytest.mark.parametrize(
    ("raw_node", "expected"),
    [
        pytest.param(node("n", labels={GPU_SCHEDULE: None}, allocatable={}), set(), id="no GPU"),
        pytest.param(node("n", allocatable={}), {"n"}, id="a mode and no GPU yet"),
        pytest.param(
            node("n", labels={GPU_SCHEDULE: None}, allocatable={WHOLE_CARD: "8"}),
            {"n"},
            id="a GPU and no mode",
        ),
    ],
)
def test_nodes_without_gpu_are_never_possible(raw_node: Object, expected: set[str]) -> None:
    assert possible(offline_pod(), [raw_node]) == expected


def test_a_previous_injection_is_left_out_too() -> None:
    old = Injection(node_requirements=(Requirement("pool", "In", ("a",)),))
    pod = parse_pod(required(matching("pool", "In", "a")), POLICY)
    inventory = inventory_of(NODES, POLICY)
    for injections, expected in (((Injection(),), {"a-1", "a-2"}), ((Injection(), old), ALL)):
        nodes = possible_nodes(parse_placement(pod, injections), inventory, ())
        assert {n.name for n in nodes} == expected


def test_mutation_changes_no_possible_node() -> None:
    raw = bare_offline_pod(affinity=affinity(matching("pool", "In", "a")))
    assert possible(raw) == possible(mutated(raw)) == {"a-1", "a-2"}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (
            offline_pod(nodeName="n", nodeSelector={"a": "b"}),
            "nodeName n and nodeSelector a=b",
        ),
        (offline_pod(nodeSelector={"a": "b", "c": "d"}), "nodeSelector a=b,c=d"),
        (required(matching("pool", "In", "a")), "required node affinity"),
        (offline_pod(), "no node selection"),
        (
            offline_pod(nodeSelector={"a": "b"}, affinity=affinity(matching("p", "Exists"))),
            "nodeSelector a=b and required node affinity",
        ),
    ],
    ids=["nodeName", "nodeSelector", "affinity", "nothing", "both"],
)
def test_description(raw: Object, expected: str) -> None:
    placement = parse_placement(parse_pod(raw, POLICY), (POLICY.injection,))
    assert placement.description == expected


def test_the_order_of_values_has_no_meaning() -> None:
    one = Requirement(ELIGIBLE, "In", ("a", "b"))
    assert is_same(one, Requirement(ELIGIBLE, "In", ("b", "a")))
    assert not is_same(one, Requirement(ELIGIBLE, "In", ("a",)))
    assert not is_same(one, Requirement(ELIGIBLE, "NotIn", ("a", "b")))
