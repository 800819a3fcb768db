"""Whatever JSON is in whatever field: the core answers or raises MalformedError, nothing else."""

import json
from contextlib import suppress
from dataclasses import replace

from hypothesis import event, given
from hypothesis import strategies as st

from policies.engine import decide, mutate
from policies.errors import MalformedError
from policies.facts import Facts, Operation
from policies.node import inventory_of
from policies.pod import REQUIRED, parse_pod
from policies.policy import Action, Keys, Policy
from policies.templates import pod_templates
from tests.properties.fields import Document
from tests.properties.injections import POLICIES
from tests.properties.pods import pods

KEYS = Keys()
POLICY = replace(
    POLICIES["everything"], actions=dict.fromkeys(POLICIES["default"].actions, Action.DENY)
)
NAMES = st.sampled_from(
    [
        *("metadata", "spec", "labels", "annotations", "containers", "initContainers", "resources"),
        *("limits", "requests", "env", "name", "value", "valueFrom", "affinity", "nodeAffinity"),
        *(REQUIRED, "nodeSelectorTerms", "matchExpressions", "matchFields", "key", "operator"),
        *("values", "tolerations", "effect", "securityContext", "livenessProbe", "resourceClaims"),
        *(KEYS.qos_level, KEYS.mgpu_memory, KEYS.reclaimed_mgpu_core, KEYS.gpu_schedule, "status"),
        *("template", "jobTemplate", "taints", "allocatable", "nodeInfo", "tolerationSeconds"),
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["reclaimed_cores", "In", "Exists", "1", "offline", "mgpu", "-", "\x00", "é"]),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


def _places(value: object, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a document, the root left out."""
    children = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    below = [p for token, child in children for p in _places(child, (*place, token))]
    return [place, *below] if place else below


@st.composite
def damaged_pods(draw: st.DrawFn) -> Document:
    """A pod in which any JSON stands at one to three places."""
    raw: Document = json.loads(json.dumps(draw(pods())))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(_places(raw)))
        _put(raw, place, draw(JSON))
    return raw


def _put(value: object, place: tuple[str | int, ...], put: object) -> None:
    token, rest = place[0], place[1:]
    if isinstance(value, dict):
        value[token] = _replaced(value[token], rest, put)
    elif isinstance(value, list):
        value[int(token)] = _replaced(value[int(token)], rest, put)


def _replaced(child: object, rest: tuple[str | int, ...], put: object) -> object:
    if not rest:
        return put
    _put(child, rest, put)
    return child


OBJECTS: st.SearchStrategy[Document] = st.dictionaries(NAMES, JSON, max_size=5)


def _judge(raw: Document, old: Document, node: Document) -> None:
    inventory = inventory_of([node], POLICY)
    facts = Facts(
        pod=parse_pod(raw, POLICY),
        policy=POLICY,
        username="somebody",
        inventory=inventory,
        cluster_version="v1.28.15-vke.19",
    )
    for other in (facts, replace(facts, operation=Operation.UPDATE, old=parse_pod(old, POLICY))):
        assert not decide(other).failures
    assert not decide(replace(facts, template_kind="DaemonSet")).failures
    assert not decide(replace(facts, subresource="binding")).failures


@given(raw=damaged_pods(), old=pods())
def test_a_damaged_pod_is_judged_or_malformed(raw: Document, old: Document) -> None:
    node: Document = {"metadata": {"labels": {KEYS.gpu_schedule: "mgpu"}}}
    try:
        _judge(raw, old, node)
        event("judged")
    except MalformedError:
        event("malformed")


@given(raw=damaged_pods())
def test_a_damaged_pod_is_patched_with_success_or_malformed(raw: Document) -> None:
    try:
        changes = mutate(parse_pod(raw, POLICY), POLICY).changes
    except MalformedError:
        event("malformed")
        return
    event(f"patched: {bool(changes)}")


@given(raw=OBJECTS, old=OBJECTS, node=OBJECTS)
def test_any_objects_are_judged_or_malformed(raw: Document, old: Document, node: Document) -> None:
    with suppress(MalformedError):
        _judge(raw, old, node)


@given(
    spec=JSON, kind=st.sampled_from(["Deployment", "CronJob", "Job"]), group=st.sampled_from("ab")
)
def test_any_workload_has_templates_or_is_malformed(spec: object, kind: str, group: str) -> None:
    version = {"Deployment": "apps/v1"}.get(kind, "batch/v1") if group == "a" else "v1"
    workload = {"apiVersion": version, "kind": kind, "spec": spec}
    with suppress(MalformedError):
        for path, template in pod_templates(workload, Policy()):
            assert parse_pod(template, Policy(), path=path).path == path
