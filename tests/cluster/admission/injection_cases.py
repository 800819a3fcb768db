"""Offline pods as users write them, and what then stands in the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.builders import OFFLINE_ASKS, Object, affinity, container, expression
from tests.cluster.admission.manifests import offline

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
