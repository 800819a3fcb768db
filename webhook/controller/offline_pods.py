"""The offline pods on a node that turns ineligible, and the event that names them."""

from collections.abc import Sequence
from datetime import datetime

from policies.errors import MalformedError
from policies.pod import PodClass, parse_pod
from policies.policy import Policy
from policies.raw import JsonObject, object_at, objects_at, string_at
from webhook.controller.lease import micro_time
from webhook.controller.object_api import ObjectApi

PODS = "/api/v1/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
"""Where events about objects without a namespace belong."""
SHOWN_PODS = 5
MAX_NOTE_BYTES = 1024
"""The API server's limit."""
REASON = "HybridIneligible"
REPORTER = "mgpu-hybrid.io/eligibility"


def offline_pods_on(api: ObjectApi, node_name: str, policy: Policy) -> list[str]:
    """`namespace/name` of the unfinished offline pods on a node, sorted. Raises ClusterError.

    The class is taken from what a pod asks, not from its label, which anybody may write.
    """
    selector = f"spec.nodeName={node_name},status.phase!=Succeeded,status.phase!=Failed"
    pages = api.pages(PODS, {"fieldSelector": selector})
    found = (_offline_name(raw, policy) for page in pages for raw in objects_at(page, "items", ""))
    return sorted(name for name in found if name)


def ineligible_event(
    node: JsonObject, because: Sequence[str], pods: Sequence[str], reporter: str, now: datetime
) -> JsonObject:
    """The event on a Node whose offline pods may be ended; `reporter` is who writes it."""
    metadata = object_at(node, "metadata", "")
    name = string_at(metadata, "name", "metadata")
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"generateName": f"{name[:200]}-", "namespace": "default"},
        "eventTime": micro_time(now),
        "reportingController": REPORTER,
        "reportingInstance": reporter[:128],
        "action": "Label",
        "reason": REASON,
        "type": "Warning",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Node",
            "name": name,
            "uid": string_at(metadata, "uid", "metadata"),
        },
        "note": _note(because, pods),
    }


def _note(because: Sequence[str], pods: Sequence[str]) -> str:
    more = f" and {len(pods) - SHOWN_PODS} more" if len(pods) > SHOWN_PODS else ""
    noun = "1 offline pod runs" if len(pods) == 1 else f"{len(pods)} offline pods run"
    text = (
        f"{noun} on this node, which is not eligible any more ({', '.join(because)}); the kubelet ends "
        f"them when it restarts. Mend the node or move them: {', '.join(pods[:SHOWN_PODS])}{more}"
    )
    if len(text.encode()) <= MAX_NOTE_BYTES:
        return text
    return text.encode()[: MAX_NOTE_BYTES - 3].decode(errors="ignore") + "..."


def _offline_name(raw: JsonObject, policy: Policy) -> str:
    try:
        pod = parse_pod(raw, policy)
    except MalformedError:
        return ""
    return f"{pod.namespace}/{pod.name}" if pod.pod_class is PodClass.OFFLINE else ""
