"""300 nodes of mixed kinds, the webhook with its controller, and the real scheduler: where pods end up."""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

import pytest

from demo.server import RunningServer
from tests.builders import (
    DRIVER_VERSION,
    OFFLINE_ASKS,
    Object,
    affinity,
    bare_offline_pod,
    container,
    expression,
    online_pod,
    pod,
)
from tests.cluster.admission.live_nodes import CALLS, metric
from tests.cluster.admission.manifests import named, section
from tests.cluster.admission.registered_webhook import registered, serving_live
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import Reply, create_pod, read, send, send_all
from tests.cluster.kubectl import Kubectl
from tests.cluster.live.conftest import PutNodes, StartScheduler
from tests.cluster.live.fleet import (
    KINDS,
    Kind,
    add_nodes,
    annotate_node,
    placements,
    remove_nodes,
    wait_for_labels,
    written,
)
from tests.cluster.waiting import eventually

PODS = 200
UNSEEN = "kube-system"
"""The registration leaves this namespace out: what is created there shows what would be without us."""
ELIGIBLE_KINDS = {kind.name for kind in KINDS if kind.label == "true"}
LIMIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Fleet:
    """The cluster after the controller has labelled its nodes."""

    plane: ControlPlane
    server: RunningServer
    namespace: str

    def create(self, raw: Object, name: str, namespace: str | None = None) -> Reply:
        """The API server's reply to the creation of this pod."""
        return send(self.plane, create_pod(namespace or self.namespace, named(raw, name)))


