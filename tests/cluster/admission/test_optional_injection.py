"""What the policy may inject on top: classes whose derived fields the API server has filled in before.

Priority and overhead must fit their classes, or the API server refuses the pod: only a real one shows it.
"""

import json
from collections.abc import Iterator

import pytest

from tests.builders import Object
from tests.cluster.admission.manifests import offline, section, text
from tests.cluster.admission.messages import warnings
from tests.cluster.admission.registered_webhook import registered, serving
from tests.cluster.kubectl import Kubectl

POLICY = """
apiVersion: mgpu-hybrid.io/v1alpha1
kind: HybridPolicy
spec:
  injection:
    eligibility: notRefused
    priorityClassName: admission-offline
    runtimeClassName: admission-offline
    schedulerName: gpu-scheduler
    labels: {example.com/tier: batch}
    annotations: {example.com/owner: gpu-team}
    env:
      - {name: MGPU_TASK_CLASS, value: offline}
      - {name: MGPU_EMPTY, value: ""}
"""


def priority_class(name: str, value: int, preemption: str) -> Object:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": preemption,
    }


def runtime_class(name: str, cpu: str) -> Object:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": "runc",
        "overhead": {"podFixed": {"cpu": cpu}},
    }


CLASSES = (
    priority_class("admission-offline", -10, "Never"),
    priority_class("admission-own", 1000, "PreemptLowerPriority"),
    runtime_class("admission-offline", "10m"),
    runtime_class("admission-own", "20m"),
)


@pytest.fixture(scope="module")
def with_classes(
    module_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kubectl]:
    classes = text({"apiVersion": "v1", "kind": "List", "items": CLASSES})
    folder = tmp_path_factory.mktemp("optional") / "tls"
    try:
        module_kubectl.succeed("create", "-f", "-", stdin=classes)
        with (
            serving(folder, policy_text=POLICY) as server,
            registered(module_kubectl, server, policy_text=POLICY),
        ):
            yield module_kubectl
    finally:
        module_kubectl.succeed("delete", "--ignore-not-found", "-f", "-", stdin=classes)


@pytest.mark.parametrize(
    ("name", "own", "told"),
    [
        pytest.param("plain", {}, [], id="no classes of its own"),
        pytest.param(
            "own",
            {"priorityClassName": "admission-own", "runtimeClassName": "admission-own"},
            [
                'spec.priorityClassName was "admission-own", is now "admission-offline"',
                'spec.runtimeClassName was "admission-own", is now "admission-offline"',
            ],
            id="other classes",
        ),
        pytest.param(
            "same",
            {"priorityClassName": "admission-offline", "runtimeClassName": "admission-offline"},
            [],
            id="the same classes",
        ),
    ],
)
def test_classes_are_injected_with_what_derives_from_them(
    with_classes: Kubectl, name: str, own: Object, told: list[str]
) -> None:
    pod = offline(name, annotations=None, metadata=None, **own)
    done = with_classes.succeed("create", "-o", "json", "-f", "-", stdin=text(pod))
    created = json.loads(done.out)
    spec, metadata = section(created, "spec"), section(created, "metadata")

    assert warnings(done.err) == told
    assert (spec["priorityClassName"], spec["priority"]) == ("admission-offline", -10)
    assert spec["preemptionPolicy"] == "Never"
    assert (spec["runtimeClassName"], spec["overhead"]) == ("admission-offline", {"cpu": "10m"})
    assert spec["schedulerName"] == "gpu-scheduler"
    assert metadata["labels"] == {"example.com/tier": "batch", "mgpu-hybrid.io/class": "offline"}
    assert section(metadata, "annotations")["example.com/owner"] == "gpu-team"
    assert "'operator': 'NotIn', 'values': ['false']" in str(spec["affinity"])
    assert "[{'name': 'MGPU_TASK_CLASS', 'value': 'offline'}, {'name': 'MGPU_EMPTY'}]" in str(spec)
