"""Strategies for containers: what they ask, in many spellings, and what their env holds."""

from collections.abc import Sequence

from hypothesis import strategies as st

from policies.policy import Keys
from tests.properties.fields import UNKNOWN_FIELDS, Document, entries, parent, sparse, weighted

KEYS = Keys()
CORE, MEMORY, RECLAIMED = KEYS.mgpu_core, KEYS.mgpu_memory, KEYS.reclaimed_mgpu_core
WHOLE_CARD = KEYS.whole_card[0]
INJECTED_NAME = "MGPU_TASK_CLASS"

Asks = Sequence[tuple[str, ...]]
"""The sets of resources that a container may ask, each as likely as it is often listed."""

OFFLINE_ASKS: Asks = (
    *[(RECLAIMED, MEMORY)] * 4,
    (RECLAIMED,),
    (MEMORY,),
    (CORE, MEMORY),
    (RECLAIMED, MEMORY, WHOLE_CARD),
    (RECLAIMED, CORE, "cpu"),
    (),
)
RIGHT_ASKS: Asks = ((RECLAIMED, MEMORY), (RECLAIMED, MEMORY), ())
"""What an offline pod asks that is right: `resources` gives it right amounts too."""
ONLINE_ASKS: Asks = ((CORE, MEMORY), (CORE,), (MEMORY, "cpu"), (CORE, WHOLE_CARD), ())
WHOLE_CARD_ASKS: Asks = ((WHOLE_CARD,), (WHOLE_CARD, "cpu"), ())
NO_ASKS: Asks = ((), ("cpu",), ("cpu", "example.com/device"))

GOOD_AMOUNTS = {
    CORE: ["50", "100", 20, "2e2", "0.03k"],
    MEMORY: ["256", "1Ki", 4096, "2e3", "0.5Ki", "1024000m"],
    RECLAIMED: ["1", "100", 50, "50.0", "5e1", "0.05k", "50000m", "+5", 20.0],
}
NOTHING_ASKED: Sequence[object] = (None, {}, {"limits": None, "requests": {}}, {"limits": {}})
ODD_AMOUNTS = [None, 0, "0", "-1", "101", "1.5", "", "abc", "1K", True, "1Gi", "9" * 30, "1."]

SOURCE = {"fieldRef": {"fieldPath": "metadata.name"}}
USER_ENTRIES: Sequence[object] = (
    {"name": "A", "value": "1"},
    {"name": "A", "value": "$(MGPU_TASK_CLASS)-$(B)"},
    {"name": "B", "valueFrom": SOURCE},
    {"name": "B"},
    {"name": "C", "value": None, "valueFrom": None},
    {"name": "", "value": ""},
    {"name": None},
    {"value": "nameless"},
    {"name": "mgpu_task_class", "value": "online"},
)
INJECTED_NAME_ENTRIES: Sequence[object] = (
    {"name": INJECTED_NAME, "value": "offline"},
    {"name": INJECTED_NAME, "value": "offline"},
    {"name": INJECTED_NAME, "value": "online"},
    {"name": INJECTED_NAME, "value": "online", "x-unknown": {"kept": True}},
    {"name": INJECTED_NAME, "value": "$(A)"},
    {"name": INJECTED_NAME, "value": ""},
    {"name": INJECTED_NAME, "value": None, "valueFrom": None},
    {"name": INJECTED_NAME, "value": "offline", "valueFrom": None},
    {"name": INJECTED_NAME},
    {"name": INJECTED_NAME, "valueFrom": SOURCE},
    {"name": INJECTED_NAME, "value": "offline", "valueFrom": SOURCE},
    {"name": INJECTED_NAME, "value": "", "valueFrom": SOURCE, "x-unknown": 1},
)
ENV = entries(st.sampled_from([*USER_ENTRIES, *INJECTED_NAME_ENTRIES]), 4)

COMPANY = sparse(
    image=st.sampled_from(["busybox", "", None]),
    securityContext=parent(sparse(privileged=st.sampled_from([True, False, None]))),
    livenessProbe=parent(sparse(httpGet=parent(st.just({"port": 80, "path": "/"})))),
    startupProbe=parent(sparse(grpc=parent(st.just({"port": 80})), exec=parent(st.just({})))),
    restartPolicy=st.sampled_from(["Always", "Always", "Never", None]),
    volumeMounts=st.sampled_from([None, [], [{"name": "v", "mountPath": "/v"}]]),
)


def amounts(resource: str) -> st.SearchStrategy[object]:
    """An amount of a resource, mostly one that is right for it, in one of many spellings."""
    good = st.sampled_from([*GOOD_AMOUNTS.get(resource, ["1", 2, "0"])])
    return weighted((5, good), (1, st.sampled_from(ODD_AMOUNTS)))


@st.composite
def resources(draw: st.DrawFn, asks: tuple[str, ...], *, is_right: bool) -> object:
    """The field `resources` of a container that asks these; null or empty where it asks none."""
    if not asks:
        return draw(st.sampled_from(NOTHING_ASKED))
    if is_right:
        limits = {resource: draw(st.sampled_from(GOOD_AMOUNTS[resource])) for resource in asks}
        return {"limits": limits, **draw(st.sampled_from([{}, {"requests": limits}]))}
    limits = {resource: draw(amounts(resource)) for resource in asks}
    shapes = ["equal", "equal", "unknown", "limits", "requests", "unequal", "null"]
    shape = draw(st.sampled_from(shapes))
    match shape:
        case "limits":
            return {"limits": limits}
        case "requests":
            return {"requests": limits, "claims": [{"name": "c"}]}
        case "unknown":
            return {"limits": limits, "requests": dict(limits), **UNKNOWN_FIELDS}
        case "null":
            return {"limits": limits, "requests": None}
        case "unequal":
            return {"limits": limits, "requests": {asks[0]: draw(amounts(asks[0]))}}
        case _:
            return {"limits": limits, "requests": dict(limits)}


@st.composite
def containers(draw: st.DrawFn, asks: Asks) -> Document:
    """One container, sidecar or ephemeral container."""
    container: Document = {**draw(COMPANY)}
    name = draw(st.sampled_from(["main", "a", "b" * 44, None, ""]))
    if name is not None:
        container["name"] = name
    asked = asks[draw(st.integers(0, len(asks) - 1))]
    if draw(st.integers(0, 4)) > 0:
        container["env"] = draw(ENV)
    is_written = draw(st.booleans())
    if asked or is_written:
        container["resources"] = draw(resources(asked, is_right=asks is RIGHT_ASKS))
    return container
