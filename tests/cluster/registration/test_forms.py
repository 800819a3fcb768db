"""The registration that other policies and older servers get, accepted and used by a real API server."""

import json
from dataclasses import replace

from policies.policy import DEFAULT_ACTIONS, Action, Keys, Policy
from tests.builders import node
from tests.cluster.conftest import CreateNode
from tests.cluster.kubectl import Kubectl
from tests.cluster.nodes import set_node_status
from tests.cluster.registration.pod_shapes import (
    MARKED,
    OFFLINE_LIMITS,
    ONLINE_LIMITS,
    WHOLE_CARD,
    container,
    list_of,
    named,
    pod,
)
from tests.cluster.registration.recording_webhook import (
    GPU,
    NOTHING,
    OFFLINE,
    ONLINE,
    RecordingWebhook,
    registered,
)


def test_api_server_adds_nothing_to_the_registration(
    kubectl: Kubectl, webhook: RecordingWebhook
) -> None:
    with registered(kubectl, webhook) as sent:
        for configuration in (sent.mutating, sent.validating):
            stored = kubectl.read("get", str(configuration["kind"]), "mgpu-hybrid")
            assert stored["webhooks"] == configuration["webhooks"]


def test_pods_in_left_out_namespaces_are_not_shown(
    kubectl: Kubectl, webhook: RecordingWebhook, namespace: str
) -> None:
    kubectl.succeed("create", "namespace", "own-namespace")
    offline = json.dumps(named(pod(container(OFFLINE_LIMITS)), "anywhere"))
    with registered(kubectl, webhook, policy=replace(Policy(), webhook_namespace="own-namespace")):
        for left_out in ("own-namespace", "kube-system"):
            kubectl.in_namespace(left_out).succeed("create", "-f", "-", stdin=offline)
            assert webhook.hooks_called("CREATE", "anywhere") == NOTHING
        kubectl.in_namespace(namespace).succeed("create", "-f", "-", stdin=offline)
        assert webhook.hooks_called("CREATE", "anywhere") == OFFLINE


def test_names_come_from_the_policy(
    kubectl: Kubectl, webhook: RecordingWebhook, namespace: str
) -> None:
    keys = Keys(
        qos_level="qos.example/level",
        mgpu_core="gpu.example/core",
        mgpu_memory="gpu.example/memory",
        reclaimed_mgpu_core="gpu.example/spare",
        whole_card=("gpu.example/card",),
    )
    marked = {"qos.example/level": "reclaimed_cores"}
    shapes = {
        "renamed-offline": (pod(container({"gpu.example/spare": "1"})), OFFLINE),
        "renamed-marked": (pod(container({"gpu.example/core": "1"}), annotations=marked), OFFLINE),
        "renamed-online": (pod(container({"gpu.example/memory": "1"})), ONLINE),
        "renamed-card": (pod(container({"gpu.example/card": "1"})), GPU),
        "old-names": (pod(container({**OFFLINE_LIMITS, WHOLE_CARD: "1"})), NOTHING),
        "old-mark": (pod(container({"gpu.example/core": "1"}), annotations=MARKED), ONLINE),
    }
    pods = [named(manifest, name) for name, (manifest, _) in shapes.items()]
    with registered(kubectl, webhook, policy=Policy(keys=keys)):
        kubectl.in_namespace(namespace).succeed("create", "-f", "-", stdin=list_of(pods))
        called = {name: webhook.hooks_called("CREATE", name) for name in shapes}

    assert called == {name: hooks for name, (_, hooks) in shapes.items()}


def test_gpu_by_env_widens_the_registration_to_all_pods(
    kubectl: Kubectl, webhook: RecordingWebhook, namespace: str
) -> None:
    shapes = {
        "env-none": (pod(), {"validate/other-pods"}),
        "env-online": (pod(container(ONLINE_LIMITS)), ONLINE),
        "env-card": (pod(container({WHOLE_CARD: "1"})), GPU),
    }
    pods = [named(manifest, name) for name, (manifest, _) in shapes.items()]
    policy = Policy(actions={**DEFAULT_ACTIONS, "gpu-by-env": Action.WARN})
    with registered(kubectl, webhook, policy=policy):
        kubectl.in_namespace(namespace).succeed("create", "-f", "-", stdin=list_of(pods))
        called = {name: webhook.hooks_called("CREATE", name) for name in shapes}

    assert called == {name: hooks for name, (_, hooks) in shapes.items()}


def test_form_for_older_servers_asks_about_every_pod(
    kubectl: Kubectl, webhook: RecordingWebhook, namespace: str
) -> None:
    in_namespace = kubectl.in_namespace(namespace)
    with registered(kubectl, webhook, server_minor=26):
        in_namespace.succeed("create", "-f", "-", stdin=json.dumps(named(pod(), "older")))
        in_namespace.succeed("label", "pod", "older", "tier=web")

        assert webhook.hooks_called("CREATE", "older") == {"mutate/pods", "validate/pods"}
        assert webhook.hooks_called("UPDATE", "older") == {"validate/pods"}


def test_form_for_older_servers_is_not_shown_heartbeats(
    kubectl: Kubectl, webhook: RecordingWebhook, add_node: CreateNode
) -> None:
    name = add_node(node("older-node"))
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    with registered(kubectl, webhook, server_minor=26):
        set_node_status(kubectl, name, {"conditions": [ready]})
        assert webhook.hooks_called("UPDATE", name) == NOTHING

        kubectl.succeed("label", "node", name, "team=x")
        assert webhook.hooks_called("UPDATE", name) == {"validate/node-changes"}


def test_checked_bindings_are_all_shown(
    kubectl: Kubectl, webhook: RecordingWebhook, namespace: str
) -> None:
    in_namespace = kubectl.in_namespace(namespace)
    in_namespace.succeed("create", "-f", "-", stdin=json.dumps(named(pod(), "plain")))
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "plain"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "some-node"},
    }
    url = f"--raw=/api/v1/namespaces/{namespace}/pods/plain/binding"
    with registered(kubectl, webhook, policy=Policy(check_bindings=True)):
        in_namespace.succeed("create", url, "-f", "-", stdin=json.dumps(binding))

        assert webhook.hooks_called("CREATE", "plain") == {"validate/bindings"}
