"""An API server's side of admission, small: wrap an object in a review, call both hooks, apply the patch.

It talks HTTPS to a webhook whose certificate it verifies, as the API server does with `caBundle`.
"""

import base64
import http.client
import json
import ssl
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import jsonpatch

JsonObject = dict[str, object]
TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Admission:
    """What became of one object: the verdict, what was said, the patch and the object after it."""

    allowed: bool
    message: str
    warnings: tuple[str, ...]
    patch: tuple[JsonObject, ...]
    before: JsonObject
    after: JsonObject
    audit_annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AdmissionClient:
    """Calls the webhook at https://host:port; `ca_path` is the authority of its certificate."""

    host: str
    port: int
    ca_path: Path

    def create(self, manifest: JsonObject, *, is_dry_run: bool = False) -> Admission:
        """Admit a new object as the API server would: POST /mutate, apply, POST /validate.

        Raises OSError when the webhook cannot be reached and ValueError when an answer is none.
        """
        mutated = self.post("/mutate", review(manifest, is_dry_run=is_dry_run))
        patch = cast(
            "list[JsonObject]", json.loads(base64.b64decode(str(mutated.get("patch", "W10="))))
        )
        after = cast("JsonObject", jsonpatch.apply_patch(manifest, patch))
        verdict = self.post("/validate", review(after, is_dry_run=is_dry_run))
        status = cast("Mapping[str, str]", verdict.get("status") or {})
        warnings = [
            warning
            for answer in (mutated, verdict)
            for warning in cast("list[str]", answer.get("warnings") or [])
        ]
        return Admission(
            allowed=mutated["allowed"] is True and verdict["allowed"] is True,
            message=status.get("message", ""),
            warnings=tuple(warnings),
            patch=tuple(patch),
            before=manifest,
            after=after,
            audit_annotations=cast("Mapping[str, str]", verdict.get("auditAnnotations") or {}),
        )

    def post(self, path: str, body: JsonObject) -> JsonObject:
        """POST a review; the `response` of the answer, whose uid is checked."""
        context = ssl.create_default_context(cafile=str(self.ca_path))
        connection = http.client.HTTPSConnection(
            self.host, self.port, timeout=TIMEOUT_SECONDS, context=context
        )
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise ValueError(f"{path} answered {answer.status}: {text.strip()}")
        response = cast("JsonObject", json.loads(text)["response"])
        wanted = cast("JsonObject", body["request"])["uid"]
        if response["uid"] != wanted:
            raise ValueError(f"{path} answered for uid {response['uid']}, not {wanted}")
        return response


def review(
    manifest: JsonObject, operation: str = "CREATE", *, is_dry_run: bool = False
) -> JsonObject:
    """An AdmissionReview of the object, as the API server sends it."""
    group, _, version = str(manifest["apiVersion"]).rpartition("/")
    kind = str(manifest["kind"])
    metadata = cast("Mapping[str, str]", manifest.get("metadata") or {})
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": str(uuid.uuid4()),
            "kind": {"group": group, "version": version, "kind": kind},
            "resource": {"group": group, "version": version, "resource": f"{kind.lower()}s"},
            "namespace": metadata.get("namespace", "default"),
            "name": metadata.get("name", ""),
            "operation": operation,
            "userInfo": {"username": "demo"},
            "object": manifest,
            "oldObject": None,
            "dryRun": is_dry_run,
            "options": None,
        },
    }
