"""Objects in memory behind the methods that the controller uses; a contract holds it to the real ones."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import cast

from policies.raw import JsonObject
from tests.builders import Object
from webhook.cluster.errors import ClusterError, status_error

Fault = Callable[[str, str], ClusterError | None]
"""Method and path to the error of that request, None for a proper answer."""


class FakeApi:
    """Every collection is empty at first, and any may be written."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.sent: list[tuple[str, str]] = []
        """Method and path of each change that was asked for."""
        self.fault: Fault = lambda _method, _path: None
        self.before: Callable[[str, str], None] = lambda _method, _path: None
        """Called before each request, for what happens meanwhile."""
        self._revision = 0

    def get(self, path: str) -> JsonObject:
        self._begin("GET", path)
        return deepcopy(self._found("GET", path))

    def pages(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[JsonObject]:
        self._begin("GET", path)
        found = [raw for where, raw in sorted(self.objects.items()) if _is_in(where, path)]
        yield {"items": [deepcopy(raw) for raw in found if _is_selected(raw, query or {})]}

    def patch(self, path: str, body: object, content_type: str) -> JsonObject:
        assert content_type == "application/merge-patch+json"
        self._begin("PATCH", path)
        old = self._found("PATCH", path)
        return self._put(path, cast("Object", _merged(old, body)))

    def create(self, path: str, body: JsonObject) -> JsonObject:
        self._begin("POST", path)
        raw = cast("Object", deepcopy(body))
        metadata = _metadata(raw)
        self._revision += 1
        if "generateName" in metadata:
            metadata["name"] = f"{metadata['generateName']}{self._revision:05}"
        where = f"{path}/{metadata['name']}"
        if where in self.objects:
            raise status_error(f"POST {path}", 409, {"reason": "AlreadyExists"})
        metadata["uid"] = f"uid-{self._revision}"
        return self._put(where, raw)

    def replace(self, path: str, body: JsonObject) -> JsonObject:
        self._begin("PUT", path)
        old = _metadata(self._found("PUT", path))["resourceVersion"]
        raw = cast("Object", deepcopy(body))
        if _metadata(raw).get("resourceVersion", old) != old:
            raise status_error(f"PUT {path}", 409, {"reason": "Conflict"})
        return self._put(path, raw)

    def writes(self, method: str = "PATCH") -> list[str]:
        """The paths of the changes so far, and forget them."""
        found = [path for sent, path in self.sent if sent == method]
        self.sent.clear()
        return found

    def _begin(self, method: str, path: str) -> None:
        self.before(method, path)
        if method != "GET":
            self.sent.append((method, path))
        error = self.fault(method, path)
        if error is not None:
            raise error

    def _found(self, method: str, path: str) -> Object:
        if path not in self.objects:
            raise status_error(f"{method} {path}", 404, {"reason": "NotFound"})
        return self.objects[path]

    def _put(self, path: str, raw: Object) -> JsonObject:
        if raw != self.objects.get(path):
            self._revision += 1
            _metadata(raw)["resourceVersion"] = str(self._revision)
            self.objects[path] = raw
        return deepcopy(self.objects[path])


def _metadata(raw: Object) -> Object:
    return cast("Object", raw.setdefault("metadata", {}))


def _is_in(where: str, path: str) -> bool:
    """Whether an object belongs to a collection, or to the same of all namespaces."""
    parts = where.split("/")
    everywhere = (
        [*parts[: parts.index("namespaces")], *parts[-2:]] if "namespaces" in parts else parts
    )
    return path in ("/".join(parts[:-1]), "/".join(everywhere[:-1]))


def _is_selected(raw: Object, query: Mapping[str, str]) -> bool:
    labels = cast("Mapping[str, str]", _metadata(raw).get("labels", {}))
    key, _, value = query.get("labelSelector", "").partition("=")
    if key and labels.get(key) != value:
        return False
    terms = [term for term in query.get("fieldSelector", "").split(",") if term]
    return all(_field_matches(raw, term) for term in terms)


def _field_matches(raw: Object, term: str) -> bool:
    field, _, value = term.partition("=")
    group, _, key = field.rstrip("!").partition(".")
    found = cast("Mapping[str, str]", raw.get(group, {})).get(key, "")
    return (found != value) if field.endswith("!") else (found == value)


def _merged(target: object, patch: object) -> object:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result
