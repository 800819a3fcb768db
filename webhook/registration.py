"""Both webhook configurations, from the policy: what the webhook is asked, and what if it is away.

Only new offline pods, and changes that could make or unmark one, are refused while the webhook is
away (`failurePolicy: Fail`): they alone could run without the marks that keep them off online pods'
work. Everything else is let through (Ignore). The objects are complete, with every default spelled
out, so that what the API server stores is what was sent and a comparison shows a foreign change.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from policies.policy import Action, Policy
from policies.raw import JsonObject
from webhook.match_conditions import (
    any_template_asks_gpu,
    asks_gpu,
    asks_mgpu,
    has_guarded_annotation,
    is_changed,
    is_not_deleting,
    is_offline,
)

CONFIGURATION_NAME = "mgpu-hybrid"
HOOK_DOMAIN = "mgpu-hybrid.io"
MUTATE_PATH = "/mutate"
VALIDATE_PATH = "/validate"
TIMEOUT_SECONDS = 5
"""How long the API server, and so a user's request, waits for one hook's answer."""
FIRST_MINOR_WITH_MATCH_CONDITIONS = 28
ALWAYS_LEFT_OUT = "kube-system"

_FAIL, _IGNORE = "Fail", "Ignore"
_LABELS = {
    "app.kubernetes.io/name": "mgpu-hybrid",
    "app.kubernetes.io/component": "webhook",
}


@dataclass(frozen=True, slots=True)
class ServiceReference:
    """The Service in front of the webhook."""

    namespace: str
    name: str
    port: int = 443


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """How the API server reaches the webhook: by `url` (`https://127.0.0.1:8443`) or by `service`.

    `ca_bundle` is PEM. Raises ValueError unless exactly one of the two is given.
    """

    ca_bundle: bytes
    url: str | None = None
    service: ServiceReference | None = None

    def __post_init__(self) -> None:
        if (self.url is None) == (self.service is None):
            raise ValueError("a webhook is reached by a url or by a service: give exactly one")


@dataclass(frozen=True, slots=True)
class Registration:
    """A MutatingWebhookConfiguration and a ValidatingWebhookConfiguration, as JSON objects."""

    mutating: dict[str, object]
    validating: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Hook:
    """One entry of a configuration; without a `condition`, for all that its rules name."""

    name: str
    failure_policy: str
    rules: tuple[JsonObject, ...]
    condition: str = ""


def webhook_configurations(
    policy: Policy, client: ClientConfig, *, server_minor: int
) -> Registration:
    """What to register at an API server of version 1.`server_minor`.

    Before 1.28 there are no matchConditions: there it is asked about every pod, so all is Ignore.
    """
    if server_minor < FIRST_MINOR_WITH_MATCH_CONDITIONS:
        mutating, validating = [_every_new_pod()], _unconditional_hooks(policy)
    else:
        mutating, validating = [_new_mgpu_pods(policy)], _conditional_hooks(policy)
    selector = _namespace_selector(policy)
    return Registration(
        mutating=_configuration(
            "MutatingWebhookConfiguration",
            [
                {**_entry(hook, client, MUTATE_PATH, selector), "reinvocationPolicy": "IfNeeded"}
                for hook in mutating
            ],
        ),
        validating=_configuration(
            "ValidatingWebhookConfiguration",
            [_entry(hook, client, VALIDATE_PATH, selector) for hook in validating],
        ),
    )


def _new_mgpu_pods(policy: Policy) -> _Hook:
    """Wider than offline: a hook skipped in the first round is never called in a later one."""
    condition = asks_mgpu("object", policy.keys)
    return _Hook("mgpu-pods", _IGNORE, (_new_pods(),), condition)


def _conditional_hooks(policy: Policy) -> list[_Hook]:
    """The validating hooks; their conditions exclude each other, so one request is judged once."""
    keys = policy.keys
    offline = is_offline("object", keys)
    was_offline = is_offline("oldObject", keys)
    gpu = asks_gpu("object", keys, policy.gpu_claims)
    # Parts are evaluated from left to right: most pods have no GPU, and few containers.
    changed = f"{is_not_deleting('object')} && {is_changed(keys)}"
    hooks = [
        _Hook("offline-pods", _FAIL, (_new_pods(),), offline),
        _Hook(
            "offline-pod-changes",
            _FAIL,
            (_changed_pods(),),
            f"({offline} || {was_offline}) && {changed}",
        ),
        _Hook("gpu-pods", _IGNORE, (_new_pods(),), f"{gpu} && !{offline}"),
        _Hook(
            "gpu-pod-changes",
            _IGNORE,
            (_changed_pods(),),
            f"{gpu} && {changed} && !({offline} || {was_offline})",
        ),
        _Hook("templates", _IGNORE, _templates(policy), any_template_asks_gpu(policy)),
        _Hook("bindings", _IGNORE, (_bindings(),), has_guarded_annotation(keys)),
    ]
    if policy.actions["gpu-by-env"] is not Action.OFF:
        hooks.append(_Hook("other-pods", _IGNORE, (_new_pods(),), f"!{gpu}"))
    return [hook for hook in hooks if hook.rules]


def _every_new_pod() -> _Hook:
    return _Hook("pods", _IGNORE, (_new_pods(),))


def _unconditional_hooks(policy: Policy) -> list[_Hook]:
    hooks = [
        _Hook("pods", _IGNORE, (_new_pods(), _changed_pods())),
        _Hook("templates", _IGNORE, _templates(policy)),
        _Hook("bindings", _IGNORE, (_bindings(),)),
    ]
    return [hook for hook in hooks if hook.rules]


def _new_pods() -> JsonObject:
    return _rule("", "v1", ["CREATE"], ["pods"])


def _changed_pods() -> JsonObject:
    """`pods/status` keeps changed annotations too; `resize` and `ephemeralcontainers` keep none."""
    return _rule("", "v1", ["UPDATE"], ["pods", "pods/status"])


def _bindings() -> JsonObject:
    """A Binding's annotations reach the pod; `bindings` is the older address of the same write."""
    return _rule("", "v1", ["CREATE"], ["bindings", "pods/binding"])


