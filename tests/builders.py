"""Minimal valid manifests as plain dicts, and what the decision core says of them.

A test takes a builder and names the one thing in which its manifest differs. Offline pods carry the
injection already, so that the rule `injected` is quiet unless a test wants it.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TypedDict, Unpack, cast

import jsonpatch

from policies.engine import decide, mutate
from policies.facts import Decision, Facts, Finding, Operation
from policies.node import inventory_of
from policies.pod import DeviceClasses, Pod, parse_pod
from policies.policy import Action, Injection, Policy

MGPU_CORE = "vke.volcengine.com/mgpu-core"
MGPU_MEMORY = "vke.volcengine.com/mgpu-memory"
RECLAIMED = "vke.volcengine.com/reclaimed-mgpu-core"
WHOLE_CARD = "nvidia.com/gpu"
QOS_LEVEL = "katalyst.kubewharf.io/qos_level"
COMPUTE_POLICY = "vke.volcengine.com/mgpu-compute-policy"
MULTI_CARD = "vke.volcengine.com/container-multiple-gpu"
ASSUMED = "vke.volcengine.com/assumed"
GPU_INDEX = "vke.volcengine.com/gpu-index-container-worker"
GPU_SCHEDULE = "vke.node.gpu.schedule"
DRIVER_VERSION = "mgpu-hybrid.io/driver-version"
ADDON_VERSION = "mgpu-hybrid.io/addon-version"
NODE_MULTI_CARD = "mgpu-hybrid.io/multi-card"
MIRROR = "kubernetes.io/config.mirror"

ONLINE_ASKS = {MGPU_CORE: "30", MGPU_MEMORY: "4096"}
OFFLINE_ASKS = {RECLAIMED: "50", MGPU_MEMORY: "4096"}

Object = dict[str, object]
Texts = Mapping[str, str | None]
"""Keys and values to set; None takes the key away."""


class FactOptions(TypedDict, total=False):
    """What a test may say beside the pod; `nodes` are Node objects, `old` is a pod manifest."""

    policy: Policy
    operation: Operation
    old: Object
    username: str
    nodes: Sequence[Object]
    cluster_version: str
    template_kind: str
    subresource: str
    previous_injections: tuple[Injection, ...]
    is_audit: bool
    namespace: str
    device_classes: DeviceClasses


def container(
    asks: Mapping[str, object] | None = None, name: str = "worker", **fields: object
) -> Object:
    """A container that asks the same in limits and requests; `resources` in fields goes before."""
    resources = {} if asks is None else {"limits": dict(asks), "requests": dict(asks)}
    return {"name": name, "image": "registry.example/app:1", "resources": resources, **fields}


def split(limits: Mapping[str, object], requests: Mapping[str, object]) -> Object:
    """A container whose limits and requests are given one by one; an empty side is left out."""
    sides = {"limits": dict(limits), "requests": dict(requests)}
    return container(resources={side: asks for side, asks in sides.items() if asks})


def pod(
    *containers: Object,
    annotations: Texts | None = None,
    metadata: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """A pod with these containers, or with one that asks nothing; `spec` adds or replaces fields."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "app",
            "namespace": "jobs",
            "annotations": _present(annotations or {}),
            **(metadata or {}),
        },
        "spec": {"containers": list(containers) or [container()], **spec},
    }


