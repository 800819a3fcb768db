"""A policy as the document that a file would hold: what `policy show` prints and what the digest names.

The inverse of `loading.load_policy`; plain dictionaries, so that it needs no pydantic.
"""

import hashlib
import json

from policies.policy import (
    BUILTIN_TEMPLATES,
    ELIGIBLE_LABEL,
    Eligibility,
    Injection,
    Keys,
    NodePool,
    Policy,
    SupportMatrix,
    TemplateKind,
)
from policies.tolerations import Toleration
from policies.versions import KubernetesGate

API_VERSION = "mgpu-hybrid.io/v1alpha1"
KIND = "HybridPolicy"
DIGEST_LENGTH = 12
CLASS_LABEL = Injection().labels[0][0]


def policy_document(policy: Policy) -> dict[str, object]:
    """The effective policy, every field present, in the order of `data/default.yaml`."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "spec": {
            "keys": _keys(policy.keys),
            "support": _support(policy.support),
            "injection": _injection(policy.injection),
            "injectionGraceSeconds": policy.injection_grace_seconds,
            "rules": {rule: action.value for rule, action in policy.actions.items()},
            "exemptions": [
                {"namespaces": list(entry.namespaces), "rules": list(entry.rules)}
                for entry in policy.exemptions
            ],
            "unknownFacts": policy.unknown_facts.value,
            "onRuleError": {
                "offline": "Deny" if policy.deny_offline_on_rule_error else "Allow",
                "others": "Deny" if policy.deny_others_on_rule_error else "Allow",
            },
            "schedulers": list(policy.schedulers),
            "gpuClaims": {
                "claimTemplates": list(policy.gpu_claims.claim_templates),
                "claims": list(policy.gpu_claims.claims),
                "deviceClasses": list(policy.gpu_claims.device_classes),
            },
            "modeSwitch": {
                "users": list(policy.mode_switch.users),
                "groups": list(policy.mode_switch.groups),
                "unknownPods": policy.mode_switch.unknown_pods.value,
            },
            "bindings": {"checkEligibility": policy.check_bindings},
            "showNodeNames": policy.show_node_names,
            "passingTaints": list(policy.passing_taints),
            "nodePools": [_node_pool(pool) for pool in policy.node_pools],
            "templates": [
                _template(kind) for kind in policy.templates if kind not in BUILTIN_TEMPLATES
            ],
            "addonVersion": policy.addon_version,
            "generalWebhookVersion": policy.general_webhook_version,
            "webhookNamespace": policy.webhook_namespace,
        },
    }


def policy_digest(policy: Policy) -> str:
    """Twelve hex digits that name a policy's content, the same for every text that means it."""
    canonical = json.dumps(_canonical(policy_document(policy)), sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGEST_LENGTH]


def _canonical(value: object) -> object:
    """Lists of strings are sets here, so their order means nothing; other lists keep theirs."""
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return sorted(value)
        return [_canonical(item) for item in value]
    return value


def _keys(keys: Keys) -> dict[str, object]:
    return {
        "qosLevel": keys.qos_level,
        "mgpuCore": keys.mgpu_core,
        "mgpuMemory": keys.mgpu_memory,
        "reclaimedMgpuCore": keys.reclaimed_mgpu_core,
        "wholeCard": list(keys.whole_card),
        "gpuSchedule": keys.gpu_schedule,
        "computePolicy": keys.compute_policy,
        "containerMultipleGpu": keys.container_multiple_gpu,
        "assumed": keys.assumed,
        "gpuIndexPrefix": keys.gpu_index_prefix,
        "driverVersion": keys.driver_version,
        "addonVersion": keys.addon_version,
        "multiCard": keys.multi_card,
        "imageLabel": keys.image_label,
    }


def _support(support: SupportMatrix) -> dict[str, object]:
    return {
        "kubernetes": [_gate(gate) for gate in support.kubernetes],
        "driver": support.driver,
        "addon": support.addon,
        "generalWebhook": support.general_webhook,
        "computePolicies": list(support.compute_policies),
        "unsupportedImages": list(support.unsupported_images),
    }


def _gate(gate: KubernetesGate) -> str:
    return f"1.{gate.minor}.{gate.patch}" + (f"-vke.{gate.build}" if gate.build else "")


def _injection(injection: Injection) -> dict[str, object]:
    eligible = next(
        expression for expression in injection.node_requirements if expression.key == ELIGIBLE_LABEL
    )
    eligibility = Eligibility.REQUIRED if eligible.operator == "In" else Eligibility.NOT_REFUSED
    return {
        "env": [{"name": entry.name, "value": entry.value} for entry in injection.env],
        "tolerations": [_toleration(entry) for entry in injection.tolerations],
        "eligibility": eligibility.value,
        "labels": {key: value for key, value in injection.labels if key != CLASS_LABEL},
        "annotations": dict(injection.annotations),
        "priorityClassName": injection.priority_class_name,
        "schedulerName": injection.scheduler_name,
        "runtimeClassName": injection.runtime_class_name,
    }


def _toleration(toleration: Toleration) -> dict[str, object]:
    """A toleration without its empty fields, as Kubernetes prints it."""
    fields = {
        "key": toleration.key,
        "operator": toleration.operator,
        "value": toleration.value,
        "effect": toleration.effect,
        "tolerationSeconds": toleration.seconds,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}


def _node_pool(pool: NodePool) -> dict[str, object]:
    return {
        "name": pool.name,
        "labels": dict(pool.labels),
        "taints": [
            {"key": key, "value": value, "effect": effect} for key, value, effect in pool.taints
        ],
        "osImage": pool.os_image,
        "kubeletVersion": pool.kubelet_version,
        "annotations": dict(pool.annotations),
    }


def _template(template: TemplateKind) -> dict[str, object]:
    return {
        "group": template.group,
        "kind": template.kind,
        "paths": list(template.paths),
        "resource": template.resource,
    }
