"""Both webhook configurations, from the policy: what the webhook is asked, and what if it is away.

Only new offline pods, changes that could make or unmark one, and switches of a node's mode are refused
while the webhook is away (`failurePolicy: Fail`): they alone could let offline work run unsuspended
beside online pods. Everything else is let through (Ignore); `registered_hooks` says what. The objects are
complete, with every default spelled out, so that what the API server stores is what was sent and a
comparison shows a foreign change.
"""

import base64
from dataclasses import dataclass

from policies.policy import Policy
from policies.raw import JsonObject
from webhook.registered_hooks import Hook, mutating_hooks, validating_hooks

CONFIGURATION_NAME = "mgpu-hybrid"
HOOK_DOMAIN = "mgpu-hybrid.io"
MUTATE_PATH = "/mutate"
VALIDATE_PATH = "/validate"
TIMEOUT_SECONDS = 5
"""How long the API server, and so a user's request, waits for one hook's answer."""
ALWAYS_LEFT_OUT = "kube-system"

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


def webhook_configurations(
    policy: Policy, client: ClientConfig, *, server_minor: int
) -> Registration:
    """What to register at an API server of version 1.`server_minor`.

    Before 1.28 there are no matchConditions: there it is asked about every pod, so all is Ignore.
    """
    mutating = mutating_hooks(policy, server_minor=server_minor)
    validating = validating_hooks(policy, server_minor=server_minor)
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


def _namespace_selector(policy: Policy) -> JsonObject:
    """Our own namespace, so that we can start without ourselves, and the control plane's."""
    left_out = sorted({policy.webhook_namespace, ALWAYS_LEFT_OUT})
    name = "kubernetes.io/metadata.name"
    return {"matchExpressions": [{"key": name, "operator": "NotIn", "values": left_out}]}


def _entry(hook: Hook, client: ClientConfig, path: str, selector: JsonObject) -> JsonObject:
    entry: dict[str, object] = {
        "name": f"{hook.name}.{HOOK_DOMAIN}",
        "admissionReviewVersions": ["v1"],
        "clientConfig": _client_config(client, path),
        "failurePolicy": hook.failure_policy,
        "matchPolicy": "Equivalent",
        "namespaceSelector": selector if hook.is_namespaced else {},
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
