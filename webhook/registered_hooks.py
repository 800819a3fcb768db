"""What is registered: which requests reach the webhook, on which condition, and what if it is away.

Where the API server has no matchConditions (before 1.28) it asks about every request that the rules name, so
everything is Ignore there, and of Nodes only `nodes` is named: kubelets write `nodes/status` with
each heartbeat. A mode label that is changed through the status then goes unseen.
"""

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
    switches_node,
)

FIRST_MINOR_WITH_MATCH_CONDITIONS = 28
FAIL, IGNORE = "Fail", "Ignore"


@dataclass(frozen=True, slots=True)
class Hook:
    """One entry of a configuration; without a `condition`, for all that its rules name."""

    name: str
    failure_policy: str
    rules: tuple[JsonObject, ...]
    condition: str = ""
    is_namespaced: bool = True


def mutating_hooks(policy: Policy, *, server_minor: int) -> list[Hook]:
    """The entries of the MutatingWebhookConfiguration, for an API server of version 1.`server_minor`."""
    if server_minor < FIRST_MINOR_WITH_MATCH_CONDITIONS:
        return [_every_new_pod()]
    return [_new_mgpu_pods(policy)]


def validating_hooks(policy: Policy, *, server_minor: int) -> list[Hook]:
    """The entries of the ValidatingWebhookConfiguration, likewise."""
    if server_minor < FIRST_MINOR_WITH_MATCH_CONDITIONS:
        return _unconditional_hooks(policy)
    return _conditional_hooks(policy)


def _new_mgpu_pods(policy: Policy) -> Hook:
    """Wider than offline: a hook skipped in the first round is never called in a later one."""
    condition = asks_mgpu("object", policy.keys)
    return Hook("mgpu-pods", IGNORE, (_new_pods(),), condition)


def _conditional_hooks(policy: Policy) -> list[Hook]:
    """The validating hooks; their conditions exclude each other, so one request is judged once."""
    keys = policy.keys
    offline = is_offline("object", keys)
    was_offline = is_offline("oldObject", keys)
    gpu = asks_gpu("object", keys, policy.gpu_claims)
    # Parts are evaluated from left to right: most pods have no GPU, and few containers.
    changed = f"{is_not_deleting('object')} && {is_changed(keys)}"
    hooks = [
        Hook("offline-pods", FAIL, (_new_pods(),), offline),
        Hook(
            "offline-pod-changes",
            FAIL,
            (_changed_pods(),),
            f"({offline} || {was_offline}) && {changed}",
        ),
        Hook("gpu-pods", IGNORE, (_new_pods(),), f"{gpu} && !{offline}"),
        Hook(
            "gpu-pod-changes",
            IGNORE,
            (_changed_pods(),),
            f"{gpu} && {changed} && !({offline} || {was_offline})",
        ),
        Hook("templates", IGNORE, _templates(policy), any_template_asks_gpu(policy)),
        Hook("bindings", IGNORE, (_bindings(),), _binding_condition(policy)),
    ]
    if policy.actions["gpu-by-env"] is not Action.OFF:
        hooks.append(Hook("other-pods", IGNORE, (_new_pods(),), f"!{gpu}"))
    if _judges_nodes(policy):
        hooks.append(_node_changes(policy))
    return [hook for hook in hooks if hook.rules]


def _node_changes(policy: Policy) -> Hook:
    """`nodes/status` keeps changed labels too. A policy that refuses no switch must not by our absence."""
    refuses = policy.actions["node-mode-switch"] is Action.DENY
    resources = ["nodes", "nodes/status"]
    return Hook(
        "node-changes",
        FAIL if refuses else IGNORE,
        (_rule("", "v1", ["UPDATE"], resources, scope="Cluster"),),
        switches_node(policy.keys),
        is_namespaced=False,
    )


def _judges_nodes(policy: Policy) -> bool:
    rules = ("node-mode-switch", "node-mode-value")
    return any(policy.actions[rule] is not Action.OFF for rule in rules)


def _binding_condition(policy: Policy) -> str:
    """Which pod a Binding is for does not stand in it: to check nodes, every one must come."""
    return "" if policy.check_bindings else has_guarded_annotation(policy.keys)


def _every_new_pod() -> Hook:
    return Hook("pods", IGNORE, (_new_pods(),))


def _unconditional_hooks(policy: Policy) -> list[Hook]:
    hooks = [
        Hook("pods", IGNORE, (_new_pods(), _changed_pods())),
        Hook("templates", IGNORE, _templates(policy)),
        Hook("bindings", IGNORE, (_bindings(),)),
    ]
    if _judges_nodes(policy):
        rules = (_rule("", "v1", ["UPDATE"], ["nodes"], scope="Cluster"),)
        hooks.append(Hook("node-changes", IGNORE, rules, is_namespaced=False))
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
    group: str,
    version: str,
    operations: Sequence[str],
    resources: Sequence[str],
    scope: str = "*",
) -> JsonObject:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": list(operations),
        "resources": list(resources),
        "scope": scope,
    }
