"""Every answer passes the checks that the API server makes of an AdmissionReview's response."""

import base64
import json
import re
from collections.abc import Mapping
from typing import cast

import jsonpatch
from hypothesis import given
from hypothesis import strategies as st

from policies.engine import decide, mutate
from policies.facts import Facts
from policies.pod import parse_pod
from policies.raw import object_at
from tests.properties.fields import Document
from tests.properties.injections import POLICIES
from tests.properties.patching import patched
from tests.properties.pods import pods
from webhook.respond import Answer, decided, mutated, render

POLICY_NAMES = st.sampled_from(sorted(POLICIES))
UIDS = st.uuids().map(str)
AUDIT_KEY = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
"""A name without a prefix: the API server puts the webhook's before it."""
CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")


def _response(answer: Answer, uid: str) -> Mapping[str, object]:
    review = json.loads(render(uid, answer))
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response = object_at(review, "response", "")
    assert response["uid"] == uid
    assert isinstance(response["allowed"], bool)
    assert ("patch" in response) == (response.get("patchType") == "JSONPatch")
    if not response["allowed"]:
        status = object_at(response, "status", "")
        assert status["code"] == 403
        assert status["message"]
    for warning in cast("list[str]", response.get("warnings", [])):
        assert 0 < len(warning) <= 120
        assert not CONTROL_CHARACTER.search(warning)
    for key, value in object_at(response, "auditAnnotations", "").items():
        assert AUDIT_KEY.fullmatch(key)
        assert isinstance(value, str)
    return response


@given(raw=pods(), policy=POLICY_NAMES, uid=UIDS, is_dry_run=st.booleans())
def test_the_answer_of_the_mutating_hook_is_taken_and_its_patch_applies(
    *, raw: Document, policy: str, uid: str, is_dry_run: bool
) -> None:
    document = json.loads(json.dumps(raw))
    mutation = mutate(parse_pod(document, POLICIES[policy]), POLICIES[policy])
    response = _response(mutated(mutation, "digest", is_dry_run=is_dry_run), uid)
    assert response["allowed"]
    assert ("patch" in response) == bool(mutation.changes)
    if "patch" in response:
        patch = json.loads(base64.b64decode(str(response["patch"]), validate=True))
        assert jsonpatch.apply_patch(document, patch) == patched(raw, POLICIES[policy])


@given(raw=pods(), policy=POLICY_NAMES, uid=UIDS, is_mutated=st.booleans())
def test_the_answer_of_the_validating_hook_is_taken_and_has_no_patch(
    *, raw: Document, policy: str, uid: str, is_mutated: bool
) -> None:
    judged = patched(raw, POLICIES[policy]) if is_mutated else raw
    decision = decide(Facts(parse_pod(judged, POLICIES[policy]), POLICIES[policy]))
    response = _response(decided([decision], "digest"), uid)
    assert "patch" not in response
    assert response["allowed"] == decision.allowed
    told = str(response.get("status", "")) + str(response.get("warnings", ""))
    for finding in decision.findings:
        assert f"[{finding.rule}]" in told
