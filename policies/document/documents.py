"""The policy file as pydantic models, in the form that a custom resource would have.

Only shape and grammar are here; what compares one field with another is in `document_checks.py`, so that
both kinds of mistakes come out of one reading. Defaults are the built-in policy's own values. Importing
pydantic takes time: only who was given a policy file imports this.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from policies.document import field_types as types
from policies.document.field_types import Items
from policies.policy import Policy

BUILT_IN = Policy()
MAX_INT64 = 2**63 - 1
MAX_GRACE_SECONDS = 86_400


class Section(BaseModel):
    """A part of the document: names in camelCase, nothing unknown, nothing converted."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        strict=True,
        frozen=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: object) -> object:
        """Drops null fields, as the API server does before it fills in defaults."""
        if not isinstance(data, dict):
            return data
        known = {field.alias for field in cls.model_fields.values()}
        return {key: value for key, value in data.items() if value is not None or key not in known}


class KeysDocument(Section):
    """`spec.keys`: names of labels, annotations and resources."""

    qos_level: types.AnnotationKey = BUILT_IN.keys.qos_level
    mgpu_core: types.ExtendedResource = BUILT_IN.keys.mgpu_core
    mgpu_memory: types.ExtendedResource = BUILT_IN.keys.mgpu_memory
    reclaimed_mgpu_core: types.ExtendedResource = BUILT_IN.keys.reclaimed_mgpu_core
    whole_card: Items[types.ExtendedResource] = BUILT_IN.keys.whole_card
    gpu_schedule: types.LabelKey = BUILT_IN.keys.gpu_schedule
    compute_policy: types.LabelKey = BUILT_IN.keys.compute_policy
    container_multiple_gpu: types.AnnotationKey = BUILT_IN.keys.container_multiple_gpu
    assumed: types.AnnotationKey = BUILT_IN.keys.assumed
    gpu_index_prefix: types.KeyPrefix = BUILT_IN.keys.gpu_index_prefix
    driver_version: types.AnnotationKey = BUILT_IN.keys.driver_version
    addon_version: types.AnnotationKey = BUILT_IN.keys.addon_version
    multi_card: types.AnnotationKey = BUILT_IN.keys.multi_card
    image_label: types.OptionalLabelKey = BUILT_IN.keys.image_label


class SupportDocument(Section):
    """`spec.support`: the least versions, and what cannot be hybrid."""

    kubernetes: Annotated[Items[types.GateText], Field(min_length=1)] = tuple(
        f"1.{gate.minor}.{gate.patch}-vke.{gate.build}" for gate in BUILT_IN.support.kubernetes
    )
    driver: types.Version = BUILT_IN.support.driver
    addon: types.Version = BUILT_IN.support.addon
    general_webhook: types.Version = BUILT_IN.support.general_webhook
    compute_policies: Annotated[Items[types.ComputePolicy], Field(min_length=1)] = (
        BUILT_IN.support.compute_policies
    )
    unsupported_images: Items[types.TextLine] = BUILT_IN.support.unsupported_images


class EnvVarDocument(Section):
    """One injected environment variable."""

    name: types.EnvName
    value: types.EnvValue


class TolerationDocument(Section):
    """A toleration; the comparing operators are left out, for most API servers refuse them."""

    key: types.OptionalLabelKey = ""
    operator: Literal["", "Exists", "Equal"] = ""
    value: types.LabelValue = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    toleration_seconds: int | None = Field(default=None, ge=-MAX_INT64, le=MAX_INT64)


class InjectionDocument(Section):
    """`spec.injection`: what the mutation writes into offline pods."""

    env: Items[EnvVarDocument] = tuple(
        EnvVarDocument(name=entry.name, value=entry.value) for entry in BUILT_IN.injection.env
    )
    tolerations: Items[TolerationDocument] = (
        TolerationDocument(key="mgpu-hybrid.io/reclaimed", operator="Exists", effect="NoSchedule"),
    )
    eligibility: Literal["required", "notRefused"] = "required"
    labels: dict[types.LabelKey, types.LabelValue] = Field(default_factory=dict)
    annotations: dict[types.AnnotationKey, str] = Field(default_factory=dict)
    priority_class_name: types.OptionalObjectName = ""
    scheduler_name: types.OptionalObjectName = ""
    runtime_class_name: types.OptionalObjectName = ""


