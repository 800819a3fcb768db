"""A pod as the rules see it: its class, its annotations and what each container asks of a card.

Made once per admission from the decoded JSON, without a model of the whole pod. `spec` and each
container's `raw` stay at hand for the few rules that look further.
"""

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from policies.node_selector import SelectorTerm, parse_terms
from policies.policy import GpuClaims, Keys, Policy
from policies.quantity import QuantityError, parse_quantity
from policies.raw import JsonObject, object_at, objects_at, short_text, string_at, strings_at
from policies.tolerations import Toleration, parse_tolerations

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
RECLAIMED_CORES = "reclaimed_cores"
DEVICE_CLASS_RESOURCE = "deviceclass.resource.kubernetes.io/"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"

DeviceClasses = Mapping[str, Sequence[str]]
"""Device classes by `template/<name>` or `claim/<name>`, as far as the claims are known."""


class PodClass(StrEnum):
    """What a pod is to a card."""

    OFFLINE = "offline"
    ONLINE = "online"
    WHOLE_CARD = "whole-card"
    DRA = "dra"
    NONE = "none"


MGPU_CLASSES = frozenset({PodClass.OFFLINE, PodClass.ONLINE})


@dataclass(frozen=True, slots=True)
class Ask:
    """What one container asks of one GPU resource.

    `value` is in the resource's own unit (percent of a card, MiB, cards), rounded up to a whole number.
    `problem` is empty, or says why the API server would not take the amount.
    """

    resource: str
    text: str
    value: int
    problem: str
    path: str


@dataclass(frozen=True, slots=True)
class Container:
    """One container or init container. `path` is its place, such as `spec.initContainers[0]`."""

    name: str
    path: str
    index: int
    is_init: bool
    core: Ask | None
    memory: Ask | None
    reclaimed: Ask | None
    asks_whole_card: bool
    raw: JsonObject

    @property
    def asks_mgpu(self) -> bool:
        """Whether it names any mGPU resource, whatever the amount."""
        return self.core is not None or self.memory is not None or self.reclaimed is not None


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod, or the pod template at `path` of a workload object."""

    namespace: str
    name: str
    path: str
    pod_class: PodClass
    qos_level: str | None
    annotations: Mapping[str, str]
    containers: tuple[Container, ...]
    """Containers first, then init containers, each in the order of the manifest."""
    gpu_claims: tuple[str, ...]
    """Names in `spec.resourceClaims` that the policy lists as GPU."""
    tolerations: tuple[Toleration, ...]
    """Read for pods with a GPU only, as `terms` are: nothing else is judged by them."""
    terms: tuple[SelectorTerm, ...] | None
    """The required node affinity; None where there is none."""
    metadata: JsonObject
    spec: JsonObject
    raw: JsonObject

    @property
    def spec_path(self) -> str:
        """`spec`, or the path of the template's spec."""
        return f"{self.path}.spec" if self.path else "spec"

    def annotation_path(self, key: str) -> str:
        """Where an annotation stands."""
        return f"{self.path + '.' if self.path else ''}metadata.annotations[{key}]"

    @property
    def main_containers(self) -> tuple[Container, ...]:
        """The entries of `spec.containers`."""
        return tuple(c for c in self.containers if not c.is_init)

    @property
    def mgpu_containers(self) -> tuple[Container, ...]:
        """The containers that name an mGPU resource."""
        return tuple(c for c in self.containers if c.asks_mgpu)

    @property
    def is_deleting(self) -> bool:
        """Whether the pod has a deletionTimestamp."""
        return self.metadata.get("deletionTimestamp") is not None

    @property
    def is_mirror(self) -> bool:
        """Whether a kubelet made it for a static pod."""
        return MIRROR_ANNOTATION in self.annotations


def parse_pod(
    raw: JsonObject,
    policy: Policy,
    *,
    namespace: str = "",
    path: str = "",
    device_classes: DeviceClasses | None = None,
) -> Pod:
    """The pod (or the pod template that stands at `path`) in `raw`.

    Raises MalformedError when a field that is read has a wrong JSON type.
    """
    metadata = object_at(raw, "metadata", path)
    annotations = strings_at(metadata, "annotations", f"{path}.metadata" if path else "metadata")
    spec = object_at(raw, "spec", path)
    spec_path = f"{path}.spec" if path else "spec"
    keys = policy.keys
    containers = tuple(_containers(spec, spec_path, keys, policy.gpu_claims))
    claims = tuple(_gpu_claims(spec, spec_path, policy.gpu_claims, device_classes or {}))
    qos_level = annotations.get(keys.qos_level)
    pod_class = classify(containers, qos_level, has_gpu_claim=bool(claims))
    has_gpu = pod_class is not PodClass.NONE
    tolerations = spec.get("tolerations") if has_gpu else None
    return Pod(
        namespace=string_at(metadata, "namespace", "metadata") or namespace,
        name=string_at(metadata, "name", "metadata")
        or string_at(metadata, "generateName", "metadata"),
        path=path,
        pod_class=pod_class,
        qos_level=qos_level,
        annotations=annotations,
        containers=containers,
        gpu_claims=claims,
        tolerations=parse_tolerations(tolerations, f"{spec_path}.tolerations"),
        terms=_required_terms(spec, spec_path) if has_gpu else None,
        metadata=metadata,
        spec=spec,
        raw=raw,
    )


