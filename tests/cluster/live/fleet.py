"""Many Node objects of mixed kinds, made and removed in bulk, and what is on them.

Every GPU node has room for offline work: only its eligibility keeps it away from the others.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from tests.builders import (
    ADDON_VERSION,
    COMPUTE_POLICY,
    DRIVER_VERSION,
    GPU_SCHEDULE,
    MGPU_CORE,
    MGPU_MEMORY,
    RECLAIMED,
    Object,
    Texts,
    node,
)
from tests.cluster.admission.manifests import section
from tests.cluster.control_plane import ControlPlane
from tests.cluster.direct import MERGE_PATCH, Request, read, send_all
from tests.cluster.waiting import eventually

NODES = "/api/v1/nodes"
ELIGIBLE = "mgpu-hybrid.node-restriction.kubernetes.io/eligible"
BECAUSE = "mgpu-hybrid.io/ineligible-because"
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
ROOM = {
    "memory": "128Gi",
    "pods": "110",
    MGPU_CORE: "800",
    MGPU_MEMORY: "196608",
    RECLAIMED: "800",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Nodes of one kind: how many, what the controller writes on them, and how they differ."""

    name: str
    count: int
    label: str | None
    because: str | None = None
    labels: Texts | None = None
    annotations: Texts | None = None
    os_image: str = "veLinux 1.0"
    room: Mapping[str, str] | None = None

    def nodes(self) -> list[Object]:
        """The manifests, named `<kind>-<number>`, in the pool of the kind's name."""
        return [self._node(number) for number in range(self.count)]

    def _node(self, number: int) -> Object:
        name = f"{self.name}-{number}"
        labels = {"pool": self.name, "kubernetes.io/hostname": name, **(self.labels or {})}
        return node(
            name,
            labels=labels,
            annotations=self.annotations,
            os_image=self.os_image,
            allocatable=ROOM if self.room is None else self.room,
        )


KINDS = (
    Kind("guaranteed", 60, "true"),
    Kind("fixed", 30, "true", labels={COMPUTE_POLICY: None}),
    Kind("silent", 10, "true", annotations={DRIVER_VERSION: None}),
    Kind(
        "native",
        50,
        "false",
        "node-compute-policy",
        labels={COMPUTE_POLICY: "native-burst-share"},
    ),
    Kind("ubuntu", 40, "false", "node-image", os_image="Ubuntu 22.04.5 LTS"),
    Kind("velinux", 20, "false", "node-image", os_image="veLinux 2.0"),
    Kind("driver", 40, "false", "node-driver-version", annotations={DRIVER_VERSION: "0.07.35.22"}),
    Kind("addon", 20, "false", "node-addon-version", annotations={ADDON_VERSION: "v0.5.12"}),
    Kind("whole", 20, "false", "node-gpu-mode", labels={GPU_SCHEDULE: "nvidia"}),
    Kind(
        "cpu",
        10,
        None,
        labels={GPU_SCHEDULE: None, COMPUTE_POLICY: None},
        annotations={DRIVER_VERSION: None, ADDON_VERSION: None},
        room={"memory": "128Gi", "pods": "110"},
    ),
)
"""300 nodes; 100 of them are eligible."""


def add_nodes(plane: ControlPlane, nodes: Iterable[Object]) -> list[str]:
    """Create these Nodes, ready and with the taints of their manifests alone. Returns their names.

    The API server taints each created Node as not ready; with no node controller, nobody takes it off.
    """
    nodes = [_ready(raw) for raw in nodes]
    names = [str(section(raw, "metadata")["name"]) for raw in nodes]
    _all_good(plane, [Request("POST", NODES, raw) for raw in nodes])
    taints = [section(raw, "spec").get("taints", []) for raw in nodes]
    _all_good(
        plane,
        [
            _patch(name, {"spec": {"taints": wanted}})
            for name, wanted in zip(names, taints, strict=True)
        ],
    )
    return names


def _ready(raw: Object) -> Object:
    """The node with a status as a kubelet registers it."""
    return {**raw, "status": {**section(raw, "status"), "conditions": [READY]}}


def remove_nodes(plane: ControlPlane, names: Iterable[str]) -> None:
    """Delete these Nodes, as far as they are there."""
    for reply in send_all(plane, [Request("DELETE", f"{NODES}/{name}") for name in names]):
        assert reply.code in {HTTPStatus.OK, HTTPStatus.NOT_FOUND}, json.dumps(reply.body)


def annotate_node(plane: ControlPlane, name: str, annotations: Texts) -> None:
    """Merge these annotations into the node's; None takes one away."""
    _all_good(plane, [_patch(name, {"metadata": {"annotations": dict(annotations)}})])


def written(plane: ControlPlane) -> dict[str, tuple[str | None, str | None]]:
    """What the controller has written on each node: the label, and the rules that are against it."""
    items = cast("list[Object]", read(plane, NODES)["items"])
    found = {}
    for raw in items:
        metadata = cast("Mapping[str, Mapping[str, str]]", section(raw, "metadata"))
        label = metadata.get("labels", {}).get(ELIGIBLE)
        found[str(metadata["name"])] = (label, metadata.get("annotations", {}).get(BECAUSE))
    return found


def labelled(plane: ControlPlane, names: Iterable[str]) -> int:
    """How many of these nodes have a label, whatever it says."""
    on_nodes = written(plane)
    return sum(on_nodes[name][0] is not None for name in names)


def wait_for_labels(plane: ControlPlane, names: Sequence[str]) -> None:
    """Return when each of these nodes has a label. 20 are written a second, after the first 50."""
    eventually(
        lambda: labelled(plane, names) == len(names),
        f"{len(names)} nodes are labelled",
        limit_seconds=60,
    )


def placements(plane: ControlPlane, namespace: str) -> Counter[str | None]:
    """How many pods of this namespace are bound to nodes of each kind; None counts the pending."""
    items = cast("list[Object]", read(plane, f"/api/v1/namespaces/{namespace}/pods")["items"])
    on_nodes = [cast("str | None", section(raw, "spec").get("nodeName")) for raw in items]
    return Counter(name and name.rpartition("-")[0] for name in on_nodes)


def _patch(name: str, change: Object) -> Request:
    return Request("PATCH", f"{NODES}/{name}", change, MERGE_PATCH)


def _all_good(plane: ControlPlane, requests: Sequence[Request]) -> None:
    for reply in send_all(plane, requests):
        assert reply.code in {HTTPStatus.OK, HTTPStatus.CREATED}, json.dumps(reply.body)
