"""What `--live` takes from a cluster: its nodes, its version, and what the claims that pods name ask for.

Imported only with `--live`: the client's libraries take longer to load than a file takes to judge.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from cli.claim import Claim
from cli.errors import UnusableError
from cli.output import tell
from cli.terminal import printable
from policies.errors import MalformedError
from policies.manifest.device_classes import device_classes_of
from policies.node import Inventory
from policies.pod import DeviceClasses
from policies.policy import Policy
from policies.raw import object_at, string_at
from webhook.cluster.api import KubeApi
from webhook.cluster.errors import ClusterError, ForbiddenError, GoneError, NotFoundError
from webhook.cluster.kubeconfig import kubeconfig_files
from webhook.cluster.node_store import NodeStore

NODES = "/api/v1/nodes"
CLAIMS_GROUP = "/apis/resource.k8s.io"
PAGE_SIZE = 250
MAX_LISTS = 3
"""Times that the nodes are listed, where pages grow too old while they are read."""
MAX_SHOWN = 5


class LiveCluster:
    """A cluster that is asked while the command runs. `where` says how it was found, for messages."""

    def __init__(self, api: KubeApi, where: str) -> None:
        self._api = api
        self._where = where

    def server_version(self) -> str:
        """The API server's gitVersion. Raises UnusableError."""
        try:
            return self._api.server_version()
        except ClusterError as error:
            raise _unusable(self._where, error) from error

    def inventory(self, policy: Policy) -> Inventory:
        """The nodes, each cut down to what decisions read. Raises UnusableError.

        A node that cannot be read is left out and told, as `serve` does it.
        """
        try:
            store = self._listed(policy)
        except (ClusterError, MalformedError) as error:
            raise _unusable(self._where, error) from error
        _note("nodes are left out, since they cannot be read", store.malformed)
        return store.inventory()

    def device_classes(self, claims: Iterable[Claim]) -> dict[str, DeviceClasses]:
        """What these claims ask for, by namespace. Raises UnusableError.

        What is not there or must not be read counts as no GPU, and is told.
        """
        known: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        unknown: dict[str, str] = {}
        version = ""
        for claim in sorted(claims):
            try:
                version = version or self._claims_version()
                found = self._api.get(_path(version, claim))
                kind = "ResourceClaimTemplate" if claim.is_template else "ResourceClaim"
                known[claim.namespace][claim.key] = device_classes_of({**found, "kind": kind})[1]
            except (NotFoundError, ForbiddenError, MalformedError) as error:
                unknown[str(claim)] = str(error)
            except ClusterError as error:
                raise _unusable(self._where, error) from error
        _note("resource claims count as no GPU, since what they ask for is unknown", unknown)
        return dict(known)

    def _listed(self, policy: Policy) -> NodeStore:
        for attempt in range(1, MAX_LISTS + 1):
            store = NodeStore(policy)
            try:
                for page in self._api.pages(NODES, page_size=PAGE_SIZE):
                    store.put_page(page)
            except GoneError:
                if attempt == MAX_LISTS:
                    raise
            else:
                break
        return store

    def _claims_version(self) -> str:
        """The version of the group that this server prefers, such as `v1`."""
        preferred = object_at(self._api.get(CLAIMS_GROUP), "preferredVersion", "")
        return string_at(preferred, "version", "preferredVersion")


def connect(kubeconfig: str | None, context: str | None) -> LiveCluster:
    """The cluster that kubectl would take with these flags, or the one around this pod.

    Raises UnusableError.
    """
    files = (Path(kubeconfig),) if kubeconfig else kubeconfig_files(os.environ)
    if not files and not os.environ.get("KUBERNETES_SERVICE_HOST"):
        raise UnusableError(_nowhere(os.environ))
    where = ", ".join(map(str, files)) or "in-cluster"
    try:
        return LiveCluster(KubeApi.connect(files or None, context), where)
    except ClusterError as error:
        raise UnusableError(printable(f"--live: {error}")) from error


def _nowhere(environment: Mapping[str, str]) -> str:
    listed = environment.get("KUBECONFIG", "")
    tried = f"no file of $KUBECONFIG ({listed})" if listed else "no ~/.kube/config"
    return printable(
        f"--live: no cluster to ask: {tried}, and not in a cluster; name a file with --kubeconfig"
    )


def _path(version: str, claim: Claim) -> str:
    plural = "resourceclaimtemplates" if claim.is_template else "resourceclaims"
    namespace, name = quote(claim.namespace, safe=""), quote(claim.name, safe="")
    return f"{CLAIMS_GROUP}/{version}/namespaces/{namespace}/{plural}/{name}"


def _unusable(where: str, error: Exception) -> UnusableError:
    return UnusableError(printable(f"--live ({where}): {error}"))


def _note(what: str, because: Mapping[str, str]) -> None:
    """One line on standard error about all of them, with the reason of the first."""
    if not because:
        return
    more = f" and {len(because) - MAX_SHOWN} more" if len(because) > MAX_SHOWN else ""
    names = ", ".join(list(because)[:MAX_SHOWN]) + more
    reason = next(iter(because.values()))
    tell(printable(f"note: {what}: {names} ({reason})"))
