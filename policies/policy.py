"""The policy as a value: every name, gate, list and action that a decision depends on.

Field defaults are the built-in default, so that the command line needs neither a file nor pydantic to
start; `data/default.yaml` says the same in the form of a policy file and a test holds the two together.
A policy that came from a file is built by `loading.py`, which reports all mistakes; by then it is true.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from policies.node_selector import Requirement
from policies.tolerations import Toleration
from policies.versions import KubernetesGate

GENERAL_WEBHOOK_VERSION = "v1.20.0"
"""The version of Volcengine's general-webhook whose behaviour this product has."""

DEVICE_CLASS_RESOURCE = "deviceclass.resource.kubernetes.io/"
NODES_GROUP = "system:nodes"
"""The group of all kubelets."""
NODE_USER_PREFIX = "system:node:"
"""Before the name of a node it is its kubelet's user."""
ELIGIBLE_LABEL = "mgpu-hybrid.node-restriction.kubernetes.io/eligible"


class Action(StrEnum):
    """What a finding does; the first three are ValidatingAdmissionPolicy's words."""

    DENY = "Deny"
    WARN = "Warn"
    AUDIT = "Audit"
    OFF = "Off"
    """The rule does not run."""


class Eligibility(StrEnum):
    """How the injected affinity asks for the controller's node label."""

    REQUIRED = "required"
    """`In ["true"]`: only nodes that were judged and found good."""
    NOT_REFUSED = "notRefused"
    """`NotIn ["false"]`: also nodes that nobody has judged yet, for pools that grow from zero."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Names of labels, annotations and resources. Source: S0, S1 and the public scheduler code."""

    qos_level: str = "katalyst.kubewharf.io/qos_level"
    mgpu_core: str = "vke.volcengine.com/mgpu-core"
    mgpu_memory: str = "vke.volcengine.com/mgpu-memory"
    reclaimed_mgpu_core: str = "vke.volcengine.com/reclaimed-mgpu-core"
    whole_card: tuple[str, ...] = ("nvidia.com/gpu",)
    gpu_schedule: str = "vke.node.gpu.schedule"
    compute_policy: str = "vke.volcengine.com/mgpu-compute-policy"
    container_multiple_gpu: str = "vke.volcengine.com/container-multiple-gpu"
    assumed: str = "vke.volcengine.com/assumed"
    gpu_index_prefix: str = "vke.volcengine.com/gpu-index-container-"
    driver_version: str = "mgpu-hybrid.io/driver-version"
    addon_version: str = "mgpu-hybrid.io/addon-version"
    multi_card: str = "mgpu-hybrid.io/multi-card"
    image_label: str = ""
    """A node label whose value names the image; empty where a cluster has none."""


@dataclass(frozen=True, slots=True)
class SupportMatrix:
    """The least versions of hybrid deployment. Source: S0, "version gates"."""

    kubernetes: tuple[KubernetesGate, ...] = (
        KubernetesGate(24, 17, 38),
        KubernetesGate(26, 15, 26),
        KubernetesGate(28, 15, 19),
        KubernetesGate(30, 4, 3),
    )
    driver: str = "0.07.35.23"
    addon: str = "v0.6.0"
    general_webhook: str = "v1.20.0"
    compute_policies: tuple[str, ...] = ("guaranteed-burst-share", "fixed-share")
    """Compute policies that can be hybrid, the recommended one first; `native-burst-share` cannot."""
    unsupported_images: tuple[str, ...] = ("veLinux 2.0", "velinux2.0", "Ubuntu 22.04")
    """Patterns looked for in osImage and in the image label, without regard to case and spaces."""


@dataclass(frozen=True, slots=True)
class EnvVar:
    """One injected environment variable."""

    name: str
    value: str


def node_requirements(keys: Keys, eligibility: Eligibility) -> tuple[Requirement, ...]:
    """The expressions that every nodeSelectorTerm of an offline pod must hold."""
    eligible = (
        Requirement(ELIGIBLE_LABEL, "In", ("true",))
        if eligibility is Eligibility.REQUIRED
        else Requirement(ELIGIBLE_LABEL, "NotIn", ("false",))
    )
    return (
        Requirement(keys.gpu_schedule, "In", ("mgpu",)),
        Requirement(keys.compute_policy, "NotIn", ("native-burst-share",)),
        eligible,
    )


@dataclass(frozen=True, slots=True)
class Injection:
    """What the mutation writes into an offline pod; complete in itself, so that an old one can be kept."""

    env: tuple[EnvVar, ...] = (EnvVar("MGPU_TASK_CLASS", "offline"),)
    """The driver's own variable names are not public, hence policy data."""
    tolerations: tuple[Toleration, ...] = (
        Toleration("mgpu-hybrid.io/reclaimed", "Exists", "", "NoSchedule", None),
    )
    node_requirements: tuple[Requirement, ...] = node_requirements(Keys(), Eligibility.REQUIRED)
    labels: tuple[tuple[str, str], ...] = (("mgpu-hybrid.io/class", "offline"),)
    """The class label first, then further ones of the policy."""
    annotations: tuple[tuple[str, str], ...] = ()
    priority_class_name: str = ""
    scheduler_name: str = ""
    runtime_class_name: str = ""


@dataclass(frozen=True, slots=True)
class Exemption:
    """Namespaces (`kubernetes.io/metadata.name`) in which some rules only record."""

    namespaces: tuple[str, ...]
    rules: tuple[str, ...] = ()
    """Rule ids; empty means every rule."""


