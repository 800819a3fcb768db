"""Strategies for whole pods as decoded JSON, biased towards offline pods and odd but decodable shapes.

`test_generator.py` holds the bias: a fixed sample must reach every feature that the mutations look at.
"""

from hypothesis import strategies as st

from policies.pod import PodClass, parse_pod
from policies.policy import Keys, Policy
from tests.properties.containers import (
    NO_ASKS,
    OFFLINE_ASKS,
    ONLINE_ASKS,
    RIGHT_ASKS,
    WHOLE_CARD_ASKS,
    Asks,
    containers,
)
from tests.properties.fields import Document, entries, parent, sparse, unknown_among
from tests.properties.placements import TOLERATIONS, affinities

KEYS = Keys()
POLICY = Policy()

LABELS = parent(
    st.fixed_dictionaries(
        {},
        optional={
            "app": st.sampled_from(["web", ""]),
            "a~b.example.com/c~1d": st.just("~1/~0"),
            "mgpu-hybrid.io/class": st.sampled_from(["offline", "online", "", None]),
            "mgpu-hybrid.io~1class": st.just("escaped"),
            KEYS.qos_level: st.just("reclaimed_cores"),
            "team~x/y": st.sampled_from(["batch", "serving", None]),
        },
    )
)
LEVELS = st.sampled_from(
    ["shared_cores", "dedicated_cores", "system_cores", "Reclaimed_Cores", "", None]
)
COMPUTE_POLICIES = st.sampled_from(
    ["fixed-share", "guaranteed-burst-share", "native-burst-share", "x", None]
)
CARD_COUNTS = st.sampled_from(["1", "0", "1,1", "1,0", "2", "1,", " 1", "", "+1,02", None])


def annotations(*, is_reclaimed: bool) -> st.SearchStrategy[Document]:
    """The annotations of a pod that is marked offline, or of one that is perhaps wrongly marked."""
    level = st.just("reclaimed_cores")
    marked: dict[str, st.SearchStrategy[object]] = {KEYS.qos_level: level} if is_reclaimed else {}
    optional: dict[str, st.SearchStrategy[object]] = {
        KEYS.qos_level: LEVELS,
        KEYS.compute_policy: COMPUTE_POLICIES,
        KEYS.container_multiple_gpu: CARD_COUNTS,
        "note/a~b": st.sampled_from(["x", None]),
        "example.com/~0/~1": st.just("kept"),
        KEYS.gpu_index_prefix + "main": st.just("0"),
    }
    for key in marked:
        del optional[key]
    return st.fixed_dictionaries(marked, optional=optional)


@st.composite
def metadata(draw: st.DrawFn) -> Document:
    """Metadata whose parents may be absent, null or empty."""
    fields = sparse(
        name=st.sampled_from(["p", None]),
        namespace=st.sampled_from(["default", "batch", "", None]),
        generateName=st.just("p-"),
        finalizers=st.sampled_from([None, [], ["example.com/f"]]),
        annotations=parent(annotations(is_reclaimed=False)),
    )
    document = draw(fields)
    if draw(st.integers(0, 3)) > 0:
        document = {**document, "labels": draw(LABELS)}
    match draw(st.integers(0, 5)):
        case 0:
            return document
        case 1:
            return {**document, "annotations": {KEYS.qos_level: draw(LEVELS)}}
        case 2 | 3:
            return {**document, "annotations": {KEYS.qos_level: "reclaimed_cores", "a/b": "c"}}
        case _:
            return {**document, "annotations": draw(annotations(is_reclaimed=True))}


SPEC = sparse(
    nodeSelector=parent(st.just({"pool": "a"})),
    nodeName=st.sampled_from(["", "", "node-1", None]),
    ephemeralContainers=entries(containers(NO_ASKS), 1),
    scheduling=st.just("no such field"),
    restartPolicy=st.sampled_from(["Never", "", None]),
)
SCHEDULING = sparse(
    priorityClassName=st.sampled_from(["batch-low", "system-node-critical", "", None]),
    priority=st.sampled_from([0, -10, None]),
    preemptionPolicy=st.sampled_from(["Never", "PreemptLowerPriority", None]),
    schedulerName=st.sampled_from(["default-scheduler", "volcano", "", None]),
    runtimeClassName=st.sampled_from(["nvidia", "", None]),
    overhead=parent(st.just({"cpu": "250m"})),
    activeDeadlineSeconds=st.sampled_from([60, None]),
    terminationGracePeriodSeconds=st.sampled_from([0, 30, None]),
    resourceClaims=entries(
        st.sampled_from(
            [
                {"name": "nic", "resourceClaimTemplateName": "nic"},
                {"name": "gpu", "resourceClaimName": "gpu", "x-unknown": None},
            ]
        ),
        1,
    ),
)
SCHEDULING_OR_NOT: st.SearchStrategy[Document] = st.one_of(st.just({}), st.just({}), SCHEDULING)


@st.composite
def pods(draw: st.DrawFn, asks: Asks | None = None) -> Document:
    """A pod whose containers ask these sets of resources; any kind of pod without `asks`."""
    kinds = (*[OFFLINE_ASKS] * 4, *[ONLINE_ASKS] * 2, WHOLE_CARD_ASKS, NO_ASKS)
    chosen = asks or draw(st.sampled_from(kinds))
    if chosen is OFFLINE_ASKS and draw(st.booleans()):
        chosen = RIGHT_ASKS
    spec: Document = {**draw(SPEC), **draw(SCHEDULING_OR_NOT)}
    if draw(st.integers(0, 3)) > 0:
        spec["affinity"] = draw(affinities())
    if draw(st.integers(0, 3)) > 0:
        spec["tolerations"] = draw(TOLERATIONS)
    spec["containers"] = draw(entries(containers(chosen), 3)) or [draw(containers(chosen))]
    if draw(st.booleans()):
        spec["initContainers"] = draw(entries(containers(chosen), 2))
    nothing: st.SearchStrategy[object] = st.sampled_from([None, {}])
    pod: Document = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
    if draw(st.integers(0, 9)) > 0:
        pod["metadata"] = draw(nothing if draw(st.integers(0, 7)) == 0 else metadata())
    return draw(unknown_among(st.just(pod)))


def offline_pods() -> st.SearchStrategy[Document]:
    """Pods of class offline, right and wrong."""
    return pods(OFFLINE_ASKS).filter(
        lambda pod: parse_pod(pod, POLICY).pod_class is PodClass.OFFLINE
    )
