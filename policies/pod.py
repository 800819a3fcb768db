"""A pod as the rules see it: its class, its annotations and what each container asks of a card.

Made once per admission from the decoded JSON, without a model of the whole pod. `spec` and each
container's `raw` stay at hand for the few rules that look further.
"""

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from policies.container import Container, parse_containers
from policies.node_selector import SelectorTerm, parse_terms
from policies.policy import GpuClaims, Policy
from policies.raw import JsonObject, object_at, objects_at, string_at, strings_at
from policies.tolerations import Toleration, parse_tolerations

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
RECLAIMED_CORES = "reclaimed_cores"
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
    containers = tuple(parse_containers(spec, spec_path, keys, policy.gpu_claims))
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
    if has_gpu_claim or any(c.asks_device_class for c in containers):
        return PodClass.DRA
    return PodClass.NONE


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
