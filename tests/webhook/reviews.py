"""AdmissionReviews as the API server sends them, and what came back, for the webhook's tests."""

import base64
from typing import cast

import jsonpatch
import orjson

from policies.policy import Policy
from tests.builders import Object
from webhook.review import Review, parse_review
from webhook.state import Snapshot

UID = "7f0b2891-916f-4ed6-b7cd-27bff1815a8c"
PLURALS = {"Pod": "pods", "Deployment": "deployments", "Binding": "pods", "Node": "nodes"}


def request(raw: Object | None, **fields: object) -> Object:
    """The request of a review about `raw`; `fields` replace or add what it says."""
    api_version = str((raw or {}).get("apiVersion", "v1"))
    group, _, version = api_version.rpartition("/")
    kind = str((raw or {}).get("kind", "Pod"))
    named = {"group": group, "version": version}
    return {
        "uid": UID,
        "kind": {**named, "kind": kind},
        "resource": {**named, "resource": PLURALS.get(kind, kind.lower())},
        "operation": "CREATE",
        "namespace": "jobs",
        "name": "app",
        "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
        "object": raw,
        **fields,
    }


def review(raw: Object | None, **fields: object) -> Object:
    """An admission.k8s.io/v1 AdmissionReview about `raw`."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request(raw, **fields),
    }


def body(raw: Object | None, **fields: object) -> bytes:
    """The bytes of that review."""
    return orjson.dumps(review(raw, **fields))


def parsed(raw: Object | None, **fields: object) -> Review:
    """That review as the webhook reads it."""
    return parse_review(body(raw, **fields))


def snapshot(policy: Policy | None = None) -> Snapshot:
    """A snapshot with this policy, without nodes and versions."""
    return Snapshot(policy or Policy())


def response(answer: bytes) -> Object:
    """The response in the bytes of a review."""
    return cast("Object", orjson.loads(answer)["response"])


def patched(raw: Object, answer: bytes) -> Object:
    """`raw` after the patch in the answer, applied by the library jsonpatch."""
    patch = orjson.loads(base64.b64decode(str(response(answer)["patch"])))
    return cast("Object", jsonpatch.apply_patch(raw, patch))
