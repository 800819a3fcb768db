"""Which nodes are kept, what of them, and what counts as a change."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.node import Inventory, inventory_of
from policies.policy import Keys, NodePool, Policy
from tests.builders import ADDON_VERSION, DRIVER_VERSION, MGPU_CORE, NODE_MULTI_CARD, Object, node
from webhook.cluster import node_store
from webhook.cluster.node_store import NodeStore

MODE = "vke.node.gpu.schedule"
TAINT = {"key": "team", "value": "ads", "effect": "NoSchedule"}


def a_store(*nodes: Object, policy: Policy | None = None) -> NodeStore:
    store = NodeStore(policy or Policy())
    for raw in nodes:
        store.put(raw)
    store.inventory()
    return store


def names(inventory: Inventory) -> list[str]:
    return [each.name for each in inventory.nodes]


def event(kind: str, raw: Mapping[str, object]) -> Object:
    return {"type": kind, "object": raw}


def with_changed(raw: Object, *path: str, value: object) -> Object:
    raw = deepcopy(raw)
    parent: Object = raw
    for key in path[:-1]:
        parent = parent.setdefault(key, {})  # type: ignore[assignment]
    parent[path[-1]] = value
    return raw


def big(raw: Object) -> Object:
    """A node with what real ones carry beside: heartbeats, images, addresses, managed fields."""
    raw = with_changed(raw, "status", "images", value=[{"names": ["x" * 100]}] * 50)
    raw = with_changed(raw, "status", "conditions", value=[{"lastHeartbeatTime": "now"}])
    return with_changed(raw, "metadata", "managedFields", value=[{"fieldsV1": {"f:x": {}}}])


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(node("a"), id="plain"),
        pytest.param(big(node("a")), id="with all the rest"),
        pytest.param(
            node("a", taints=[TAINT, {"key": "bare", "effect": "NoExecute"}]), id="taints"
        ),
        pytest.param(node("a", annotations={NODE_MULTI_CARD: "enabled"}), id="multi-card"),
        pytest.param(node("a", os_image=None, kubelet=None), id="without node info"),
        pytest.param(node("a", labels={"zone": "z", "empty": ""}), id="more labels"),
        pytest.param(node("a", allocatable={"nvidia.com/gpu": "8"}), id="whole cards"),
        pytest.param({"metadata": {"name": "a"}}, id="no GPU"),
        pytest.param(with_changed(node("a"), "metadata", "labels", value=None), id="null labels"),
        pytest.param(
            with_changed(node("a"), "metadata", "labels", "x", value=None), id="null label"
        ),
        pytest.param(with_changed(node("a"), "status", value=None), id="null status"),
        pytest.param(with_changed(node("a"), "spec", value={"taints": [None]}), id="null taint"),
    ],
)
def test_what_is_kept_says_the_same_as_the_whole_object(raw: Object) -> None:
    assert a_store(raw).inventory() == inventory_of([raw], Policy())


def test_what_is_kept_is_small() -> None:
    store = a_store(big(node("a")))
    assert len(orjson.dumps(store._kept["a"])) < 700


def test_equal_texts_are_kept_once() -> None:
    store = a_store(*(orjson.loads(orjson.dumps(node(name))) for name in ("a", "b")))
    first, second = store.inventory().nodes
    assert all(
        one is other
        for one, other in zip(first.labels.values(), second.labels.values(), strict=True)
    )
    assert first.profile.os_image is second.profile.os_image


def test_shared_texts_do_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_store, "MAX_SHARED_TEXTS", 50)
    store = a_store()
    for number in range(200):
        store.put(node(f"n-{number}"))
        store.remove(f"n-{number}")
    assert len(store._texts) < 70


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        pytest.param(lambda raw: raw, False, id="the same again"),
        pytest.param(big, False, id="a heartbeat"),
        pytest.param(
            lambda raw: with_changed(raw, "status", "allocatable", MGPU_CORE, value="700"),
            False,
            id="another amount",
        ),
        pytest.param(
            lambda raw: with_changed(raw, "metadata", "annotations", "x", value="y"),
            False,
            id="an annotation of somebody else",
        ),
        pytest.param(
            lambda raw: with_changed(raw, "metadata", "annotations", DRIVER_VERSION, value="1"),
            True,
            id="driver version",
        ),
        pytest.param(
            lambda raw: with_changed(raw, "metadata", "labels", "x", value="y"), True, id="a label"
        ),
        pytest.param(
            lambda raw: with_changed(raw, "spec", "taints", value=[TAINT]), True, id="a taint"
        ),
        pytest.param(
            lambda raw: with_changed(raw, "status", "nodeInfo", "osImage", value="x"),
            True,
            id="image",
        ),
        pytest.param(
            lambda raw: with_changed(raw, "status", "nodeInfo", "kubeletVersion", value="x"),
            True,
            id="kubelet",
        ),
        pytest.param(
            lambda raw: with_changed(raw, "metadata", "labels", value=7), True, id="malformed now"
        ),
        pytest.param(
            lambda raw: {"metadata": {"name": raw["metadata"]["name"]}}, True, id="GPU lost"
        ),
    ],
)
def test_only_what_decisions_read_counts_as_a_change(
    *, change: Callable[[Object], Object], counts: bool
) -> None:
    store = a_store(node("a"))
    store.apply(event("MODIFIED", change(node("a"))))
    assert store.has_changed is counts


def test_nodes_come_and_go_by_events() -> None:
    store = a_store(node("a"))
    store.apply(event("ADDED", node("b")))
    assert names(store.inventory()) == ["a", "b"]
    store.apply(event("DELETED", node("a")))
    assert store.has_changed
    assert names(store.inventory()) == ["b"]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(event("BOOKMARK", {"metadata": {"resourceVersion": "7"}}), id="bookmark"),
        pytest.param(event("DELETED", node("nobody")), id="a deleted node that was never known"),
        pytest.param(event("ADDED", {"metadata": {"name": "cpu-1"}}), id="a node without a GPU"),
    ],
)
def test_events_that_change_nothing(raw: Object) -> None:
    store = a_store(node("a"))
    store.apply(raw)
    assert not store.has_changed
    assert not store.malformed


def test_a_list_removes_what_it_does_not_have() -> None:
    store = a_store(node("a"), node("b"), with_changed(node("c"), "spec", value=7))
    store.keep_only(store.put_page({"items": [node("b"), node("d")]}))
    assert names(store.inventory()) == ["b", "d"]
    assert len(store) == 2
    assert not store.malformed


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        pytest.param(
            ("metadata", "labels"), "x", "metadata.labels: must be an object", id="labels"
        ),
        pytest.param(
            ("metadata", "labels", "zone"),
            7,
            "metadata.labels.zone: must be a string",
            id="a label",
        ),
        pytest.param(
            ("metadata", "annotations", ADDON_VERSION), [], "metadata.annotations", id="annotation"
        ),
        pytest.param(("spec", "taints"), {}, "spec.taints: must be a list", id="taints"),
        pytest.param(("spec", "taints"), ["x"], "spec.taints[0]: must be an object", id="a taint"),
        pytest.param(("status", "nodeInfo"), "x", "status.nodeInfo: must be an object", id="info"),
        pytest.param(("status", "allocatable"), 7, "status.allocatable", id="allocatable"),
    ],
)
def test_a_malformed_node_is_left_out_and_the_rest_goes_on(
    path: tuple[str, ...], value: object, why: str
) -> None:
    bad = with_changed(node("bad"), *path, value=value)
    store = a_store(node("a"), bad, node("b"))
    assert names(store.inventory()) == ["a", "b"]
    assert list(store.malformed) == ["bad"]
    assert why in store.malformed["bad"]
    store.put(node("bad"))
    assert names(store.inventory()) == ["a", "b", "bad"]
    assert not store.malformed


@pytest.mark.parametrize("metadata", [None, {}, {"name": 7}, "x"])
def test_a_node_without_a_name_harms_nobody(metadata: object) -> None:
    store = a_store({"metadata": metadata}, node("a"))
    assert names(store.inventory()) == ["a"]


def test_another_policy_reads_the_same_nodes_anew() -> None:
    policy = replace(Policy(), addon_version="v0.7.0")
    store = a_store(node("a", annotations={ADDON_VERSION: None}))
    assert store.use(policy)
    assert store.has_changed
    assert store.inventory().nodes[0].profile.addon_version == "v0.7.0"


def test_a_policy_with_node_pools_adds_their_nodes() -> None:
    store = a_store(
        node("a"), policy=replace(Policy(), node_pools=(NodePool("zero", {MODE: "mgpu"}),))
    )
    assert names(store.inventory()) == ["a", "pool zero"]


KEYS = Policy().keys


@pytest.mark.parametrize(
    ("keys", "raw"),
    [
        pytest.param(
            replace(KEYS, driver_version="x/y"),
            node("a", annotations={"x/y": "9"}),
            id="annotation",
        ),
        pytest.param(
            replace(KEYS, whole_card=("amd/gpu",)),
            node("a", allocatable={"amd/gpu": "1"}),
            id="GPU",
        ),
    ],
)
def test_a_policy_that_reads_what_was_not_kept_needs_another_list(keys: Keys, raw: Object) -> None:
    policy = replace(Policy(), keys=keys)
    store = a_store(raw)
    assert not store.use(policy)
    assert not store.has_changed
    store.keep_for(policy)
    store.put(raw)
    assert store.use(policy)
    assert store.inventory() == inventory_of([raw], policy)


VARIANTS: tuple[Callable[[str], Object], ...] = (
    node,
    lambda name: big(node(name)),
    lambda name: node(name, labels={"zone": "z"}),
    lambda name: node(name, taints=[TAINT]),
    lambda name: {"metadata": {"name": name}},
    lambda name: with_changed(node(name), "spec", "taints", value=7),
)
ACTIONS = st.tuples(
    st.sampled_from(["put", "remove", "list"]), st.sampled_from("abc"), st.sampled_from(VARIANTS)
)


@given(st.lists(ACTIONS, max_size=30))
def test_events_and_lists_lead_to_the_same_nodes(
    actions: list[tuple[str, str, Callable[[str], Object]]],
) -> None:
    store, server = a_store(), dict[str, Object]()
    told = store.inventory()
    for action, name, variant in actions:
        if action == "put":
            server[name] = variant(name)
            store.apply(event("MODIFIED", server[name]))
        elif action == "remove":
            store.apply(event("DELETED", server.pop(name, node(name))))
        else:
            server[name] = variant(name)
            store.keep_only(store.put_page({"items": list(server.values())}))
        expected = inventory_of([raw for raw in server.values() if is_readable(raw)], Policy())
        assert store.has_changed is (expected != told)
        told = store.inventory()
        assert told == expected


def is_readable(raw: Object) -> bool:
    spec = raw.get("spec")
    return not isinstance(spec, dict) or isinstance(spec.get("taints", []), list)
