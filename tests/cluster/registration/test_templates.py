"""Which workload objects a real API server shows to the webhook: those whose template asks for a GPU."""

import json
from collections.abc import Mapping

import pytest

from policies.policy import BUILTIN_TEMPLATES, Policy, TemplateKind
from tests.cluster.kubectl import Kubectl
from tests.cluster.registration.pod_shapes import (
    MARKED,
    OFFLINE_LIMITS,
    ONLINE_LIMITS,
    WHOLE_CARD,
    Object,
    container,
    list_of,
    named,
    pod,
)
from tests.cluster.registration.recording_webhook import (
    RecordingWebhook,
    failed_evaluations,
    registered,
)

NAMESPACE = "templates"
SHOWN = {"validate/templates"}
NOTHING: set[str] = set()
LABELS = {"app": "x"}
CUSTOM = TemplateKind("example.com", "Work", ("spec.tasks[*].template", "spec.main"), "works")
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "works.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Work", "plural": "works", "singular": "work"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}

PLAIN = pod(container(), metadata={"labels": LABELS})
ONLINE = pod(container(ONLINE_LIMITS), metadata={"labels": LABELS})
OFFLINE = pod(container(OFFLINE_LIMITS), annotations=MARKED, metadata={"labels": LABELS})
CARD = pod(container({WHOLE_CARD: "1"}), metadata={"labels": LABELS})


def template(manifest: Object, **spec: object) -> Object:
    inner = manifest["spec"]
    assert isinstance(inner, dict)
    return {"metadata": manifest["metadata"], "spec": {**inner, **spec}}


def workload(api_version: str, kind: str, **fields: object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {}, **fields}


def apps(kind: str, manifest: Object, **spec: object) -> Object:
    spec = {"selector": {"matchLabels": LABELS}, "template": template(manifest), **spec}
    return workload("apps/v1", kind, spec=spec)


def job(manifest: Object) -> Object:
    return {"template": template(manifest, restartPolicy="Never")}


def cron_job(manifest: Object) -> Object:
    spec = {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job(manifest)}}
    return workload("batch/v1", "CronJob", spec=spec)


def custom(spec: object) -> Object:
    return workload("example.com/v1", "Work", spec=spec)


CREATED: Mapping[str, tuple[Object, set[str]]] = {
    "deployment-plain": (apps("Deployment", PLAIN), NOTHING),
    "deployment-online": (apps("Deployment", ONLINE), SHOWN),
    "deployment-offline": (apps("Deployment", OFFLINE), SHOWN),
    "deployment-card": (apps("Deployment", CARD), SHOWN),
    "stateful-set": (apps("StatefulSet", ONLINE, serviceName="x"), SHOWN),
    "daemon-set": (apps("DaemonSet", ONLINE), SHOWN),
    "replica-set": (apps("ReplicaSet", ONLINE), SHOWN),
    "replica-set-plain": (apps("ReplicaSet", PLAIN), NOTHING),
    "job": (workload("batch/v1", "Job", spec=job(OFFLINE)), SHOWN),
    "job-plain": (workload("batch/v1", "Job", spec=job(PLAIN)), NOTHING),
    "cron-job": (cron_job(OFFLINE), SHOWN),
    "cron-job-plain": (cron_job(PLAIN), NOTHING),
    "controller": (
        workload(
            "v1", "ReplicationController", spec={"selector": LABELS, "template": template(ONLINE)}
        ),
        SHOWN,
    ),
    "pod-template": (workload("v1", "PodTemplate", template=template(ONLINE)), SHOWN),
    "custom-second-task": (
        custom({"tasks": [{"template": template(PLAIN)}, {"template": template(ONLINE)}]}),
        SHOWN,
    ),
    "custom-second-path": (custom({"tasks": [], "main": template(ONLINE)}), SHOWN),
    "custom-plain": (custom({"tasks": [{"template": template(PLAIN)}]}), NOTHING),
    "custom-path-above-a-wrong-type": (custom({"tasks": "a, b", "main": template(CARD)}), SHOWN),
    "custom-wrong-types": (custom({"tasks": {"a": 1}, "main": [1]}), NOTHING),
    "custom-nulls": (custom({"tasks": None, "main": None}), NOTHING),
    "custom-null-entry": (custom({"tasks": [None, {"template": None}, 7]}), NOTHING),
    "custom-null-spec": (custom(None), NOTHING),
    "custom-null-pod-spec": (custom({"main": {"spec": None}}), NOTHING),
    "custom-wrong-pod-spec": (custom({"main": {"spec": ["see above"]}}), NOTHING),
    "custom-no-pod-spec": (custom({"main": {}}), NOTHING),
    "custom-empty-pod": (custom({"main": {"spec": {"containers": None}}}), NOTHING),
}


@pytest.fixture(scope="module")
def after_creation(kubectl: Kubectl, webhook: RecordingWebhook) -> Mapping[str, set[str]]:
    """The hooks that were called per object, after all were created, then labelled and scaled."""
    kubectl.succeed("create", "namespace", NAMESPACE)
    kubectl.succeed("create", "-f", "-", stdin=json.dumps(CRD))
    kubectl.succeed("wait", "--for=condition=Established", "crd/works.example.com", "--timeout=30s")
    in_namespace = kubectl.in_namespace(NAMESPACE)
    objects = [named(manifest, name) for name, (manifest, _) in CREATED.items()]
    with registered(kubectl, webhook, policy=Policy(templates=(*BUILTIN_TEMPLATES, CUSTOM))):
        # kubectl itself would refuse the nulls.
        in_namespace.succeed("create", "--validate=false", "-f", "-", stdin=list_of(objects))
        in_namespace.succeed("label", "deployment", "--all", "tier=web")
        in_namespace.succeed("scale", "deployment", "--all", "--replicas=3")
        return {
            **{name: webhook.hooks_called("CREATE", name) for name in CREATED},
            **{f"changed {name}": webhook.hooks_called("UPDATE", name) for name in CREATED},
            "scaled": {call.hook for call in webhook.calls if "/scale" in call.resource},
        }


@pytest.mark.parametrize("name", CREATED)
def test_new_object_is_shown_to(after_creation: Mapping[str, set[str]], name: str) -> None:
    assert after_creation[name] == CREATED[name][1]


def test_changed_object_is_shown_by_its_template(after_creation: Mapping[str, set[str]]) -> None:
    assert after_creation["changed deployment-online"] == SHOWN
    assert after_creation["changed deployment-plain"] == NOTHING


def test_scaling_is_not_shown(after_creation: Mapping[str, set[str]]) -> None:
    assert after_creation["scaled"] == NOTHING


@pytest.mark.usefixtures("after_creation")
def test_no_expression_failed_or_ran_out_of_budget(kubectl: Kubectl) -> None:
    assert failed_evaluations(kubectl) == []