def _required_terms(spec: JsonObject, spec_path: str) -> tuple[SelectorTerm, ...] | None:
    if spec.get("affinity") is None:
        return None
    affinity = object_at(spec, "affinity", spec_path)
    node_affinity = object_at(affinity, "nodeAffinity", f"{spec_path}.affinity")
    if node_affinity.get(REQUIRED) is None:
        return None
    path = f"{spec_path}.affinity.nodeAffinity"
    required = object_at(node_affinity, REQUIRED, path)
    return parse_terms(required.get("nodeSelectorTerms"), f"{path}.{REQUIRED}.nodeSelectorTerms")


def classify(
    containers: Sequence[Container], qos_level: str | None, *, has_gpu_claim: bool
) -> PodClass:
    """The class of a pod. reclaimed-mgpu-core alone makes it offline: the annotation may be missing."""
    if any(c.reclaimed is not None for c in containers):
        return PodClass.OFFLINE
    if any(c.core is not None or c.memory is not None for c in containers):
        return PodClass.OFFLINE if qos_level == RECLAIMED_CORES else PodClass.ONLINE
    if any(c.asks_whole_card for c in containers):
        return PodClass.WHOLE_CARD
    return PodClass.DRA if has_gpu_claim else PodClass.NONE


def _containers(
    spec: JsonObject, spec_path: str, keys: Keys, claims: GpuClaims
) -> Iterator[Container]:
    for field in ("containers", "initContainers"):
        for index, raw in enumerate(objects_at(spec, field, spec_path)):
            yield _container(raw, index, f"{spec_path}.{field}", keys, claims)


def _container(
    raw: JsonObject, index: int, list_path: str, keys: Keys, claims: GpuClaims
) -> Container:
    path = f"{list_path}[{index}]"
    resources = object_at(raw, "resources", path)
    where = f"{path}.resources"
    requests = object_at(resources, "requests", where)
    limits = object_at(resources, "limits", where)
    return Container(
        name=string_at(raw, "name", path),
        path=path,
        index=index,
        is_init=list_path.endswith("initContainers"),
        core=_ask(keys.mgpu_core, requests, limits, where),
        memory=_ask(keys.mgpu_memory, requests, limits, where),
        reclaimed=_ask(keys.reclaimed_mgpu_core, requests, limits, where),
        asks_whole_card=_asks_whole_card(requests, limits, where, keys, claims),
        raw=raw,
    )


def _ask(resource: str, requests: JsonObject, limits: JsonObject, path: str) -> Ask | None:
    """An absent request takes the limit, as in the API server; an unequal pair is refused there."""
    has_limit = resource in limits
    if resource in requests:
        text, where = requests[resource], f"{path}.requests[{resource}]"
    elif has_limit:
        text, where = limits[resource], f"{path}.limits[{resource}]"
    else:
        return None
    shown = short_text(text)
    try:
        amount = parse_quantity(text)
        limit = parse_quantity(limits[resource]) if has_limit else None
    except QuantityError as error:
        return Ask(resource, shown, 0, f"is not a quantity: {error}", where)
    if not amount.is_whole:
        problem = "is not a whole number: extended resources cannot be split"
    elif limit is None:
        problem = "is a request without a limit: extended resources need both, equal"
    elif limit != amount:
        other = short_text(limits[resource])
        problem = f"differs from its limit {other}: extended resources need both, equal"
    else:
        problem = ""
    return Ask(resource, shown, amount.value, problem, where)


def _asks_whole_card(
    requests: JsonObject, limits: JsonObject, path: str, keys: Keys, claims: GpuClaims
) -> bool:
    """Whether a whole-card resource is asked; an explicit 0 is a way to say no."""
    names = (*keys.whole_card, *(DEVICE_CLASS_RESOURCE + c for c in claims.device_classes))
    for name in names:
        ask = _ask(name, requests, limits, path)
        if ask is not None and (ask.value != 0 or ask.problem):
            return True
    return False


def _gpu_claims(
    spec: JsonObject, path: str, gpu: GpuClaims, device_classes: DeviceClasses
) -> Iterator[str]:
    for index, claim in enumerate(objects_at(spec, "resourceClaims", path)):
        where = f"{path}.resourceClaims[{index}]"
        template = string_at(claim, "resourceClaimTemplateName", where)
        name = string_at(claim, "resourceClaimName", where)
        known = device_classes.get(f"template/{template}" if template else f"claim/{name}", ())
        patterns, text = (gpu.claim_templates, template) if template else (gpu.claims, name)
        if any(fnmatch.fnmatchcase(text, p) for p in patterns) or set(known) & set(
            gpu.device_classes
        ):
            yield string_at(claim, "name", where)
