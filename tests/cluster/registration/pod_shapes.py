"""Small manifests for the tests of the registration: a pod from its containers' limits and a few changes."""

import json
from collections.abc import Iterable, Mapping

MGPU_CORE = "vke.volcengine.com/mgpu-core"
MGPU_MEMORY = "vke.volcengine.com/mgpu-memory"
RECLAIMED = "vke.volcengine.com/reclaimed-mgpu-core"
WHOLE_CARD = "nvidia.com/gpu"
DEVICE_CLASS = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"
QOS_LEVEL = "katalyst.kubewharf.io/qos_level"
COMPUTE_POLICY = "vke.volcengine.com/mgpu-compute-policy"
ASSUMED = "vke.volcengine.com/assumed"
GPU_INDEX = "vke.volcengine.com/gpu-index-container-main"

MARKED = {QOS_LEVEL: "reclaimed_cores"}
ONLINE_LIMITS = {MGPU_CORE: "30", MGPU_MEMORY: "4096"}
OFFLINE_LIMITS = {RECLAIMED: "30", MGPU_MEMORY: "4096"}

Object = dict[str, object]


def container(limits: Mapping[str, str] | None = None, **fields: object) -> Object:
    """A container; without limits it has no `resources` at all."""
    resources = {} if limits is None else {"resources": {"limits": dict(limits)}}
    return {"name": "main", "image": "busybox", **resources, **fields}


def pod(
    *containers: Object,
    annotations: Mapping[str, str] | None = None,
    metadata: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """A Pod without a name, with these containers (or one that asks nothing) and further spec fields."""
    own: Object = {} if annotations is None else {"annotations": dict(annotations)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**own, **(metadata or {})},
        "spec": {"containers": list(containers) or [container()], **spec},
    }


def named(manifest: Mapping[str, object], name: str) -> Object:
    """The same object under a name."""
    metadata = manifest["metadata"]
    assert isinstance(metadata, Mapping)
    return {**manifest, "metadata": {**metadata, "name": name}}


def list_of(items: Iterable[Object]) -> str:
    """A List for one run of kubectl."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})
