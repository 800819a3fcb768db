"""What an admitted offline pod is in the cluster: the injection, and nothing else, is added to it.

Every pod is also sent in a dry run before the webhook is registered. What the API server makes of it
then, with its own defaults, is what the admitted pod is compared with.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import cast

import pytest
import yaml

from demo.server import RunningServer
from tests.builders import Object
from tests.cluster.admission.injection_cases import CASES, CLASS
from tests.cluster.admission.manifests import offline, section, text
from tests.cluster.admission.registered_webhook import registered
from tests.cluster.kubectl import Kubectl

BY_API_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")

CONTROLLER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d8", "uid": "1-2-3"}
BY_CONTROLLER = {
    "generateName": "web-5d8-",
    "labels": {"app": "web", "pod-template-hash": "5d8"},
    "ownerReferences": [{**CONTROLLER, "controller": True, "blockOwnerDeletion": True}],
    "finalizers": ["example.com/tracking"],
}


@pytest.fixture(scope="module")
def without_webhook(module_kubectl: Kubectl) -> Mapping[str, Object]:
    """The pods as the API server alone would have created them, by name."""
    arguments = ("create", "--dry-run=server", "-o", "yaml", "-f", "-")
    printed = module_kubectl.succeed(*arguments, stdin=_list_of_pods()).out
    return {str(section(pod, "metadata")["name"]): pod for pod in yaml.safe_load_all(printed)}


@pytest.fixture(scope="module")
def admitted(
    module_kubectl: Kubectl, default_server: RunningServer, without_webhook: Mapping[str, Object]
) -> Iterator[Mapping[str, Object]]:
    """The pods as they stand in the cluster, by name."""
    assert without_webhook.keys() == CASES.keys()
    with registered(module_kubectl, default_server):
        module_kubectl.succeed("create", "-f", "-", stdin=_list_of_pods())
        yield {name: module_kubectl.read("get", "pod", name) for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_injection(admitted: Mapping[str, Object], name: str) -> None:
    pod, case = admitted[name], CASES[name]

    assert {c["name"]: c.get("env") for c in _containers(pod)} == case.env
    assert _terms(pod) == list(case.terms)
    assert section(pod, "metadata")["labels"] == case.labels


@pytest.mark.parametrize("name", CASES)
def test_toleration_comes_after_those_that_are_there(
    admitted: Mapping[str, Object], without_webhook: Mapping[str, Object], name: str
) -> None:
    before = _tolerations(without_webhook[name])

    assert _tolerations(admitted[name]) == [*before, *CASES[name].added_tolerations]


@pytest.mark.parametrize("name", CASES)
def test_nothing_else_differs(
    admitted: Mapping[str, Object], without_webhook: Mapping[str, Object], name: str
) -> None:
    assert _rest(admitted[name]) == _rest(without_webhook[name])


def test_pod_of_a_controller(admitted: Mapping[str, Object], module_kubectl: Kubectl) -> None:
    assert admitted
    manifest = offline("", metadata=BY_CONTROLLER)
    del section(manifest, "metadata")["name"]
    created = module_kubectl.succeed("create", "-o", "json", "-f", "-", stdin=text(manifest)).out
    metadata = section(json.loads(created), "metadata")

    assert str(metadata["name"]).startswith("web-5d8-")
    assert metadata["labels"] == {"app": "web", "pod-template-hash": "5d8", **CLASS}
    assert metadata["ownerReferences"] == BY_CONTROLLER["ownerReferences"]
    assert metadata["finalizers"] == BY_CONTROLLER["finalizers"]


def _rest(pod: Object) -> Object:
    """The pod without what the webhook may write and what differs with every creation."""
    rest = deepcopy(pod)
    for key in (*BY_API_SERVER, "labels"):
        section(rest, "metadata").pop(key, None)
    for key in ("affinity", "tolerations"):
        section(rest, "spec").pop(key, None)
    for each in _containers(rest):
        each.pop("env", None)
    return rest


def _containers(pod: Object) -> list[Object]:
    spec = section(pod, "spec")
    lists = (spec["containers"], spec.get("initContainers", []))
    return [c for containers in lists for c in cast("list[Object]", containers)]


def _tolerations(pod: Object) -> list[object]:
    return cast("list[object]", section(pod, "spec")["tolerations"])


def _terms(pod: Object) -> object:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return section(pod, "spec", "affinity", "nodeAffinity", required)["nodeSelectorTerms"]


def _list_of_pods() -> str:
    pods = [case.pod for case in CASES.values()]
    return text({"apiVersion": "v1", "kind": "List", "items": pods})
