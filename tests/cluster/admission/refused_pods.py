"""Pods that are refused for what they say, with the findings word by word, and pods that just pass."""

from tests.builders import (
    ASSUMED,
    COMPUTE_POLICY,
    GPU_INDEX,
    MGPU_CORE,
    MGPU_MEMORY,
    MULTI_CARD,
    OFFLINE_ASKS,
    QOS_LEVEL,
    RECLAIMED,
    WHOLE_CARD,
    Object,
    container,
)
from tests.cluster.admission.manifests import (
    offline,
    other,
    unmarked,
    with_memory,
    without_memory,
)

COMPUTE_REMEDY = (
    "ask vke.volcengine.com/reclaimed-mgpu-core as a whole number from 1 to 100, the same in limits and "
    "requests, and leave vke.volcengine.com/mgpu-core out"
)
MEMORY_REMEDY = (
    "ask vke.volcengine.com/mgpu-memory of at least 256 (MiB), the same in limits and requests, in each "
    "container that asks reclaimed-mgpu-core"
)
CARDS_REMEDY = (
    "remove the annotation vke.volcengine.com/container-multiple-gpu; "
    "split the work into pods of one card"
)
MODES_REMEDY = (
    "keep either the mGPU resources or nvidia.com/gpu or the GPU claim, "
    "and split the pod if it needs both"
)
REQUEST_REMEDY = (
    "ask a share (mgpu-core 1 to 99 with mgpu-memory of at least 256 MiB) or full cards (mgpu-core a "
    "multiple of 100, no mgpu-memory), equal in limits and requests"
)
DEVICE_CLASS = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"


def asking(reclaimed: str) -> Object:
    return container({RECLAIMED: reclaimed, MGPU_MEMORY: "4096"})