@pytest.fixture(scope="module")
def fleet(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    module_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet") / "tls"
    arguments = ["--lease-namespace", module_namespace]
    with serving_live(folder, control_plane.kubeconfig, *arguments) as server:
        names = add_nodes(control_plane, [raw for kind in KINDS for raw in kind.nodes()])
        judged = [name for name in names if not name.startswith("cpu-")]
        wait_for_labels(control_plane, judged)
        with registered(kubectl.in_namespace(module_namespace), server):
            yield Fleet(control_plane, server, module_namespace)
    remove_nodes(control_plane, names)


def test_every_node_says_whether_and_why_not(fleet: Fleet) -> None:
    expected = {
        f"{kind.name}-{number}": (kind.label, kind.because)
        for kind in KINDS
        for number in range(kind.count)
    }

    assert len(expected) == 300
    assert written(fleet.plane) == expected


def test_offline_pods_are_bound_to_eligible_nodes_only(
    fleet: Fleet, namespace: str, start_scheduler: StartScheduler
) -> None:
    anywhere = [named(bare_offline_pod(), f"offline-{number}") for number in range(PODS)]
    requests = [create_pod(namespace, raw) for raw in anywhere]
    requests += [create_pod(UNSEEN, raw) for raw in anywhere[: PODS // 4]]

    replies = send_all(fleet.plane, requests)
    with start_scheduler():
        bound = all_bound(fleet.plane, namespace)
        unseen = all_bound(fleet.plane, UNSEEN)

    assert Counter(reply.code for reply in replies) == {HTTPStatus.CREATED: len(requests)}
    assert bound.total() == PODS
    assert set(bound) == ELIGIBLE_KINDS
    # The scheduler itself would have put them anywhere: the nodes that got none have room.
    assert set(unseen) - ELIGIBLE_KINDS


def all_bound(plane: ControlPlane, namespace: str) -> Counter[str | None]:
    eventually(
        lambda: placements(plane, namespace)[None] == 0,
        f"every pod of {namespace} is bound",
        limit_seconds=LIMIT_SECONDS,
    )
    return placements(plane, namespace)


def test_node_that_becomes_ineligible_before_the_binding_gets_no_pod(
    fleet: Fleet, namespace: str, start_scheduler: StartScheduler, put_nodes: PutNodes
) -> None:
    kind = Kind("lone", 1, "true")
    (name,) = put_nodes(kind.nodes())
    wait_for_labels(fleet.plane, [name])
    raw = bare_offline_pod(nodeSelector={"pool": kind.name})
    replies = [fleet.create(raw, f"late-{number}", namespace) for number in range(5)]
    assert {reply.code for reply in replies} == {HTTPStatus.CREATED}

    annotate_node(fleet.plane, name, {DRIVER_VERSION: "0.07.35.22"})
    becomes(fleet.plane, name, ("false", "node-driver-version"))
    with start_scheduler():
        eventually(lambda: unschedulable(fleet.plane, namespace) == 5, "the scheduler has tried")
        assert placements(fleet.plane, namespace) == {None: 5}

        annotate_node(fleet.plane, name, {DRIVER_VERSION: "0.07.35.23"})
        becomes(fleet.plane, name, ("true", None))
        assert all_bound(fleet.plane, namespace) == {kind.name: 5}


def becomes(plane: ControlPlane, name: str, wanted: tuple[str | None, str | None]) -> None:
    eventually(lambda: written(plane)[name] == wanted, f"{name} is {wanted}")


def unschedulable(plane: ControlPlane, namespace: str) -> int:
    """How many pods the scheduler has given up for now, and not for want of room."""
    items = cast("list[Object]", read(plane, f"/api/v1/namespaces/{namespace}/pods")["items"])
    said = str([section(raw, "status").get("conditions") for raw in items])
    return said.count("didn't match Pod's node affinity/selector")


CANNOT = (
    "130 of 130 possible nodes (required node affinity) cannot suspend offline work for online work"
)
REFUSED = (
    'admission webhook "offline-pods.mgpu-hybrid.io" denied the request: '
    f"[node-driver-version] {CANNOT}: 40 have mGPU driver 0.07.35.22, older than 0.07.35.23 "
    "(driver-0, driver-1, driver-10, driver-11, driver-12 and 35 more); upgrade the mGPU driver to "
    "0.07.35.23 or later; where it is unknown, run the agent on the node\n"
    f"[node-compute-policy] {CANNOT}: 50 have compute policy native-burst-share (native-0, native-1, "
    "native-10, native-11, native-12 and 45 more); select nodes with guaranteed-burst-share or fixed-share\n"
    f"[node-image] {CANNOT}: 40 have image Ubuntu 22.04.5 LTS (ubuntu-0, ubuntu-1, ubuntu-10, ubuntu-11, "
    "ubuntu-12 and 35 more); select nodes with another image: veLinux 2.0 and Ubuntu 22.04 do not support "
    "hybrid deployment"
)


def on_pools(*pools: str) -> Object:
    """`spec.affinity` that wants a node of one of these pools."""
    return affinity({"matchExpressions": [expression("pool", "In", *pools)]})


def test_pool_without_an_eligible_node_is_refused_with_counts(fleet: Fleet) -> None:
    reply = fleet.create(bare_offline_pod(affinity=on_pools("native", "driver", "ubuntu")), "no")

    assert reply.code == HTTPStatus.FORBIDDEN
    assert reply.body["message"] == REFUSED
    assert fleet.create(bare_offline_pod(affinity=on_pools("native", "fixed")), "yes").code == (
        HTTPStatus.CREATED
    )


def test_online_pod_is_as_without_us(fleet: Fleet) -> None:
    raw = online_pod(nodeSelector={"pool": "fixed"}, schedulerName="nobody")
    before = metric(fleet.server, CALLS)

    ours = fleet.create(raw, "online")
    calls = metric(fleet.server, CALLS) - before
    plain = fleet.create(raw, "online", UNSEEN)

    assert calls == 2  # both hooks looked at it, and neither at the other
    assert metric(fleet.server, CALLS) - before == calls
    assert (ours.code, plain.code) == (HTTPStatus.CREATED, HTTPStatus.CREATED)
    stored = read(fleet.plane, f"/api/v1/namespaces/{fleet.namespace}/pods/online")
    assert without_server_fields(stored) == without_server_fields(plain.body)
    assert ours.warnings == plain.warnings == ()


def test_offline_pod_is_not_as_without_us(fleet: Fleet) -> None:
    """So the comparison above can tell them apart."""
    raw = pod(container(OFFLINE_ASKS), schedulerName="nobody")
    offline = bare_offline_pod(schedulerName="nobody")

    ours, plain = fleet.create(offline, "offline"), fleet.create(offline, "offline", UNSEEN)

    assert without_server_fields(ours.body) != without_server_fields(plain.body)
    assert fleet.create(raw, "unmarked").code == HTTPStatus.FORBIDDEN


def without_server_fields(raw: Object) -> Object:
    """The object without what differs between any two creations."""
    copied = deepcopy(raw)
    for field in ("uid", "resourceVersion", "creationTimestamp", "namespace", "managedFields"):
        section(copied, "metadata").pop(field)
    return copied