class ExemptionDocument(Section):
    """One entry of `spec.exemptions`; no rules means all of them."""

    namespaces: Annotated[Items[types.Namespace], Field(min_length=1)]
    rules: Items[types.RuleId] = ()


class OnRuleErrorDocument(Section):
    """`spec.onRuleError`: the answer when a rule itself fails."""

    offline: types.ErrorOutcome = "Deny"
    others: types.ErrorOutcome = "Allow"


class GpuClaimsDocument(Section):
    """`spec.gpuClaims`: the dynamic resource allocation names that mean a GPU."""

    claim_templates: Items[types.ShellPattern] = BUILT_IN.gpu_claims.claim_templates
    claims: Items[types.ShellPattern] = BUILT_IN.gpu_claims.claims
    device_classes: Items[types.ObjectName] = BUILT_IN.gpu_claims.device_classes


class TaintDocument(Section):
    """A taint of a node pool."""

    key: types.LabelKey
    value: types.LabelValue = ""
    effect: types.TaintEffect


class ModeSwitchDocument(Section):
    """`spec.modeSwitch`: who may switch a node's mode under running work."""

    users: Items[types.TextLine] = BUILT_IN.mode_switch.users
    groups: Items[types.TextLine] = BUILT_IN.mode_switch.groups
    unknown_pods: types.FactAction = "Deny"


class BindingsDocument(Section):
    """`spec.bindings`: what is judged when a scheduler binds a pod to a node."""

    check_eligibility: bool = BUILT_IN.check_bindings


class NodePoolDocument(Section):
    """One entry of `spec.nodePools`: a pool that may stand at zero."""

    name: types.TextLine
    labels: dict[types.LabelKey, types.LabelValue] = Field(default_factory=dict)
    taints: Items[TaintDocument] = ()
    os_image: types.OptionalTextLine = ""
    kubelet_version: types.KubeletVersion = ""
    annotations: dict[types.AnnotationKey, str] = Field(default_factory=dict)


class TemplateDocument(Section):
    """One entry of `spec.templates`: a workload kind besides the built-in ones."""

    group: types.OptionalObjectName = ""
    kind: types.KindName
    paths: Annotated[Items[types.TemplatePath], Field(min_length=1)]
    resource: types.ResourcePlural = ""


class PolicySpec(Section):
    """`spec`: every field optional, with the built-in value."""

    keys: KeysDocument = KeysDocument()
    support: SupportDocument = SupportDocument()
    injection: InjectionDocument = InjectionDocument()
    injection_grace_seconds: int = Field(
        default=BUILT_IN.injection_grace_seconds, ge=0, le=MAX_GRACE_SECONDS
    )
    rules: dict[types.RuleId, types.RuleAction] = Field(default_factory=dict)
    exemptions: Items[ExemptionDocument] = ()
    unknown_facts: types.FactAction = "Warn"
    on_rule_error: OnRuleErrorDocument = OnRuleErrorDocument()
    schedulers: Items[types.TextLine] = BUILT_IN.schedulers
    gpu_claims: GpuClaimsDocument = GpuClaimsDocument()
    mode_switch: ModeSwitchDocument = ModeSwitchDocument()
    bindings: BindingsDocument = BindingsDocument()
    show_node_names: bool = BUILT_IN.show_node_names
    passing_taints: Items[types.TaintPattern] = BUILT_IN.passing_taints
    node_pools: Items[NodePoolDocument] = ()
    templates: Items[TemplateDocument] = ()
    addon_version: types.OptionalVersion = BUILT_IN.addon_version
    general_webhook_version: types.Version = BUILT_IN.general_webhook_version
    webhook_namespace: types.Namespace = BUILT_IN.webhook_namespace


class HybridPolicy(Section):
    """The document. `metadata` is whatever the API server keeps there and is not read."""

    api_version: Literal["mgpu-hybrid.io/v1alpha1"]
    kind: Literal["HybridPolicy"]
    metadata: dict[str, object] = Field(default_factory=dict)
    spec: PolicySpec = PolicySpec()