@dataclass(frozen=True, slots=True)
class GpuClaims:
    """DRA names that mean a GPU; a claim of another name may be a network card."""

    claim_templates: tuple[str, ...] = ()
    """Shell patterns for `resourceClaimTemplateName`."""
    claims: tuple[str, ...] = ()
    """Shell patterns for `resourceClaimName`."""
    device_classes: tuple[str, ...] = ("gpu.nvidia.com", "mig.nvidia.com")
    """Device classes, matched in claim templates that are known and in extended resources."""

    @property
    def resources(self) -> tuple[str, ...]:
        """The extended resources by which containers ask for these device classes."""
        return tuple(DEVICE_CLASS_RESOURCE + name for name in self.device_classes)


@dataclass(frozen=True, slots=True)
class ModeSwitch:
    """Who may switch a node's mode while pods hold its GPUs, and what happens when nobody can tell."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """Never `system:nodes`: a node must not be able to switch itself."""
    unknown_pods: Action = Action.DENY

    def allows(self, username: str, groups: tuple[str, ...]) -> bool:
        """Whether this user may override; a kubelet may not, though it is in other groups too."""
        if NODES_GROUP in groups:
            return False
        return username in self.users or any(group in self.groups for group in groups)


@dataclass(frozen=True, slots=True)
class NodePool:
    """A pool that may stand at zero, judged as one virtual node."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[tuple[str, str, str], ...] = ()
    """(key, value, effect)."""
    os_image: str = ""
    kubelet_version: str = ""
    annotations: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class TemplateKind:
    """A workload kind and where in it a pod template stands."""

    group: str
    kind: str
    paths: tuple[str, ...]
    """Such as `spec.template` or `spec.tasks[*].template`."""
    resource: str = ""
    """The plural, for the registration; empty for kinds that only files hold."""


BUILTIN_TEMPLATES = (
    TemplateKind("apps", "Deployment", ("spec.template",), "deployments"),
    TemplateKind("apps", "StatefulSet", ("spec.template",), "statefulsets"),
    TemplateKind("apps", "DaemonSet", ("spec.template",), "daemonsets"),
    TemplateKind("apps", "ReplicaSet", ("spec.template",), "replicasets"),
    TemplateKind("", "ReplicationController", ("spec.template",), "replicationcontrollers"),
    TemplateKind("batch", "Job", ("spec.template",), "jobs"),
    TemplateKind("batch", "CronJob", ("spec.jobTemplate.spec.template",), "cronjobs"),
    TemplateKind("", "PodTemplate", ("template",), "podtemplates"),
)

DEFAULT_ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "qos-level": Action.DENY,
        "offline-annotation": Action.DENY,
        "offline-compute": Action.DENY,
        "offline-memory": Action.DENY,
        "multi-card": Action.DENY,
        "multi-card-mode": Action.WARN,
        "compute-policy": Action.DENY,
        "mixed-gpu-modes": Action.DENY,
        "reclaimed-whole-card": Action.WARN,
        "mgpu-request": Action.DENY,
        "container-name": Action.WARN,
        "policy-match": Action.WARN,
        "gpu-by-env": Action.OFF,
        "privileged-container": Action.WARN,
        "offline-liveness": Action.WARN,
        "offline-deadline": Action.WARN,
        "injected": Action.DENY,
        "scheduler-annotations": Action.DENY,
        "class-change": Action.DENY,
        "node-gpu-mode": Action.DENY,
        "node-compute-policy": Action.DENY,
        "node-image": Action.DENY,
        "node-driver-version": Action.DENY,
        "node-addon-version": Action.DENY,
        "node-kubelet-version": Action.WARN,
        "node-multi-card": Action.DENY,
        "node-match": Action.WARN,
        "cluster-version": Action.DENY,
        "general-webhook-version": Action.DENY,
        "gpu-mode-mismatch": Action.WARN,
        "node-mode-switch": Action.DENY,
        "node-mode-value": Action.WARN,
    }
)

PASSING_TAINTS = (
    "node.kubernetes.io/*",
    "node.cloudprovider.kubernetes.io/*",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "ignore-taint.cluster-autoscaler.kubernetes.io/*",
    "startup-taint.cluster-autoscaler.kubernetes.io/*",
)
"""Taints that come and go by themselves; a trailing `*` matches any rest of the key."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy in force. `digest` names its content in audit annotations; it is no part of equality."""

    keys: Keys = field(default_factory=Keys)
    support: SupportMatrix = field(default_factory=SupportMatrix)
    injection: Injection = field(default_factory=Injection)
    injection_grace_seconds: int = 300
    actions: Mapping[str, Action] = field(default_factory=lambda: DEFAULT_ACTIONS)
    """Complete: one action per rule id."""
    exemptions: tuple[Exemption, ...] = ()
    gpu_claims: GpuClaims = field(default_factory=GpuClaims)
    unknown_facts: Action = Action.WARN
    """What an unknown node or cluster fact does, never more than the rule's own action."""
    deny_offline_on_rule_error: bool = True
    deny_others_on_rule_error: bool = False
    schedulers: tuple[str, ...] = ()
    """User names that may write placement annotations; empty while the real name is not known."""
    mode_switch: ModeSwitch = field(default_factory=ModeSwitch)
    check_bindings: bool = False
    """Whether a Binding of an offline pod to a node that is refused is refused too."""
    show_node_names: bool = True
    passing_taints: tuple[str, ...] = PASSING_TAINTS
    node_pools: tuple[NodePool, ...] = ()
    templates: tuple[TemplateKind, ...] = BUILTIN_TEMPLATES
    """The built-in kinds first, then the policy's own."""
    addon_version: str = ""
    """The add-on's version where nodes do not state it; empty = unknown."""
    general_webhook_version: str = GENERAL_WEBHOOK_VERSION
    webhook_namespace: str = "mgpu-hybrid-system"
    """Our own namespace, left out of the registration."""
    digest: str = field(default="built-in", compare=False)
