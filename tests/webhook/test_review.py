"""Bytes become a review, or a fault with or without a uid."""

import orjson
import pytest

from tests.builders import Object, pod
from tests.webhook.reviews import UID, body, parsed, request, review
from webhook.review import (
    GroupVersionKind,
    RequestError,
    ReviewError,
    parse_review,
)

REFUSED = {
    "empty": (b"", "not JSON"),
    "text": (b"hello", "not JSON"),
    "cut off": (body(pod())[:-1], "not JSON"),
    "NaN": (b'{"kind": NaN}', "not JSON"),
    "lone surrogate": (b'{"kind": "\\ud800"}', "not JSON"),
    "not UTF-8": (b'{"kind": "\xff"}', "not JSON"),
    "too deep": (b"[" * 2000 + b"]" * 2000, "not JSON"),
    "null": (b"null", "must be an AdmissionReview, it is null"),
    "list": (b"[]", "must be an AdmissionReview, it is a list"),
    "pod": (orjson.dumps(pod()), "kind must be AdmissionReview, it is 'Pod'"),
    "kind missing": (b"{}", "kind must be AdmissionReview, it is null"),
    "kind with line ends": (b'{"kind": "a\\nb"}', "it is 'a\\nb'"),
    "v1beta1": (
        orjson.dumps({**review(pod()), "apiVersion": "admission.k8s.io/v1beta1"}),
        "apiVersion must be admission.k8s.io/v1, it is 'admission.k8s.io/v1beta1'",
    ),
    "no request": (
        orjson.dumps({**review(pod()), "request": None}),
        "request of the AdmissionReview must be an object, it is null",
    ),
    "no uid": (body(pod(), uid=None), "request.uid of the AdmissionReview must be a string"),
    "empty uid": (body(pod(), uid=""), "request.uid of the AdmissionReview must be a string"),
    "uid is a number": (body(pod(), uid=1), "request.uid of the AdmissionReview must be a string"),
}


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_a_body_without_a_uid_to_answer_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ReviewError) as caught:
        parse_review(content)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


MALFORMED: dict[str, tuple[dict[str, object], str]] = {
    "object is a string": ({"object": "x"}, "request.object: must be an object"),
    "oldObject is a list": ({"oldObject": []}, "request.oldObject: must be an object"),
    "operation is a number": ({"operation": 1}, "request.operation: must be a string"),
    "kind is a string": ({"kind": "Pod"}, "request.kind: must be an object"),
    "kind.version is a number": (
        {"kind": {"version": 1}},
        "request.kind.version: must be a string",
    ),
    "dryRun is a string": ({"dryRun": "true"}, "request.dryRun: must be a boolean"),
    "userInfo is a list": ({"userInfo": []}, "request.userInfo: must be an object"),
    "a group is a number": ({"userInfo": {"groups": [1]}}, "request.userInfo.groups[0]: must be"),
    "namespace is a number": ({"namespace": 7}, "request.namespace: must be a string"),
}


@pytest.mark.parametrize(("fields", "message"), MALFORMED.values(), ids=MALFORMED)
def test_a_later_fault_keeps_the_uid(fields: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError) as caught:
        parsed(pod(), **fields)
    assert caught.value.uid == UID
    assert message in str(caught.value)


def test_every_field_that_decisions_need_is_read() -> None:
    raw, old = pod(), pod(metadata={"name": "old"})
    found = parsed(raw, oldObject=old, operation="UPDATE", subResource="status", dryRun=True)
    assert found.uid == UID
    assert found.kind == GroupVersionKind("", "v1", "Pod")
    assert (found.subresource, found.operation) == ("status", "UPDATE")
    assert (found.namespace, found.name) == ("jobs", "app")
    assert (found.username, found.groups) == ("alice", ("system:authenticated",))
    assert found.is_dry_run
    assert (found.object, found.old_object) == (raw, old)


def test_null_and_absent_fields_are_empty() -> None:
    found = parse_review(
        b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",'
        b' "request": {"uid": "u", "object": null, "dryRun": null}}'
    )
    assert (found.operation, found.namespace, found.username) == ("", "", "")
    assert (dict(found.object), found.groups, found.is_dry_run) == ({}, (), False)


def test_of_duplicate_keys_the_last_wins() -> None:
    inner = orjson.dumps(request(pod())).replace(b'{"uid":', b'{"uid":"first","uid":', 1)
    outer = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":%s}' % inner
    assert parse_review(outer).uid == UID


def test_fields_that_are_not_known_are_ignored() -> None:
    raw: Object = {**pod(), "status": {"x": [1, {"y": None}]}}
    assert parsed(raw, options={"kind": "CreateOptions"}, new=1).object == raw
