"""What an admitted offline pod is in the cluster: the injection, and nothing else, is added to it.

Every pod is also sent in a dry run before the webhook is registered. What the API server makes of it
then, with its own defaults, is what the admitted pod is compared with.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import cast

import pytest
import yaml

from demo.server import RunningServer
from tests.builders import OFFLINE_ASKS, Object, affinity, container, expression
from tests.cluster.admission.manifests import offline, section, text
from tests.cluster.admission.registered_webhook import registered
from tests.cluster.kubectl import Kubectl

MARK = {"name": "MGPU_TASK_CLASS", "value": "offline"}
MODE = {"key": "vke.node.gpu.schedule", "operator": "In", "values": ["mgpu"]}
COMPUTE = {
    "key": "vke.volcengine.com/mgpu-compute-policy",
    "operator": "NotIn",
    "values": ["native-burst-share"],
}
ELIGIBLE = {
    "key": "mgpu-hybrid.node-restriction.kubernetes.io/eligible",
    "operator": "In",
    "values": ["true"],
}
INJECTED = [MODE, COMPUTE, ELIGIBLE]
TOLERATION = {"key": "mgpu-hybrid.io/reclaimed", "operator": "Exists", "effect": "NoSchedule"}
CLASS = {"mgpu-hybrid.io/class": "offline"}
BY_API_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")

POOL = expression("pool", "In", "serving-a")
HOST = {"key": "metadata.name", "operator": "In", "values": ["serving-a-1"]}
DATA_DIR = {"name": "DATA_DIR", "value": "$(MGPU_TASK_CLASS)/data"}
FROM_FIELD = {"name": "MGPU_TASK_CLASS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
ONLINE = {"name": "MGPU_TASK_CLASS", "value": "online"}


@dataclass(frozen=True, slots=True)
class Case:
    """A pod, and what then stands in the cluster; the environment is by container."""

    pod: Object
    env: Mapping[str, object] = field(default_factory=lambda: {"worker": [MARK]})
    terms: tuple[object, ...] = ({"matchExpressions": INJECTED},)
    labels: Mapping[str, str] = field(default_factory=lambda: CLASS)
    added_tolerations: tuple[object, ...] = (TOLERATION,)


CASES = {
    "plain": Case(offline("plain")),
    "limits-only": Case(
        offline("limits-only", container(resources={"limits": OFFLINE_ASKS})),
    ),
    "own-terms": Case(
        offline(
            "own-terms",
            affinity=affinity(
                {"matchExpressions": [POOL]},
                {"matchFields": [HOST]},
                {"matchExpressions": [MODE, POOL], "matchFields": [HOST]},
                {},
            ),
        ),
        terms=(
            {"matchExpressions": [POOL, *INJECTED]},
            {"matchExpressions": INJECTED, "matchFields": [HOST]},
            {"matchExpressions": [MODE, POOL, COMPUTE, ELIGIBLE], "matchFields": [HOST]},
            {},
        ),
    ),
    "own-env": Case(
        offline("own-env", container(OFFLINE_ASKS, env=[DATA_DIR])),
        env={"worker": [MARK, DATA_DIR]},
    ),
    "own-marks": Case(
        offline("own-marks", container(OFFLINE_ASKS, env=[FROM_FIELD, DATA_DIR, ONLINE])),
        env={"worker": [MARK, DATA_DIR, MARK]},
    ),
    "containers": Case(
        offline(
            "containers",
            container(OFFLINE_ASKS),
            container(name="logs", env=[ONLINE]),
            initContainers=[
                container(OFFLINE_ASKS, "fetch"),
                container(OFFLINE_ASKS, "side", restartPolicy="Always"),
                container(name="unpack"),
            ],
        ),
        env={"worker": [MARK], "logs": [ONLINE], "fetch": [MARK], "side": [MARK], "unpack": None},
    ),
    "own-labels": Case(
        offline(
            "own-labels",
            metadata={"labels": {"example.com/team": "x", "mgpu-hybrid.io/class": "online"}},
        ),
        labels={"example.com/team": "x", **CLASS},
    ),
    "tolerates-all": Case(
        offline("tolerates-all", tolerations=[{"operator": "Exists"}]),
        added_tolerations=(),
    ),
}


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
    for container in _containers(rest):
        container.pop("env", None)
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
