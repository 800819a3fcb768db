"""Pods and workloads under a name and without a namespace, to be given to kubectl."""

import json
from collections.abc import Mapping
from typing import cast

from tests.builders import (
    MGPU_MEMORY,
    OFFLINE_ASKS,
    QOS_LEVEL,
    RECLAIMED,
    Object,
    Texts,
    bare_offline_pod,
    container,
    pod,
    template_of,
)

MARKED = {QOS_LEVEL: "reclaimed_cores"}
SERVING = {"pool": "serving-a"}
"""A pool of demo/nodes.yaml all of whose nodes can be hybrid."""


def offline(
    name: str,
    *containers: Object,
    annotations: Texts | None = None,
    metadata: Mapping[str, object] | None = None,
    **spec: object,
) -> Object:
    """An offline pod as a user writes it, on the pool `serving-a` unless it selects another."""
    spec.setdefault("nodeSelector", SERVING)
    made = bare_offline_pod(*containers, annotations=annotations, metadata=metadata, **spec)
    return named(made, name)


def other(
    name: str, *containers: Object, annotations: Texts | None = None, **spec: object
) -> Object:
    """Any pod; without containers it asks no GPU."""
    return named(pod(*containers, annotations=annotations, metadata=None, **spec), name)


def unmarked(name: str, **metadata: object) -> Object:
    """A pod that asks reclaimed compute and does not say that it is offline: always refused."""
    made = pod(container(OFFLINE_ASKS), metadata=metadata, nodeSelector=SERVING)
    return named(made, name)


def without_memory(name: str) -> Object:
    """An offline pod that reserves no GPU memory: always refused."""
    return offline(name, container({RECLAIMED: "50"}))


def with_memory(memory_mib: str) -> Object:
    """A container of 50 percent reclaimed compute and so much memory."""
    return container({RECLAIMED: "50", MGPU_MEMORY: memory_mib})


def deployment(name: str, pod_manifest: Object) -> Object:
    """A Deployment whose template is this pod."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": labelled_template(name, pod_manifest),
        },
    }


def labelled_template(app: str, pod_manifest: Object) -> Object:
    """The pod as a template with the label that a selector asks for."""
    template = template_of(pod_manifest)
    annotations = section(template, "metadata").get("annotations", {})
    return {**template, "metadata": {"labels": {"app": app}, "annotations": annotations}}


def named(manifest: Object, name: str) -> Object:
    """The object under this name, in whatever namespace kubectl is told."""
    metadata = dict(section(manifest, "metadata"))
    metadata.pop("namespace", None)
    return {**manifest, "metadata": {**metadata, "name": name}}


def section(manifest: Mapping[str, object], *path: str) -> Object:
    """The object that stands at this path."""
    for step in path:
        manifest = cast("Object", manifest[step])
    return cast("Object", manifest)


def text(manifest: object) -> str:
    """The manifest for kubectl's standard input."""
    return json.dumps(manifest)
