"""The two configurations sentence by sentence; what the expressions mean is tested on a real API server."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest

from policies.policy import (
    BUILTIN_TEMPLATES,
    DEFAULT_ACTIONS,
    Action,
    Exemption,
    GpuClaims,
    Keys,
    Policy,
    TemplateKind,
)
from webhook.registration import (
    ClientConfig,
    Registration,
    ServiceReference,
    webhook_configurations,
)

Hook = Mapping[str, object]

BY_URL = ClientConfig(b"PEM", url="https://127.0.0.1:8443")
BY_SERVICE = ClientConfig(b"PEM", service=ServiceReference("gpu", "mgpu-hybrid", port=8443))
CONDITIONAL = 28
UNCONDITIONAL = 27
PODS_CREATE = ("", ("v1",), ("CREATE",), ("pods",))
PODS_UPDATE = ("", ("v1",), ("UPDATE",), ("pods", "pods/status"))


def registration(policy: Policy | None = None, *, server_minor: int = CONDITIONAL) -> Registration:
    return webhook_configurations(policy or Policy(), BY_URL, server_minor=server_minor)


def hooks_of(configuration: Mapping[str, object]) -> dict[str, Hook]:
    """The entries by the first part of their names."""
    webhooks = cast("list[Hook]", configuration["webhooks"])
    return {str(hook["name"]).partition(".")[0]: hook for hook in webhooks}


def all_hooks(made: Registration) -> list[Hook]:
    return [*hooks_of(made.mutating).values(), *hooks_of(made.validating).values()]


def rules_of(hook: Hook) -> list[tuple[object, ...]]:
    """(group, versions, operations, resources) per rule."""
    return [
        (
            *rule["apiGroups"],
            *(tuple(rule[field]) for field in ("apiVersions", "operations", "resources")),
        )
        for rule in cast("list[dict[str, list[str]]]", hook["rules"])
    ]


def condition_of(hook: Hook) -> str:
    (condition,) = cast("list[dict[str, str]]", hook["matchConditions"])
    return condition["expression"]


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("mutating", "MutatingWebhookConfiguration"),
        ("validating", "ValidatingWebhookConfiguration"),
    ],
)
def test_each_object_is_complete_json(field: str, kind: str) -> None:
    made = getattr(registration(), field)

    assert json.loads(json.dumps(made)) == made
    assert made["apiVersion"] == "admissionregistration.k8s.io/v1"
    assert made["kind"] == kind
    assert made["metadata"] == {
        "name": "mgpu-hybrid",
        "labels": {
            "app.kubernetes.io/name": "mgpu-hybrid",
            "app.kubernetes.io/component": "webhook",
        },
    }


@pytest.mark.parametrize("server_minor", [UNCONDITIONAL, CONDITIONAL])
def test_every_hook_has_no_side_effects_and_takes_equivalent_requests(server_minor: int) -> None:
    for hook in all_hooks(registration(server_minor=server_minor)):
        assert str(hook["name"]).endswith(".mgpu-hybrid.io")
        assert hook["sideEffects"] == "None"
        assert hook["matchPolicy"] == "Equivalent"
        assert hook["admissionReviewVersions"] == ["v1"]
        assert hook["timeoutSeconds"] == 5
        assert hook["objectSelector"] == {}


def test_two_registrations_share_nothing_that_one_could_change() -> None:
    first, second = registration(), registration()
    cast("list[object]", first.validating["webhooks"]).clear()
    cast("dict[str, object]", first.mutating["metadata"])["name"] = "changed"
    cast(
        "dict[str, str]", cast("dict[str, object]", first.validating["metadata"])["labels"]
    ).clear()

    assert second == registration()


def test_mutation_is_for_new_pods_and_never_in_the_way() -> None:
    hooks = hooks_of(registration().mutating)

    assert list(hooks) == ["mgpu-pods"]
    hook = hooks["mgpu-pods"]
    assert rules_of(hook) == [PODS_CREATE]
    assert hook["failurePolicy"] == "Ignore"
    assert hook["reinvocationPolicy"] == "IfNeeded"


def test_mutation_asks_about_every_mgpu_pod_not_only_marked_ones() -> None:
    condition = condition_of(hooks_of(registration().mutating)["mgpu-pods"])

    assert Keys().mgpu_core in condition
    assert Keys().qos_level not in condition


@pytest.mark.parametrize(
    ("name", "failure_policy", "rules"),
    [
        ("offline-pods", "Fail", [PODS_CREATE]),
        ("offline-pod-changes", "Fail", [PODS_UPDATE]),
        ("gpu-pods", "Ignore", [PODS_CREATE]),
        ("gpu-pod-changes", "Ignore", [PODS_UPDATE]),
        ("bindings", "Ignore", [("", ("v1",), ("CREATE",), ("bindings", "pods/binding"))]),
        ("node-changes", "Fail", [("", ("v1",), ("UPDATE",), ("nodes", "nodes/status"))]),
    ],
)
def test_validating_hook(name: str, failure_policy: str, rules: list[tuple[object, ...]]) -> None:
    hook = hooks_of(registration().validating)[name]

    assert hook["failurePolicy"] == failure_policy
    assert rules_of(hook) == rules
    assert "reinvocationPolicy" not in hook


def test_only_offline_pods_and_switches_can_be_refused_for_our_absence() -> None:
    failing = [h["name"] for h in all_hooks(registration()) if h["failurePolicy"] == "Fail"]

    assert failing == [
        "offline-pods.mgpu-hybrid.io",
        "offline-pod-changes.mgpu-hybrid.io",
        "node-changes.mgpu-hybrid.io",
    ]


@pytest.mark.parametrize(
    ("switch", "value", "failure_policy"),
    [
        pytest.param(Action.DENY, Action.WARN, "Fail", id="default"),
        pytest.param(Action.WARN, Action.WARN, "Ignore", id="only warns"),
        pytest.param(Action.AUDIT, Action.OFF, "Ignore", id="only records"),
        pytest.param(Action.OFF, Action.WARN, "Ignore", id="only the value"),
        pytest.param(Action.OFF, Action.OFF, None, id="off"),
    ],
)
@pytest.mark.parametrize("server_minor", [UNCONDITIONAL, CONDITIONAL])
def test_switches_fail_where_the_policy_refuses_them(
    switch: Action, value: Action, failure_policy: str | None, server_minor: int
) -> None:
    actions = {**DEFAULT_ACTIONS, "node-mode-switch": switch, "node-mode-value": value}
    made = registration(Policy(actions=actions), server_minor=server_minor)
    hook = hooks_of(made.validating).get("node-changes")

    expected = "Ignore" if failure_policy and server_minor == UNCONDITIONAL else failure_policy
    assert (hook["failurePolicy"] if hook else None) == expected


@pytest.mark.parametrize("server_minor", [UNCONDITIONAL, CONDITIONAL])
def test_nodes_are_cluster_wide_and_no_namespace_is_left_out(server_minor: int) -> None:
    hook = hooks_of(registration(server_minor=server_minor).validating)["node-changes"]
    (rule,) = cast("list[dict[str, object]]", hook["rules"])

    assert rule["scope"] == "Cluster"
    assert hook["namespaceSelector"] == {}


def test_heartbeats_do_not_reach_us_on_servers_without_conditions() -> None:
    hook = hooks_of(registration(server_minor=UNCONDITIONAL).validating)["node-changes"]

    assert rules_of(hook) == [("", ("v1",), ("UPDATE",), ("nodes",))]


def test_checked_bindings_all_come() -> None:
    policy = Policy(check_bindings=True)
    hook = hooks_of(registration(policy).validating)["bindings"]

    assert "matchConditions" not in hook
    assert hook["failurePolicy"] == "Ignore"
    made, default = registration(policy), registration()
    for hooks in (made.validating, default.validating):
        cast("list[Hook]", hooks["webhooks"]).remove(hooks_of(hooks)["bindings"])
    assert made == default


@pytest.mark.parametrize("word", ["DELETE", "CONNECT", "resize", "ephemeralcontainers", "*/"])
@pytest.mark.parametrize("server_minor", [UNCONDITIONAL, CONDITIONAL])
def test_is_not_registered(word: str, server_minor: int) -> None:
    rules = [rules_of(hook) for hook in all_hooks(registration(server_minor=server_minor))]

    assert word not in str(rules)


def test_templates_of_all_builtin_kinds_are_validated() -> None:
    hook = hooks_of(registration().validating)["templates"]
    both = ("CREATE", "UPDATE")

    assert hook["failurePolicy"] == "Ignore"
    assert rules_of(hook) == [
        ("apps", ("*",), both, ("deployments", "statefulsets", "daemonsets", "replicasets")),
        ("", ("*",), both, ("replicationcontrollers", "podtemplates")),
        ("batch", ("*",), both, ("jobs", "cronjobs")),
    ]


def test_template_kind_of_the_policy_is_added_with_its_paths() -> None:
    kind = TemplateKind("batch.volcano.sh", "Job", ("spec.tasks[*].template",), "jobs")
    hook = hooks_of(registration(Policy(templates=(*BUILTIN_TEMPLATES, kind))).validating)[
        "templates"
    ]

    assert rules_of(hook)[-1][0::3] == ("batch.volcano.sh", ("jobs",))
    assert '"tasks" in object["spec"]' in condition_of(hook)


def test_template_kind_without_a_resource_is_for_files_only() -> None:
    kind = TemplateKind("example.com", "Paper", ("spec.sheet",))
    builtin_and_paper = Policy(templates=(*BUILTIN_TEMPLATES, kind))

    assert registration(builtin_and_paper) == registration()


@pytest.mark.parametrize("server_minor", [UNCONDITIONAL, CONDITIONAL])
def test_no_templates_no_hook(server_minor: int) -> None:
    made = registration(Policy(templates=()), server_minor=server_minor)

    assert "templates" not in hooks_of(made.validating)


@pytest.mark.parametrize("server_minor", [UNCONDITIONAL, CONDITIONAL])
@pytest.mark.parametrize(
    ("namespace", "left_out"),
    [
        ("mgpu-hybrid-system", ["kube-system", "mgpu-hybrid-system"]),
        ("kube-system", ["kube-system"]),
        ("gpu", ["gpu", "kube-system"]),
    ],
)
def test_only_our_namespace_and_kube_system_are_left_out(
    namespace: str, left_out: list[str], server_minor: int
) -> None:
    made = registration(Policy(webhook_namespace=namespace), server_minor=server_minor)

    for hook in all_hooks(made):
        if hook["name"] == "node-changes.mgpu-hybrid.io":
            continue
        assert hook["namespaceSelector"] == {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": left_out}
            ]
        }


def test_exemptions_do_not_show_in_the_registration() -> None:
    exempting = Policy(exemptions=(Exemption(("batch",)),))

    assert registration(exempting) == registration()


@pytest.mark.parametrize("action", list(Action))
def test_gpu_by_env_needs_all_pods(action: Action) -> None:
    policy = Policy(actions={**DEFAULT_ACTIONS, "gpu-by-env": action})
    hooks = hooks_of(registration(policy).validating)

    assert ("other-pods" in hooks) == (action is not Action.OFF)
    if action is not Action.OFF:
        assert rules_of(hooks["other-pods"]) == [PODS_CREATE]
        assert hooks["other-pods"]["failurePolicy"] == "Ignore"


def test_one_condition_each_named_like_its_hook() -> None:
    for hook in all_hooks(registration()):
        (condition,) = cast("list[dict[str, str]]", hook["matchConditions"])
        assert f"{condition['name']}.mgpu-hybrid.io" == hook["name"]


def test_conditions_use_no_syntax_that_1_28_lacks() -> None:
    for hook in all_hooks(registration()):
        assert "?." not in condition_of(hook)
        assert "[?" not in condition_of(hook)
        assert "orValue" not in condition_of(hook)


KEYS = Keys(
    qos_level="qos.example/level",
    mgpu_core="gpu.example/core",
    mgpu_memory="gpu.example/memory",
    reclaimed_mgpu_core="gpu.example/spare",
    whole_card=("gpu.example/card", "gpu.example/other-card"),
    compute_policy="gpu.example/policy",
    container_multiple_gpu="gpu.example/counts",
    assumed="gpu.example/assumed",
    gpu_index_prefix="gpu.example/index-",
    gpu_schedule="gpu.example/mode",
)
MGPU = {"gpu.example/core", "gpu.example/memory", "gpu.example/spare"}
OFFLINE = {*MGPU, "qos.example/level"}
GPU = {
    *OFFLINE,
    "gpu.example/card",
    "gpu.example/other-card",
    "deviceclass.resource.kubernetes.io/big.example",
}
GUARDED = {
    "qos.example/level",
    "gpu.example/policy",
    "gpu.example/counts",
    "gpu.example/assumed",
    "gpu.example/index-",
}


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("mgpu-pods", MGPU),
        ("offline-pods", OFFLINE),
        ("offline-pod-changes", OFFLINE | GUARDED),
        ("gpu-pods", GPU),
        ("gpu-pod-changes", GPU | GUARDED),
        ("templates", GPU - {"qos.example/level"}),
        ("bindings", GUARDED),
        ("node-changes", {"gpu.example/mode", "gpu.example/policy"}),
        ("other-pods", GPU - {"qos.example/level"}),
    ],
)
def test_names_in_the_conditions_are_the_policy_s(name: str, named: set[str]) -> None:
    policy = Policy(
        keys=KEYS,
        gpu_claims=GpuClaims(device_classes=("big.example",)),
        actions={**DEFAULT_ACTIONS, "gpu-by-env": Action.WARN},
    )
    made = registration(policy)
    condition = condition_of({**hooks_of(made.mutating), **hooks_of(made.validating)}[name])
    literals = set(condition.split('"')[1::2])

    assert {text for text in literals if "example" in text} == named
    assert "volcengine" not in condition
    assert "katalyst" not in condition


def test_odd_names_are_quoted() -> None:
    keys = Keys(qos_level='a"b\\c\né\U0001f600')
    condition = condition_of(hooks_of(registration(Policy(keys=keys)).validating)["offline-pods"])

    assert '"a\\"b\\\\c\\né\U0001f600" in object.metadata.annotations' in condition


@pytest.mark.parametrize("server_minor", [24, 26, UNCONDITIONAL])
def test_servers_before_1_28_get_no_conditions_and_only_ignore(server_minor: int) -> None:
    made = registration(server_minor=server_minor)

    for hook in all_hooks(made):
        assert "matchConditions" not in hook
        assert hook["failurePolicy"] == "Ignore"
    assert rules_of(hooks_of(made.mutating)["pods"]) == [PODS_CREATE]
    assert list(hooks_of(made.validating)) == ["pods", "templates", "bindings", "node-changes"]
    assert rules_of(hooks_of(made.validating)["pods"]) == [PODS_CREATE, PODS_UPDATE]


@pytest.mark.parametrize("server_minor", [CONDITIONAL, 30, 36])
def test_servers_from_1_28_get_the_same(server_minor: int) -> None:
    assert registration(server_minor=server_minor) == registration(server_minor=CONDITIONAL)


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(BY_URL, id="plain"),
        pytest.param(replace(BY_URL, url="https://127.0.0.1:8443/"), id="with a slash"),
    ],
)
def test_url_leads_to_the_path_of_each_configuration(client: ClientConfig) -> None:
    made = webhook_configurations(Policy(), client, server_minor=CONDITIONAL)

    for path, configuration in (("mutate", made.mutating), ("validate", made.validating)):
        for hook in hooks_of(configuration).values():
            assert hook["clientConfig"] == {
                "caBundle": "UEVN",
                "url": f"https://127.0.0.1:8443/{path}",
            }


def test_service_leads_to_the_path_of_each_configuration() -> None:
    made = webhook_configurations(Policy(), BY_SERVICE, server_minor=CONDITIONAL)

    for path, configuration in (("/mutate", made.mutating), ("/validate", made.validating)):
        for hook in hooks_of(configuration).values():
            service = {"namespace": "gpu", "name": "mgpu-hybrid", "path": path, "port": 8443}
            assert hook["clientConfig"] == {"caBundle": "UEVN", "service": service}


@pytest.mark.parametrize(
    ("url", "service"),
    [
        pytest.param(None, None, id="neither"),
        pytest.param("https://127.0.0.1:8443", ServiceReference("gpu", "mgpu"), id="both"),
    ],
)
def test_client_needs_exactly_one_address(
    url: str | None, service: ServiceReference | None
) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        ClientConfig(b"PEM", url=url, service=service)
