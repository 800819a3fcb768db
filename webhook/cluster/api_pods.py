"""Pods as the API server has them at this moment, for verdicts that no snapshot can give."""

from collections.abc import Callable, Sequence
from time import monotonic
from urllib.parse import quote

from policies.errors import MalformedError
from policies.raw import JsonObject, objects_at
from webhook.cluster.api import KubeApi
from webhook.cluster.errors import ClusterError, NotFoundError
from webhook.pod_lookup import PodsUnknownError

PODS = "/api/v1/pods"


class ApiPods:
    """The pods of the cluster that `connect` leads to. Serves several threads.

    The connection is made at the first question, and anew after a fault: by then a kubeconfig may hold
    another credential. Nothing is read from the API server's cache, where a pod that was just placed
    could be missing.
    """

    def __init__(self, connect: Callable[[], KubeApi]) -> None:
        self._connect = connect
        self._api: KubeApi | None = None

    def on_node(self, node_name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        """All pods on the node. Raises PodsUnknownError, also when not all came in time."""
        deadline = monotonic() + deadline_seconds
        query = {"fieldSelector": f"spec.nodeName={node_name}"}
        found: list[JsonObject] = []
        try:
            for page in self._connected().pages(PODS, query, timeout_seconds=deadline_seconds):
                found += objects_at(page, "items", "")
                if monotonic() > deadline:
                    raise PodsUnknownError(f"GET {PODS}: the pages did not end in time")
        except (ClusterError, MalformedError) as error:
            raise self._unknown(error) from error
        return found

    def named(self, namespace: str, name: str, deadline_seconds: float) -> Sequence[JsonObject]:
        """The pod of this name, or nothing. Raises PodsUnknownError."""
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}"
        try:
            return (self._connected().get(path, timeout_seconds=deadline_seconds),)
        except NotFoundError:
            return ()
        except ClusterError as error:
            raise self._unknown(error) from error

    def _connected(self) -> KubeApi:
        api = self._api
        if api is None:
            api = self._api = self._connect()
        return api

    def _unknown(self, error: ClusterError | MalformedError) -> PodsUnknownError:
        self._api = None
        return PodsUnknownError(str(error))
