"""Manifests as people and clusters write them, taken apart into single Kubernetes objects.

A file holds one document or many; a document is an object, a List of objects, or an AdmissionReview
around one. Each object keeps where it came from, because every message names it: `pod.yaml:12` is the
file and the line, counted from 1, where the object itself begins (an entry of a List has its own
line). Nothing here decides: other kinds are passed on like pods.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policies.facts import Operation
from policies.manifest.manifest_error import ManifestError
from policies.manifest.manifest_text import Document, ManifestText
from policies.raw import JsonObject, type_name

REVIEW_GROUP = "admission.k8s.io"
REVIEW_VERSION = f"{REVIEW_GROUP}/v1"


@dataclass(frozen=True, slots=True)
class SourcedObject:
    """One object, where it stands, and what is known of the request that carries it."""

    raw: JsonObject
    file: str
    line: int
    text: ManifestText
    document_line: int
    place: str = ""
    """The object's path in its document, such as `items[3]` or `request.object`."""
    operation: Operation = Operation.CREATE
    old: JsonObject | None = None
    username: str | None = None
    """None where no AdmissionReview says it."""
    groups: tuple[str, ...] = ()
    review_namespace: str = ""
    subresource: str = ""

    @property
    def source(self) -> str:
        """`pod.yaml:12`."""
        return f"{self.file}:{self.line}"

    @property
    def kind(self) -> str:
        """The object's kind."""
        return str(self.raw.get("kind"))

    @property
    def api_version(self) -> str:
        """The object's apiVersion."""
        return str(self.raw.get("apiVersion"))

    @property
    def namespace(self) -> str:
        """The namespace of the request, or else that of the object, or else empty."""
        return self.review_namespace or _name(self.raw, "namespace")

    @property
    def name(self) -> str:
        """The object's name, or its generateName."""
        return _name(self.raw, "name") or _name(self.raw, "generateName")

    def malformed(self, path: str, message: str) -> ManifestError:
        """The error for a field of this object, with the field's line."""
        where = f"{self.place}.{path}" if self.place else path
        line = self.text.field_line(self.document_line, where)
        return ManifestError(self.file, max(line, self.line), f"{path}: {message}")


def objects_in(content: bytes, file: str) -> Iterator[SourcedObject]:
    """The objects of one file. Raises ManifestError at the first thing that is none."""
    text = ManifestText(content, file)
    is_empty = True
    for document in text.documents():
        is_empty = False
        yield from _objects(document, text, file)
    if is_empty:
        raise ManifestError(file, 1, "holds no Kubernetes object: it is empty")


def _objects(document: Document, text: ManifestText, file: str) -> Iterator[SourcedObject]:
    raw = _object(document.value, file, document.line)
    whole = SourcedObject(raw, file, document.line, text, document.line)
    if not _is_list(raw):
        yield _from_review(_typed(whole))
        return
    lines = document.item_lines("items")
    for index, item in enumerate(_items(whole)):
        line = lines[index] if index < len(lines) else document.line
        entry = replace(
            whole,
            raw=_with_type(_object(item, file, line), raw),
            line=line,
            place=f"items[{index}]",
        )
        yield _from_review(_typed(entry))


def _object(value: object, file: str, line: int) -> JsonObject:
    if not isinstance(value, dict):
        raise ManifestError(file, line, f"must be a Kubernetes object, is {type_name(value)}")
    return value


def _is_list(raw: JsonObject) -> bool:
    """`kind: List`, or a typed one such as PodList; some other kinds end in List and have no items."""
    kind = raw.get("kind")
    return isinstance(kind, str) and kind.endswith("List") and (kind == "List" or "items" in raw)


def _items(whole: SourcedObject) -> list[object]:
    items = whole.raw.get("items")
    if items is None:
        return []
    if not isinstance(items, list):
        raise whole.malformed("items", f"must be a list, is {type_name(items)}")
    return items


def _with_type(item: JsonObject, parent: JsonObject) -> JsonObject:
    """The entries of a PodList as the API server sends it name no kind: the list does."""
    kind = str(parent.get("kind")).removesuffix("List")
    if "kind" in item or not kind:
        return item
    return {"apiVersion": parent.get("apiVersion"), "kind": kind, **item}


def _typed(found: SourcedObject) -> SourcedObject:
    for key in ("apiVersion", "kind"):
        value = found.raw.get(key)
        if value is None or value == "":
            reason = f"has no {key}: not a Kubernetes object"
            raise ManifestError(found.file, found.line, reason)
        if not isinstance(value, str):
            raise found.malformed(key, f"must be a string, is {type_name(value)}")
    return found


def _from_review(found: SourcedObject) -> SourcedObject:
    """The object inside an AdmissionReview with its request; any other object as it is."""
    group, _, _ = found.api_version.partition("/")
    if found.kind != "AdmissionReview" or group != REVIEW_GROUP:
        return found
    if found.api_version != REVIEW_VERSION:
        reason = f"must be {REVIEW_VERSION}, the only version that the webhook answers"
        raise found.malformed("apiVersion", f"{reason}, is {found.api_version}")
    request = _part(found, found.raw, "request", "request")
    if request is None:
        raise found.malformed("request", "is missing: an AdmissionReview without one asks nothing")
    operation = _operation(found, request)
    old = _part(found, request, "oldObject", "request.oldObject")
    new = _part(found, request, "object", "request.object")
    inner, key = (old, "oldObject") if operation is Operation.DELETE else (new, "object")
    if inner is None:
        raise found.malformed(f"request.{key}", f"is missing: a {operation} has one")
    user = _part(found, request, "userInfo", "request.userInfo") or {}
    return _typed(
        replace(
            found,
            raw=inner,
            place=f"{found.place + '.' if found.place else ''}request.{key}",
            operation=operation,
            old=old if operation is Operation.UPDATE else None,
            username=_text(user, "username") or None,
            groups=_texts(user, "groups"),
            review_namespace=_text(request, "namespace"),
            subresource=_text(request, "subResource"),
        )
    )


def _operation(found: SourcedObject, request: JsonObject) -> Operation:
    try:
        return Operation(str(request.get("operation")))
    except ValueError as error:
        words = ", ".join(Operation)
        raise found.malformed("request.operation", f"must be one of {words}") from error


def _part(found: SourcedObject, parent: JsonObject, key: str, path: str) -> JsonObject | None:
    value = parent.get(key)
    if value is not None and not isinstance(value, dict):
        raise found.malformed(path, f"must be an object, is {type_name(value)}")
    return value


def _text(parent: JsonObject, key: str) -> str:
    value = parent.get(key)
    return value if isinstance(value, str) else ""


def _texts(parent: JsonObject, key: str) -> tuple[str, ...]:
    value = parent.get(key)
    entries = value if isinstance(value, list) else []
    return tuple(entry for entry in entries if isinstance(entry, str))


def _name(raw: JsonObject, key: str) -> str:
    metadata = raw.get("metadata")
    return _text(metadata, key) if isinstance(metadata, dict) else ""
