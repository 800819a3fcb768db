"""What a field of a generated object can be besides good: absent, null, empty, with company.

Deep documents need even odds at every level: where Hypothesis chooses lengths and branches by itself, the
inner levels hardly ever appear.
"""

from collections.abc import Mapping

from hypothesis import strategies as st

Document = dict[str, object]
UNKNOWN_FIELDS: Mapping[str, object] = {"x-unknown": {"a/b": [1, None, {"~": "~1"}]}, "": 0}


def sparse(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[Document]:
    """An object with any of these fields, and now and then with unknown ones."""
    return unknown_among(st.fixed_dictionaries({}, optional=fields))


def unknown_among(objects: st.SearchStrategy[Document]) -> st.SearchStrategy[Document]:
    """Such an object, one in eight with fields that no version of Kubernetes knows."""
    return st.builds(
        lambda document, number: {**document, **UNKNOWN_FIELDS} if number == 7 else document,
        objects,
        st.integers(0, 7),
    )


def parent(value: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """An object field: null, empty or a value; with `sparse` around it also absent."""
    return st.one_of(value, value, st.sampled_from([None, {}]))


@st.composite
def entries(draw: st.DrawFn, value: st.SearchStrategy[object], most: int) -> object:
    """A list field: null, empty or a list that may hold a null entry; every length equally likely."""
    length = draw(st.integers(-1, most))
    if length < 0:
        return None
    return [draw(value) if draw(st.integers(0, 9)) < 9 else None for _ in range(length)]


def weighted(*choices: tuple[int, st.SearchStrategy[object]]) -> st.SearchStrategy[object]:
    """One of the strategies, each as often as its weight says."""
    return st.one_of(*(strategy for weight, strategy in choices for _ in range(weight)))
