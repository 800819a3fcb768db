"""Updates of Nodes and Bindings as reviews, and clusters that say which pods are there."""

import threading
from collections.abc import Sequence
from typing import cast

from policies.raw import JsonObject
from tests.builders import Object, Texts, node, online_pod
from tests.webhook.reviews import body
from webhook.pod_lookup import PodsUnknownError


def update(before: Texts, after: Texts, **fields: object) -> bytes:
    """A review of an UPDATE of the node gpu-1, whose labels are set or taken away from a good node's."""
    raw = node(labels=after)
    given = {
        "operation": "UPDATE",
        "oldObject": node(labels=before),
        "namespace": "",
        "name": "gpu-1",
    }
    return body(raw, **{**given, **fields})


def bind(pod: str = "app", to: object = "gpu-1", **fields: object) -> bytes:
    """A review of a Binding of the pod."""
    raw: Object = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod, "namespace": "jobs"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": to},
    }
    return body(raw, **{"name": pod, "subResource": "binding", **fields})


def running(raw: Object | None = None, phase: str = "Running") -> Object:
    """A pod that has been given a status."""
    return {**(raw or online_pod()), "status": {"phase": phase}}


class KnownPods:
    """A cluster with these pods, on whatever node; keeps what it was asked."""

    def __init__(self, *pods: Object) -> None:
        self.pods = pods
        self.asked: list[tuple[str, ...]] = []

    def on_node(self, node_name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        assert 0 <= deadline_seconds <= 3
        self.asked.append((node_name,))
        return self.pods

    def named(self, namespace: str, name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        assert 0 <= deadline_seconds <= 0.5
        self.asked.append((namespace, name))
        return [p for p in self.pods if cast("Object", p["metadata"])["name"] == name]


class NoPods:
    """A cluster that cannot be asked, for one reason or another."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error or PodsUnknownError("GET /api/v1/pods: the connection failed")

    def on_node(self, node_name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        del node_name, deadline_seconds
        raise self.error

    def named(self, namespace: str, name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        del namespace, name, deadline_seconds
        raise self.error


class SlowPods(KnownPods):
    """A cluster that answers only when the test lets it."""

    def __init__(self, *pods: Object) -> None:
        super().__init__(*pods)
        self.may_answer = threading.Event()

    def on_node(self, node_name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        found = super().on_node(node_name, deadline_seconds)
        self.may_answer.wait(30)
        return found
