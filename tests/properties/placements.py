"""Strategies for what a pod says of its nodes: affinity with all its levels, tolerations, node labels."""

from collections.abc import Sequence

from hypothesis import strategies as st

from policies.pod import REQUIRED
from policies.policy import ELIGIBLE_LABEL, Keys
from tests.properties.fields import UNKNOWN_FIELDS, Document, entries, sparse, weighted

KEYS = Keys()

INJECTED_EXPRESSIONS: Sequence[Document] = (
    {"key": KEYS.gpu_schedule, "operator": "In", "values": ["mgpu"]},
    {"key": KEYS.compute_policy, "operator": "NotIn", "values": ["native-burst-share"]},
    {"key": ELIGIBLE_LABEL, "operator": "In", "values": ["true"]},
)
USER_EXPRESSIONS: Sequence[object] = (
    {"key": KEYS.gpu_schedule, "operator": "In", "values": ["mgpu", "mgpu"]},
    {"key": KEYS.gpu_schedule, "operator": "In", "values": ["nvidia", "mgpu"]},
    {"key": KEYS.gpu_schedule, "operator": "NotIn", "values": ["mgpu"]},
    {"key": ELIGIBLE_LABEL, "operator": "In", "values": [None]},
    {"key": ELIGIBLE_LABEL, "operator": "Exists"},
    {"key": "pool", "operator": "In", "values": ["a", "b"]},
    {"key": "pool", "operator": "DoesNotExist", "values": None},
    {"key": "pool", "operator": "NotIn", "values": ["c", ""], "x-unknown": []},
    {"key": "cards", "operator": "Gt", "values": ["4"]},
    {"key": "cards", "operator": "Lt", "values": ["9"]},
    {"key": "cards", "operator": "Gt", "values": ["x"]},
    {"key": "example.com/a~b", "operator": "Exists", "values": []},
    {"key": "pool", "operator": "In", "values": []},
    {"key": "pool", "operator": "Unknown"},
    {"operator": None},
)
PREFERRED: Document = {
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]
}
EXPRESSIONS = entries(
    weighted((2, st.sampled_from(INJECTED_EXPRESSIONS)), (3, st.sampled_from(USER_EXPRESSIONS))), 4
)
INJECTED_SUBSETS = st.sampled_from(
    [list(INJECTED_EXPRESSIONS), list(INJECTED_EXPRESSIONS[:2]), list(INJECTED_EXPRESSIONS[::-2])]
)
"""All injected expressions, and the same with one missing."""

FIELDS = entries(
    st.sampled_from(
        [
            {"key": "metadata.name", "operator": "In", "values": ["node-1"]},
            {"key": "metadata.name", "operator": "NotIn", "values": ["node-1"]},
            {"key": "metadata.uid", "operator": "In", "values": ["node-1"]},
        ]
    ),
    2,
)


@st.composite
def terms(draw: st.DrawFn) -> object:
    """One nodeSelectorTerm: empty in every way, complete, nearly complete, or the user's own."""
    match draw(st.integers(0, 9)):
        case 0:
            return draw(st.sampled_from([{}, {"matchExpressions": None, "matchFields": []}]))
        case 1:
            return draw(st.sampled_from([{"matchExpressions": []}, {"matchFields": None}]))
        case 2 | 3:
            return {"matchExpressions": draw(INJECTED_SUBSETS)}
        case 4:
            return {"matchFields": draw(FIELDS), **UNKNOWN_FIELDS}
        case 5 | 6:
            return {"matchExpressions": draw(EXPRESSIONS), "matchFields": draw(FIELDS)}
        case _:
            return {"matchExpressions": draw(EXPRESSIONS)}


@st.composite
def affinities(draw: st.DrawFn) -> object:
    """The field `affinity`, with every parent of the terms null or empty now and then."""
    company: Document = draw(
        st.sampled_from([{}, {}, {"podAntiAffinity": None}, {"podAntiAffinity": {}}])
    )
    preferred = draw(st.sampled_from([{}, {}, PREFERRED, UNKNOWN_FIELDS]))
    match draw(st.integers(0, 15)):
        case 0:
            return None
        case 1:
            return company
        case 2 | 3:
            return {**company, "nodeAffinity": draw(st.sampled_from([None, {}]))}
        case 4:
            required: object = draw(st.sampled_from([None, {}, {"nodeSelectorTerms": None}]))
        case 5:
            return {**company, "nodeAffinity": dict(preferred)}
        case _:
            required = {"nodeSelectorTerms": draw(entries(terms(), 4))}
    return {**company, "nodeAffinity": {**preferred, REQUIRED: required}}


TOLERATIONS = entries(
    weighted(
        (1, st.just({"operator": "Exists"})),
        (1, st.just({"key": "mgpu-hybrid.io/reclaimed", "operator": "Exists"})),
        (
            5,
            sparse(
                key=st.sampled_from(["mgpu-hybrid.io/reclaimed", "other", "", None]),
                operator=st.sampled_from(["Exists", "Equal", "", None, "Gt", "Lt", "Near"]),
                value=st.sampled_from(["", "true", "5", None]),
                effect=st.sampled_from(
                    ["NoSchedule", "NoExecute", "PreferNoSchedule", "", None, "Other"]
                ),
                tolerationSeconds=st.sampled_from([0, 300, -1, None]),
            ),
        ),
    ),
    3,
)

NODE_LABELS: st.SearchStrategy[dict[str, str]] = st.fixed_dictionaries(
    {},
    optional={
        KEYS.gpu_schedule: st.sampled_from(["mgpu", "mgpu", "mgpu", "nvidia"]),
        KEYS.compute_policy: st.sampled_from(["fixed-share", "native-burst-share"]),
        ELIGIBLE_LABEL: st.sampled_from(["true", "true", "true", "false", ""]),
        "pool": st.sampled_from(["a", "b", "c"]),
        "cards": st.sampled_from(["4", "8", "16", "many"]),
        "example.com/a~b": st.just(""),
    },
)
NODE_NAMES = st.sampled_from(["node-1", "node-2"])
