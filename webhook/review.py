"""An AdmissionReview as bytes becomes a value, without a model of the object in it.

Two faults are told apart. Where there is no uid, nothing could be answered that the API server would
accept: `ReviewError`, an HTTP 400. Where there is one, every later fault is an answer that carries it:
`RequestError`. Of duplicate keys the last wins, as in the API server's own decoder.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import orjson

from policies.errors import MalformedError
from policies.raw import JsonObject, list_at, object_at, string_at, type_name

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"


class ReviewError(ValueError):
    """The body is no AdmissionReview that can be answered; the message is one line for its sender."""


class RequestError(ValueError):
    """The request in the review has a field of a wrong type; `uid` is the one to answer with."""

    def __init__(self, uid: str, message: str) -> None:
        super().__init__(message)
        self.uid = uid


@dataclass(frozen=True, slots=True)
class GroupVersionKind:
    """A kind with its group ("" is the core group) and version."""

    group: str
    version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Review:
    """What the API server asks. Absent strings are "", an absent object is an empty mapping."""

    uid: str
    kind: GroupVersionKind
    subresource: str
    operation: str
    namespace: str
    name: str
    username: str
    groups: tuple[str, ...] = ()
    is_dry_run: bool = False
    object: JsonObject = field(default_factory=dict)
    old_object: JsonObject = field(default_factory=dict)


def parse_review(body: bytes) -> Review:
    """The request in an admission.k8s.io/v1 AdmissionReview.

    Raises ReviewError when there is no uid to answer, RequestError when a field of the request has a
    wrong JSON type. Source: k8s.io/api/admission/v1.
    """
    request = _request(body)
    uid = request.get("uid")
    if not isinstance(uid, str) or not uid:
        raise ReviewError("request.uid of the AdmissionReview must be a string that is not empty")
    try:
        return _review(uid, request)
    except MalformedError as error:
        raise RequestError(uid, f"the admission request cannot be read: {error}") from error


def _request(body: bytes) -> JsonObject:
    try:
        review = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ReviewError(f"the body is not JSON: {error}") from error
    if not isinstance(review, dict):
        raise ReviewError(f"the body must be an {KIND}, it is {type_name(review)}")
    if review.get("kind") != KIND:
        raise ReviewError(f"kind must be {KIND}, it is {_shown(review.get('kind'))}")
    if review.get("apiVersion") != API_VERSION:
        raise ReviewError(
            f"apiVersion must be {API_VERSION}, it is {_shown(review.get('apiVersion'))}"
        )
    request = review.get("request")
    if not isinstance(request, dict):
        raise ReviewError(f"request of the {KIND} must be an object, it is {type_name(request)}")
    return request


def _review(uid: str, request: JsonObject) -> Review:
    user = object_at(request, "userInfo", "request")
    return Review(
        uid=uid,
        kind=_kind(object_at(request, "kind", "request")),
        subresource=string_at(request, "subResource", "request"),
        operation=string_at(request, "operation", "request"),
        namespace=string_at(request, "namespace", "request"),
        name=string_at(request, "name", "request"),
        username=string_at(user, "username", "request.userInfo"),
        groups=_groups(list_at(user, "groups", "request.userInfo")),
        is_dry_run=_is_dry_run(request),
        object=object_at(request, "object", "request"),
        old_object=object_at(request, "oldObject", "request"),
    )


def _kind(kind: JsonObject) -> GroupVersionKind:
    return GroupVersionKind(
        group=string_at(kind, "group", "request.kind"),
        version=string_at(kind, "version", "request.kind"),
        kind=string_at(kind, "kind", "request.kind"),
    )


def _groups(groups: Sequence[object]) -> tuple[str, ...]:
    for index, group in enumerate(groups):
        if not isinstance(group, str):
            path = f"request.userInfo.groups[{index}]"
            raise MalformedError(path, f"must be a string, is {type_name(group)}")
    return tuple(cast("Sequence[str]", groups))


def _is_dry_run(request: JsonObject) -> bool:
    value = request.get("dryRun")
    if value is None or isinstance(value, bool):
        return bool(value)
    raise MalformedError("request.dryRun", f"must be a boolean, is {type_name(value)}")


def _shown(value: object) -> str:
    """A short form of a value of any type, on one line."""
    return ascii(value[:80]) if isinstance(value, str) else type_name(value)