def _templates(policy: Policy) -> tuple[JsonObject, ...]:
    """One rule per API group, in the policy's order; kinds without a resource are in files only."""
    resources: dict[str, list[str]] = {}
    for kind in policy.templates:
        if kind.resource:
            resources.setdefault(kind.group, []).append(kind.resource)
    return tuple(
        _rule(group, "*", ["CREATE", "UPDATE"], list(dict.fromkeys(names)))
        for group, names in resources.items()
    )


def _rule(
    group: str, version: str, operations: Sequence[str], resources: Sequence[str]
) -> JsonObject:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": list(operations),
        "resources": list(resources),
        "scope": "*",
    }


def _namespace_selector(policy: Policy) -> JsonObject:
    """Our own namespace, so that we can start without ourselves, and the control plane's."""
    left_out = sorted({policy.webhook_namespace, ALWAYS_LEFT_OUT})
    name = "kubernetes.io/metadata.name"
    return {"matchExpressions": [{"key": name, "operator": "NotIn", "values": left_out}]}


def _entry(hook: _Hook, client: ClientConfig, path: str, selector: JsonObject) -> JsonObject:
    entry: dict[str, object] = {
        "name": f"{hook.name}.{HOOK_DOMAIN}",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client_config(client, path),
        "failurePolicy": hook.failure_policy,
        "matchPolicy": "Equivalent",
        "namespaceSelector": selector,
        "objectSelector": {},
        "rules": list(hook.rules),
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }
    if hook.condition:
        entry["matchConditions"] = [{"name": hook.name, "expression": hook.condition}]
    return entry


def _client_config(client: ClientConfig, path: str) -> JsonObject:
    bundle = base64.b64encode(client.ca_bundle).decode("ascii")
    if client.service is not None:
        service = client.service
        return {
            "caBundle": bundle,
            "service": {
                "namespace": service.namespace,
                "name": service.name,
                "path": path,
                "port": service.port,
            },
        }
    return {"caBundle": bundle, "url": f"{str(client.url).rstrip('/')}{path}"}


def _configuration(
    kind: str, webhooks: list[dict[str, object]] | list[JsonObject]
) -> dict[str, object]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": CONFIGURATION_NAME, "labels": dict(_LABELS)},
        "webhooks": webhooks,
    }
