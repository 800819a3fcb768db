"""What the controller asks of the API server, so that its tests can do without one."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from policies.raw import JsonObject


class ObjectApi(Protocol):
    """The part of `webhook.cluster.api.KubeApi` that is needed, with its words and its errors."""

    def get(self, path: str) -> JsonObject:
        """The object at `path`. Raises ClusterError."""
        ...

    def pages(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[JsonObject]:
        """The list at `path`, page by page. Raises ClusterError."""
        ...

    def patch(self, path: str, body: object, content_type: str) -> JsonObject:
        """Change the object at `path` and return it. Raises ClusterError."""
        ...

    def create(self, path: str, body: JsonObject) -> JsonObject:
        """Create an object in the collection at `path` and return it. Raises ClusterError."""
        ...

    def replace(self, path: str, body: JsonObject) -> JsonObject:
        """Replace the object at `path`; its resourceVersion makes a ConflictError of a lost race."""
        ...
