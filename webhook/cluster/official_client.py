"""What is taken from the official client: its configuration, its authentication and its connection pool.

Its models and its informer are not: they would hold each node as a tree of objects. The package is
imported only when somebody connects, since that takes a second.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, cast

import urllib3

from webhook.cluster.errors import ClusterSettingsError
from webhook.cluster.kubeconfig import merged_kubeconfig

USER_AGENT = "mgpu-hybrid"
Kubeconfig = Path | Sequence[Path] | None
"""A file, several that are merged as kubectl does it, or None for the cluster in which this process runs."""

UNUSABLE = (OSError, ValueError, TypeError, AttributeError, LookupError)
"""What the client raises for fields of a wrong type, and for files that are missing or no certificates."""


@dataclass(frozen=True, slots=True)
class Transport:
    """Where the API server is and how to reach it. Safe for use from several threads."""

    url: str
    """Such as `https://10.0.0.1:443`, without a slash at its end."""
    pool: urllib3.PoolManager
    headers: Callable[[], dict[str, str]]
    """The headers of the next request, with a token that is still valid."""


def transport_of(kubeconfig: Kubeconfig, context: str | None = None) -> Transport:
    """The way to the cluster of a kubeconfig, or to the one in which this process runs where it is None.

    Raises ClusterSettingsError.
    """
    files = (kubeconfig,) if isinstance(kubeconfig, Path) else kubeconfig
    where = ", ".join(map(str, files)) if files else "the in-cluster configuration"
    merged = merged_kubeconfig(files, context) if files else None
    client_package = import_module("kubernetes.client")
    config_package = import_module("kubernetes.config")
    configuration = client_package.Configuration()
    try:
        if merged is None:
            config_package.load_incluster_config(client_configuration=configuration)
        else:
            config_package.load_kube_config_from_dict(
                merged, client_configuration=configuration, persist_config=False
            )
        client = client_package.ApiClient(configuration)
    except (config_package.ConfigException, *UNUSABLE) as error:
        raise ClusterSettingsError(f"{where}: cannot be used: {error}") from error
    return Transport(
        url=str(configuration.host).rstrip("/"),
        pool=cast("urllib3.PoolManager", client.rest_client.pool_manager),
        headers=_headers_of(client),
    )


def _headers_of(client: Any) -> Callable[[], dict[str, str]]:  # noqa: ANN401 - imported late, untyped
    lock = Lock()  # reading a token file or running a credential plugin changes the configuration

    def headers() -> dict[str, str]:
        made = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        with lock:
            client.update_params_for_auth(made, [], ["BearerToken"], "", "", None)
        # A token's file ends with a line break.
        made = {name: value.strip() for name, value in made.items()}
        if not all(value.isascii() and value.isprintable() for value in made.values()):
            raise ClusterSettingsError(
                "the credential has characters that no HTTP header can carry"
            )
        return made

    return headers