def online_pod(
    *containers: Object,
    annotations: Texts | None = None,
    metadata: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """An online pod: 30 percent of a card and 4096 MiB, unless containers are given."""
    asking = containers or (container(ONLINE_ASKS),)
    return pod(*asking, annotations=annotations, metadata=metadata, **spec)


def whole_card_pod(*, annotations: Texts | None = None, **spec: object) -> Object:
    """A pod that asks one whole card."""
    return pod(container({WHOLE_CARD: "1"}), annotations=annotations, metadata=None, **spec)


def dra_pod(*, annotations: Texts | None = None, **spec: object) -> Object:
    """A pod with a claim of the template `gpu-claim`; a GPU only where DRA_CLASSES are known."""
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu-claim"}]
    asking = container(resources={"claims": [{"name": "gpu"}]})
    return pod(asking, annotations=annotations, metadata=None, resourceClaims=claims, **spec)


DRA_CLASSES: DeviceClasses = {"template/gpu-claim": ("gpu.nvidia.com",)}


def bare_offline_pod(
    *containers: Object,
    annotations: Texts | None = None,
    metadata: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """An offline pod as a user writes it: 50 percent of reclaimed compute and 4096 MiB."""
    asking = containers or (container(OFFLINE_ASKS),)
    marked = {QOS_LEVEL: "reclaimed_cores", **(annotations or {})}
    return pod(*asking, annotations=marked, metadata=metadata, **spec)


def offline_pod(
    *containers: Object,
    annotations: Texts | None = None,
    metadata: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """The same pod after the mutating webhook."""
    return mutated(
        bare_offline_pod(*containers, annotations=annotations, metadata=metadata, **spec)
    )


def mutated(raw: Object, policy: Policy | None = None) -> Object:
    """A pod after the mutating webhook; the patch is applied by the library jsonpatch."""
    rules = policy or Policy()
    patch = mutate(parse_pod(raw, rules), rules).patch
    return cast("Object", jsonpatch.apply_patch(raw, patch))


def template_of(raw: Object) -> Object:
    """The pod template that says the same as a pod."""
    return {key: deepcopy(raw[key]) for key in ("metadata", "spec")}


def affinity(*terms: Mapping[str, object]) -> Object:
    """`spec.affinity` with these nodeSelectorTerms as required node affinity."""
    required = {"nodeSelectorTerms": [dict(term) for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def expression(key: str, operator: str, *values: str) -> Object:
    """One entry of matchExpressions or matchFields."""
    entry: Object = {"key": key, "operator": operator}
    return {**entry, "values": list(values)} if values else entry


def node(
    name: str = "gpu-1",
    *,
    labels: Texts | None = None,
    annotations: Texts | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    os_image: str | None = "veLinux 1.0 (CentOS Compatible)",
    kubelet: str | None = "v1.28.15-vke.19",
    allocatable: Mapping[str, str] | None = None,
) -> Object:
    """A node that can be hybrid in every respect; the texts are set or taken away on top of that."""
    own_labels = {GPU_SCHEDULE: "mgpu", COMPUTE_POLICY: "guaranteed-burst-share"}
    versions = {DRIVER_VERSION: "0.07.35.23", ADDON_VERSION: "v0.6.0"}
    amounts = {MGPU_CORE: "800", MGPU_MEMORY: "196608"} if allocatable is None else allocatable
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": _present({**own_labels, **(labels or {})}),
            "annotations": _present({**versions, **(annotations or {})}),
        },
        "spec": {"taints": [dict(taint) for taint in taints]},
        "status": {
            "allocatable": {"cpu": "32", **amounts},
            "nodeInfo": _present({"osImage": os_image, "kubeletVersion": kubelet}),
        },
    }


def parsed(raw: Object, options: FactOptions) -> Pod:
    """The pod as the rules see it; a template stands at `spec.template`."""
    return parse_pod(
        raw,
        options.get("policy", Policy()),
        namespace=options.get("namespace", ""),
        path="spec.template" if options.get("template_kind") else "",
        device_classes=options.get("device_classes"),
    )


def facts_of(raw: Object, **options: Unpack[FactOptions]) -> Facts:
    """The facts of a decision about a pod, or about a template where `template_kind` is given."""
    policy = options.get("policy", Policy())
    old, nodes = options.get("old"), options.get("nodes")
    return Facts(
        pod=parsed(raw, options),
        policy=policy,
        operation=options.get("operation", Operation.CREATE),
        old=None if old is None else parsed(old, options),
        username=options.get("username"),
        inventory=None if nodes is None else inventory_of(nodes, policy),
        cluster_version=options.get("cluster_version"),
        template_kind=options.get("template_kind", ""),
        subresource=options.get("subresource", ""),
        previous_injections=options.get("previous_injections", ()),
        is_audit=options.get("is_audit", False),
    )


def decision(raw: Object, **options: Unpack[FactOptions]) -> Decision:
    """The verdict on a pod or template."""
    return decide(facts_of(raw, **options))


def findings(raw: Object, **options: Unpack[FactOptions]) -> set[tuple[str, Action]]:
    """The verdict's findings as (rule id, action)."""
    return {(f.rule, f.action) for f in decision(raw, **options).findings}


def found(rule: str, raw: Object, **options: Unpack[FactOptions]) -> tuple[Finding, ...]:
    """The findings of one rule, in order."""
    return tuple(f for f in decision(raw, **options).findings if f.rule == rule)


def _present(texts: Texts) -> dict[str, str]:
    return {key: value for key, value in texts.items() if value is not None}
