"""From the text of a policy file to the policy in force, or to all that is wrong with the text.

A file is read by whoever was given one (`--policy`); nothing else imports this module, since pydantic
behind it costs start-up time that most runs of the command line need not pay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from pydantic import ValidationError

from policies.document.document_checks import cross_findings
from policies.document.document_mistakes import shape_findings
from policies.document.documents import (
    HybridPolicy,
    InjectionDocument,
    NodePoolDocument,
    PolicySpec,
    SupportDocument,
)
from policies.document.mistakes import FieldPath, Mistake, PolicyError
from policies.document.names import shown
from policies.document.policy_document import API_VERSION, KIND, policy_digest, policy_document
from policies.document.positioned_yaml import PositionedDocument, read_document
from policies.policy import (
    BUILTIN_TEMPLATES,
    DEFAULT_ACTIONS,
    Action,
    Eligibility,
    EnvVar,
    Exemption,
    GpuClaims,
    Injection,
    Keys,
    ModeSwitch,
    NodePool,
    Policy,
    SupportMatrix,
    TemplateKind,
    node_requirements,
)
from policies.raw import type_name
from policies.tolerations import EQUAL, Toleration
from policies.versions import KubernetesGate, parse_vke_version

__all__ = ["Mistake", "PolicyError", "load_policy", "policy_document"]

CLASS_LABEL = Injection().labels[0]


def load_policy(text: str | bytes, source: str) -> Policy:
    """The policy that a file's content means; `source` names the file in messages.

    Raises PolicyError with every mistake when the content is not one valid HybridPolicy document.
    """
    document = read_document(text, source)
    identity = list(_identity_findings(document.data))
    if identity:
        raise _error(document, identity)
    findings = list(cross_findings(document.data))
    try:
        parsed = HybridPolicy.model_validate(document.data)
    except ValidationError as error:
        raise _error(document, [*shape_findings(error), *findings]) from error
    if findings or document.mistakes:
        raise _error(document, findings)
    policy = _policy(parsed.spec)
    return replace(policy, digest=policy_digest(policy))


def _error(document: PositionedDocument, findings: list[tuple[FieldPath, str]]) -> PolicyError:
    mistakes = [document.mistake(path, message) for path, message in findings]
    return PolicyError(document.source, (*document.mistakes, *mistakes))


def _identity_findings(data: object) -> Iterator[tuple[FieldPath, str]]:
    """Whether the document is a policy at all; if not, its fields are not worth a word."""
    if not isinstance(data, dict):
        yield (), f"must be an object with apiVersion, kind and spec, is {type_name(data)}"
        return
    for name, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        value = data.get(name)
        if value is None:
            yield (name,), f'is missing: write "{name}: {expected}"'
        elif value != expected:
            found = shown(value) if isinstance(value, str) else type_name(value)
            yield (name,), f"is {found}: must be {expected}"


def _policy(spec: PolicySpec) -> Policy:
    keys = Keys(**spec.keys.model_dump())
    return Policy(
        keys=keys,
        support=_support(spec.support),
        injection=_injection(spec.injection, keys),
        injection_grace_seconds=spec.injection_grace_seconds,
        actions=_actions(spec.rules),
        exemptions=tuple(Exemption(**entry.model_dump()) for entry in spec.exemptions),
        gpu_claims=GpuClaims(**spec.gpu_claims.model_dump()),
        unknown_facts=Action(spec.unknown_facts),
        deny_offline_on_rule_error=spec.on_rule_error.offline == "Deny",
        deny_others_on_rule_error=spec.on_rule_error.others == "Deny",
        schedulers=spec.schedulers,
        mode_switch=ModeSwitch(
            users=spec.mode_switch.users,
            groups=spec.mode_switch.groups,
            unknown_pods=Action(spec.mode_switch.unknown_pods),
        ),
        check_bindings=spec.bindings.check_eligibility,
        show_node_names=spec.show_node_names,
        passing_taints=spec.passing_taints,
        node_pools=tuple(_node_pool(pool) for pool in spec.node_pools),
        templates=(
            *BUILTIN_TEMPLATES,
            *(TemplateKind(**entry.model_dump()) for entry in spec.templates),
        ),
        addon_version=spec.addon_version,
        general_webhook_version=spec.general_webhook_version,
        webhook_namespace=spec.webhook_namespace,
    )


def _support(support: SupportDocument) -> SupportMatrix:
    versions = (parse_vke_version(text) for text in support.kubernetes)
    gates = (
        KubernetesGate(version.minor, version.patch, version.build or 0)
        for version in versions
        if version is not None
    )
    return SupportMatrix(
        kubernetes=tuple(sorted(gates, key=lambda gate: gate.minor)),
        driver=support.driver,
        addon=support.addon,
        general_webhook=support.general_webhook,
        compute_policies=support.compute_policies,
        unsupported_images=support.unsupported_images,
    )


def _injection(injection: InjectionDocument, keys: Keys) -> Injection:
    return Injection(
        env=tuple(EnvVar(entry.name, entry.value) for entry in injection.env),
        tolerations=tuple(
            Toleration(
                key=entry.key,
                operator=entry.operator or EQUAL,
                value=entry.value,
                effect=entry.effect,
                seconds=entry.toleration_seconds,
            )
            for entry in injection.tolerations
        ),
        node_requirements=node_requirements(keys, Eligibility(injection.eligibility)),
        labels=(CLASS_LABEL, *sorted(injection.labels.items())),
        annotations=tuple(sorted(injection.annotations.items())),
        priority_class_name=injection.priority_class_name,
        scheduler_name=injection.scheduler_name,
        runtime_class_name=injection.runtime_class_name,
    )


def _actions(rules: Mapping[str, str]) -> Mapping[str, Action]:
    """One action per rule, in the built-in order."""
    return MappingProxyType(
        {rule: Action(rules.get(rule, action)) for rule, action in DEFAULT_ACTIONS.items()}
    )


def _node_pool(pool: NodePoolDocument) -> NodePool:
    return NodePool(
        name=pool.name,
        labels=MappingProxyType(dict(sorted(pool.labels.items()))),
        taints=tuple((taint.key, taint.value, taint.effect) for taint in pool.taints),
        os_image=pool.os_image,
        kubelet_version=pool.kubelet_version,
        annotations=MappingProxyType(dict(sorted(pool.annotations.items()))),
    )
