"""Inputs with the right answers, and the readers that make pods of them."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

HERE = Path(__file__).parent
NODES = HERE.parent.parent / "demo" / "nodes.yaml"
VERSION = "v1.28.15-vke.19"
MULTI_CARD = "vke.volcengine.com/container-multiple-gpu"

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class Case:
    """A pod and everything that is expected of it."""

    name: str
    pod: JsonObject
    deny: frozenset[str]
    warn: frozenset[str]
    pod_class: str
    is_mutated: bool


def admission_cases() -> list[Case]:
    """The cases of admission.yaml."""
    document = yaml.safe_load((HERE / "admission.yaml").read_text())
    return [_admission_case(document["pod"], entry) for entry in document["cases"]]


def request_cases() -> list[Case]:
    """The rows of mgpu_request.yaml, each as an online pod."""
    rows = yaml.safe_load((HERE / "mgpu_request.yaml").read_text())
    return [_request_case(index, row) for index, row in enumerate(rows)]


def _admission_case(good: JsonObject, entry: Mapping[str, object]) -> Case:
    pod = cast("JsonObject", merged(deepcopy(good), entry.get("change", {})))
    if "asks" in entry:
        spec = cast("dict[str, list[JsonObject]]", pod["spec"])
        spec["containers"][0]["resources"] = {"limits": entry["asks"], "requests": entry["asks"]}
    return Case(
        name=str(entry["name"]),
        pod=pod,
        deny=frozenset(cast("list[str]", entry.get("deny", []))),
        warn=frozenset(cast("list[str]", entry.get("warn", []))),
        pod_class=str(entry.get("class", "offline")),
        is_mutated=entry.get("mutated", True) is True,
    )


def _request_case(index: int, row: Mapping[str, object]) -> Case:
    containers = []
    for position, ask in enumerate(cast("list[str]", row["asks"])):
        core, _, memory = ask.partition("/")
        amounts = {"vke.volcengine.com/mgpu-core": core, "vke.volcengine.com/mgpu-memory": memory}
        asked = {key: value for key, value in amounts.items() if value != "."}
        resources = {"limits": asked, "requests": asked} if asked else {}
        containers.append({"name": f"c{position}", "image": "x", "resources": resources})
    counts = row["counts"]
    annotations = {} if counts is None else {MULTI_CARD: counts}
    pod: JsonObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"row-{index}", "namespace": "serving", "annotations": annotations},
        "spec": {"containers": containers},
    }
    asks_mgpu = any(container["resources"] for container in containers)
    return Case(
        name=f"counts {counts} asks {' '.join(cast('list[str]', row['asks']))}",
        pod=pod,
        deny=frozenset() if row["ok"] is True else frozenset({"mgpu-request"}),
        warn=frozenset(),
        pod_class="online" if asks_mgpu else "none",
        is_mutated=False,
    )


def merged(target: object, change: object) -> object:
    """The target after a JSON merge patch (RFC 7386)."""
    if not isinstance(change, dict):
        return change
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