REFUSED: dict[str, tuple[Object, str, tuple[str, ...]]] = {
    "qos-level": (
        other(
            "qos-level",
            container({MGPU_CORE: "30", MGPU_MEMORY: "4096"}),
            annotations={QOS_LEVEL: "Reclaimed_cores"},
        ),
        "gpu-pods",
        (
            (
                '[qos-level] annotation katalyst.kubewharf.io/qos_level is "Reclaimed_cores", which is no '
                "Katalyst level; write one of reclaimed_cores, shared_cores, dedicated_cores, system_cores "
                "exactly (reclaimed_cores = offline)"
            ),
        ),
    ),
    "offline-annotation": (
        unmarked("offline-annotation"),
        "offline-pods",
        (
            (
                "[offline-annotation] container worker asks vke.volcengine.com/reclaimed-mgpu-core, but "
                "annotation katalyst.kubewharf.io/qos_level is absent; set the annotation "
                'katalyst.kubewharf.io/qos_level: "reclaimed_cores" on the pod, or ask mgpu-core if it is '
                "online"
            ),
        ),
    ),
    "online-compute": (
        offline("online-compute", container({MGPU_CORE: "30", MGPU_MEMORY: "4096"})),
        "offline-pods",
        (
            (
                "[offline-compute] container worker of an offline pod asks vke.volcengine.com/mgpu-core: 30, "
                f"which is compute of online pods; {COMPUTE_REMEDY}"
            ),
            (
                "[offline-compute] offline pod asks no vke.volcengine.com/reclaimed-mgpu-core in any "
                f"container; {COMPUTE_REMEDY}"
            ),
        ),
    ),
    "too-much-compute": (
        offline("too-much-compute", asking("101")),
        "offline-pods",
        (
            (
                "[offline-compute] container worker asks vke.volcengine.com/reclaimed-mgpu-core: 101, which "
                f"is not between 1 and 100 percent of a card; {COMPUTE_REMEDY}"
            ),
        ),
    ),
    "no-compute": (
        offline("no-compute", asking("0")),
        "offline-pods",
        (
            (
                "[offline-compute] container worker asks vke.volcengine.com/reclaimed-mgpu-core: 0, which is "
                f"not between 1 and 100 percent of a card; {COMPUTE_REMEDY}"
            ),
        ),
    ),
    "no-memory": (
        without_memory("no-memory"),
        "offline-pods",
        (
            (
                "[offline-memory] container worker asks reclaimed compute but no "
                f"vke.volcengine.com/mgpu-memory; {MEMORY_REMEDY}"
            ),
        ),
    ),
    "little-memory": (
        offline("little-memory", with_memory("255")),
        "offline-pods",
        (
            (
                "[offline-memory] container worker asks vke.volcengine.com/mgpu-memory: 255, less than 256 "
                f"MiB; {MEMORY_REMEDY}"
            ),
        ),
    ),
    "several-cards": (
        offline("several-cards", annotations={MULTI_CARD: "2"}),
        "offline-pods",
        (
            (
                '[multi-card] annotation vke.volcengine.com/container-multiple-gpu is "2": an offline '
                f"container cannot have 2 cards; {CARDS_REMEDY}"
            ),
        ),
    ),
    "several-counts": (
        offline("several-counts", annotations={MULTI_CARD: "1,1"}),
        "offline-pods",
        (
            (
                '[multi-card] annotation vke.volcengine.com/container-multiple-gpu is "1,1": 2 counts for 1 '
                f"containers; {CARDS_REMEDY}"
            ),
        ),
    ),
    "compute-policy": (
        offline("compute-policy", annotations={COMPUTE_POLICY: "native-burst-share"}),
        "offline-pods",
        (
            (
                "[compute-policy] annotation vke.volcengine.com/mgpu-compute-policy is "
                '"native-burst-share", which cannot be hybrid; ask for '
                "guaranteed-burst-share or fixed-share, or remove the annotation"
            ),
        ),
    ),
    "mixed-with-card": (
        offline("mixed-with-card", container(OFFLINE_ASKS), container({WHOLE_CARD: "1"}, "big")),
        "offline-pods",
        (
            (
                "[mixed-gpu-modes] container big asks whole cards while worker asks mGPU; "
                f"{MODES_REMEDY}"
            ),
        ),
    ),
    "mixed-with-class": (
        offline("mixed-with-class", container(OFFLINE_ASKS), container({DEVICE_CLASS: "1"}, "big")),
        "offline-pods",
        (
            (
                "[mixed-gpu-modes] container big asks a device class of GPUs while worker asks mGPU; "
                f"{MODES_REMEDY}"
            ),
        ),
    ),
    "online-request": (
        other("online-request", container({MGPU_CORE: "30"})),
        "gpu-pods",
        (
            (
                "[mgpu-request] container worker asks mgpu-core 30 with 0 MiB of GPU memory, less than 256; "
                f"{REQUEST_REMEDY}"
            ),
        ),
    ),
    "placement": (
        offline("placement", annotations={ASSUMED: "true", GPU_INDEX: "0"}),
        "offline-pods",
        (
            (
                '[scheduler-annotations] annotation vke.volcengine.com/assumed is set to "true" by admin, '
                "but only the scheduler places containers; leave these annotations out when creating a pod"
            ),
            (
                "[scheduler-annotations] annotation vke.volcengine.com/gpu-index-container-worker is set to "
                '"0" by admin, but only the scheduler places containers; leave these annotations out when '
                "creating a pod"
            ),
        ),
    ),
}

PASSING: dict[str, Object] = {
    "qos-level": other(
        "shared",
        container({MGPU_CORE: "30", MGPU_MEMORY: "4096"}),
        annotations={QOS_LEVEL: "shared_cores"},
    ),
    "least-compute": offline("least-compute", asking("1")),
    "most-compute": offline("most-compute", asking("100")),
    "least-memory": offline("least-memory", with_memory("256")),
    "compute-policy": offline("hybrid", annotations={COMPUTE_POLICY: "guaranteed-burst-share"}),
    "online-request": other("online", container({MGPU_CORE: "30", MGPU_MEMORY: "256"})),
    "whole-card": other("whole-card", container({WHOLE_CARD: "1"})),
    "no-gpu": other("no-gpu", annotations={ASSUMED: "true", MULTI_CARD: "2"}),
}
