"""The index finds what the scheduler's matching finds, node by node."""

from hypothesis import given
from hypothesis import strategies as st

from policies.node_index import NodeIndex, bits_of, positions_of
from policies.node_selector import Requirement, SelectorTerm, matches_requirement, matches_terms

KEYS = st.sampled_from(["pool", "zone", "gpu/count", "bad key"])
VALUES = st.sampled_from(["a", "b", "c", "1", "2", "10", "-1", "", "not valid!"])
LABELS = st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=12)
OPERATORS = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near"])
REQUIREMENTS = st.builds(Requirement, KEYS, OPERATORS, st.lists(VALUES, max_size=3).map(tuple))
NAMES = st.sampled_from(["node-0", "node-3", "elsewhere"])
FIELDS = st.builds(
    Requirement,
    st.sampled_from(["metadata.name", "spec.nodeName"]),
    OPERATORS,
    st.lists(NAMES, max_size=2).map(tuple),
)
TERMS = st.lists(
    st.builds(
        SelectorTerm,
        st.lists(REQUIREMENTS, max_size=3).map(tuple),
        st.lists(FIELDS, max_size=2).map(tuple),
    ),
    max_size=3,
)


def index_of(labels: list[dict[str, str]]) -> tuple[NodeIndex, list[str]]:
    names = [f"node-{position}" for position in range(len(labels))]
    return NodeIndex(names, labels), names


@given(LABELS, TERMS)
def test_terms_match_as_node_by_node(
    labels: list[dict[str, str]], terms: list[SelectorTerm]
) -> None:
    index, names = index_of(labels)
    expected = [
        position
        for position, (own, name) in enumerate(zip(labels, names, strict=True))
        if matches_terms(terms, own, name)
    ]
    assert positions_of(index.in_terms(terms), len(labels)) == expected


@given(LABELS, REQUIREMENTS)
def test_a_requirement_holds_as_node_by_node(
    labels: list[dict[str, str]], requirement: Requirement
) -> None:
    index, _ = index_of(labels)
    expected = [i for i, own in enumerate(labels) if matches_requirement(requirement, own)]
    assert positions_of(index.holding(requirement), len(labels)) == expected


@given(st.sets(st.integers(0, 300)), st.integers(0, 310))
def test_positions_and_bits_are_inverse(positions: set[int], limit: int) -> None:
    bits = bits_of(positions, 301)
    assert bits.bit_count() == len(positions)
    assert positions_of(bits, limit) == sorted(positions)[:limit]


def test_an_empty_inventory_matches_nothing() -> None:
    index, _ = index_of([])
    assert index.everything == 0
    assert index.in_terms([SelectorTerm((Requirement("pool", "DoesNotExist", ()),), ())]) == 0


def test_prepared_keys_are_those_that_were_asked() -> None:
    index, _ = index_of([{"pool": "a", "zone": "b"}])
    index.with_label("pool", "a")
    assert index.keys == ("pool",)
    later, _ = index_of([{"pool": "a"}, {"pool": "b"}])
    later.prepare(index.keys)
    assert later.keys == ("pool",)
    assert later.with_label("pool", "b") == 2
