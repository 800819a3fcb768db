"""What one decision on an offline pod costs with 10, 1,000 and 15,000 nodes, in one run.

The pod's required affinity has two terms; the keys it selects by have up to 64 values. A selector on host
names is measured beside it. Run: `python bench/decision_scale.py`. Exit 1 when 15,000 nodes cost more
than 1.5 times what 10 do.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable

from policies.engine import decide, mutate
from policies.facts import Facts
from policies.node import Inventory, inventory_of
from policies.patch import JsonValue
from policies.pod import Pod, parse_pod
from policies.policy import Policy
from policies.raw import JsonObject

POLICY = Policy()
VERSION = "v1.28.15-vke.19"
SIZES = (10, 1_000, 15_000)
LIMIT = 1.5
ROUNDS, CALLS = 15, 200
SHARES = ("guaranteed-burst-share", "fixed-share", "native-burst-share")


def node(number: int) -> JsonObject:
    """One of 64 pools in 8 zones, of three compute policies, with a host name of its own."""
    return {
        "metadata": {
            "name": f"node-{number}",
            "labels": {
                "kubernetes.io/hostname": f"node-{number}",
                "pool": f"pool-{number % 64}",
                "zone": f"zone-{number % 8}",
                "vke.node.gpu.schedule": "mgpu",
                "vke.volcengine.com/mgpu-compute-policy": SHARES[number % 3],
            },
            "annotations": {
                "mgpu-hybrid.io/driver-version": "0.07.35.23",
                "mgpu-hybrid.io/addon-version": "v0.6.0",
            },
        },
        "status": {
            "allocatable": {"vke.volcengine.com/mgpu-core": "800"},
            "nodeInfo": {"osImage": "veLinux 1.0", "kubeletVersion": VERSION},
        },
    }


def in_values(key: str, *values: str) -> JsonObject:
    """A node selector requirement."""
    return {"key": key, "operator": "In", "values": list(values)}


def pod(*terms: list[JsonObject]) -> Pod:
    """An offline pod as it is admitted, with these required terms."""
    asks = {
        "vke.volcengine.com/reclaimed-mgpu-core": "40",
        "vke.volcengine.com/mgpu-memory": "8192",
    }
    required = {"nodeSelectorTerms": [{"matchExpressions": [*term]} for term in terms]}
    raw: dict[str, JsonValue] = {
        "metadata": {
            "name": "p",
            "namespace": "n",
            "annotations": {"katalyst.kubewharf.io/qos_level": "reclaimed_cores"},
        },
        "spec": {
            "affinity": {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
            },
            "containers": [{"name": "c", "resources": {"limits": asks, "requests": asks}}],
        },
    }
    for change in mutate(parse_pod(raw, POLICY), POLICY).changes:
        _apply(raw, change.path, change.value)
    return parse_pod(raw, POLICY)


def _apply(raw: JsonValue, path: tuple[str, ...], value: JsonValue) -> None:
    """An `add` of RFC 6902, which is all that a fresh pod needs."""
    *parents, last = path
    for step in parents:
        raw = raw[int(step)] if isinstance(raw, list) else raw[step]  # type: ignore[index]
    if isinstance(raw, list):
        raw.append(value)
    elif isinstance(raw, dict):
        raw[last] = value


def microseconds(call: Callable[[], object]) -> float:
    """The processor time of one call, over many."""
    start = time.process_time_ns()
    for _ in range(CALLS):
        call()
    return (time.process_time_ns() - start) / CALLS / 1_000


def deciding(placed: Pod, inventory: Inventory) -> Callable[[], object]:
    """A decision about the pod, made once so that indexes are there."""
    facts = Facts(pod=placed, policy=POLICY, inventory=inventory, cluster_version=VERSION)
    decide(facts)
    return lambda: decide(facts)


def main() -> int:
    """Print a table and a line of JSON; 1 when the limit is passed."""
    pods = {
        "two terms": pod(
            [in_values("pool", "pool-1", "pool-2", "pool-7"), in_values("zone", "zone-1")],
            [in_values("pool", "pool-3")],
        ),
        "host name": pod([in_values("kubernetes.io/hostname", "node-3", "node-4")]),
    }
    inventories = {n: inventory_of([node(i) for i in range(n)], POLICY) for n in SIZES}
    calls = {(n, p): deciding(pods[p], inventories[n]) for p in pods for n in SIZES}
    # Sizes take turns in each round, so that a machine that slows down slows all of them.
    rounds = [{key: microseconds(call) for key, call in calls.items()} for _ in range(ROUNDS)]
    for kind in pods:
        for size in SIZES:
            cost = statistics.median(costs[size, kind] for costs in rounds)
            print(f"{kind}: {size:>6} nodes {cost:>8.1f} us")
    ratios = {
        kind: statistics.median(c[SIZES[-1], kind] / c[SIZES[0], kind] for c in rounds)
        for kind in pods
    }
    print(json.dumps({"ratio_of_15000_to_10_nodes": ratios, "limit": LIMIT}))
    return 1 if ratios["two terms"] > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
