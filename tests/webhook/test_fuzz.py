"""Whatever is posted: no exception, no rule that fails, no answer without the body's uid."""

import asyncio
from copy import deepcopy
from typing import cast

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from policies.node import inventory_of
from policies.policy import Policy
from tests.builders import (
    GPU_SCHEDULE,
    Object,
    bare_offline_pod,
    node,
    offline_pod,
    online_pod,
    whole_card_pod,
)
from tests.webhook.asgi import Exchange, Received
from tests.webhook.reviews import UID, response, review
from tests.webhook.test_gather import binding, deployment
from webhook.app import webhook_app
from webhook.metrics import Metrics
from webhook.state import Snapshot, State

POLICY = Policy()
REGISTRY = CollectorRegistry()
APP = webhook_app(
    State(Snapshot(POLICY, inventory_of([node()], POLICY), "v1.28.15-vke.19")),
    Metrics(REGISTRY),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.sampled_from(["0", "50", "-1", "1e3", "reclaimed_cores", "CREATE", "UPDATE", "Exists"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["key", "name", "value", "limits", "spec"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
SEEDS = [
    review(bare_offline_pod(tolerations=[{"operator": "Exists"}], nodeSelector={"a": "b"})),
    review(offline_pod(), operation="UPDATE", oldObject=bare_offline_pod()),
    review(online_pod(nodeName="gpu-1"), dryRun=True),
    review(whole_card_pod()),
    review(deployment(bare_offline_pod())),
    review(binding(), subResource="binding"),
    review(node(), operation="UPDATE", oldObject=node(labels={GPU_SCHEDULE: None}), namespace=""),
]


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value below the top."""
    if isinstance(value, dict):
        children: list[tuple[str | int, object]] = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    else:
        children = []
    found = [(*path, key) for key, _ in children]
    return found + [p for key, child in children for p in places(child, (*path, key))]


PLACES = [(seed, path) for seed in SEEDS for path in places(seed)]


def replaced(seed: Object, path: tuple[str | int, ...], value: object) -> Object:
    """The seed with another value at the path."""
    whole = deepcopy(seed)
    at: object = whole
    for key in path[:-1]:
        at = cast("dict[str | int, object]", at)[key]
    cast("dict[str | int, object]", at)[path[-1]] = value
    return whole


def posted(path: str, content: bytes) -> Received:
    async def run() -> Received:
        return await Exchange(path).give(content).run(APP)

    return asyncio.run(run())


def uid_in(content: bytes) -> str | None:
    """The uid that an answer must carry, None when the body is no v1 review with one."""
    try:
        whole = orjson.loads(content)
        if (whole["apiVersion"], whole["kind"]) != ("admission.k8s.io/v1", "AdmissionReview"):
            return None
        uid = whole["request"]["uid"]
    except (ValueError, TypeError, KeyError):
        return None
    return uid if isinstance(uid, str) and uid else None


def rule_errors() -> list[str]:
    """The rules that have failed until now."""
    metrics = [m for m in REGISTRY.collect() if m.name == "mgpu_hybrid_rule_errors"]
    return [str(sample.labels) for metric in metrics for sample in metric.samples]


def check(content: bytes) -> None:
    for path in ("/mutate", "/validate"):
        received = posted(path, content)
        uid = uid_in(content)
        if uid is None:
            assert received.status == 400
            assert received.body.count(b"\n") == 1
            continue
        answer = response(received.body)
        assert (received.status, answer["uid"]) == (200, uid)
        assert path == "/validate" or answer["allowed"] is True
        assert path == "/mutate" or "patch" not in answer
        assert rule_errors() == []


def test_the_seeds_are_answered() -> None:
    for seed in SEEDS:
        assert uid_in(orjson.dumps(seed)) == UID
        check(orjson.dumps(seed))


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(PLACES), VALUES)
def test_a_review_with_any_value_anywhere(
    place: tuple[Object, tuple[str | int, ...]], value: object
) -> None:
    check(orjson.dumps(replaced(*place, value)))


@settings(max_examples=150, deadline=None)
@given(VALUES.map(orjson.dumps) | st.binary(max_size=200))
def test_any_json_and_any_bytes(content: bytes) -> None:
    check(content)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SEEDS).map(orjson.dumps), st.data())
def test_a_review_with_a_byte_changed_or_cut_off(content: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.binary(max_size=2))
    check(content[:at] + byte + content[at + 1 :])
    check(content[:at])
