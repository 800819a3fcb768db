"""What is taken from the official client: its configuration, its authentication and its connection pool.

Its models and its informer are not: they would hold each node as a tree of objects. The package is
imported only when somebody connects, since that takes a second.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, cast

import urllib3
import yaml

from webhook.cluster.errors import ClusterSettingsError

USER_AGENT = "mgpu-hybrid"


@dataclass(frozen=True, slots=True)
class Transport:
    """Where the API server is and how to reach it. Safe for use from several threads."""

    url: str
    """Such as `https://10.0.0.1:443`, without a slash at its end."""
    pool: urllib3.PoolManager
    headers: Callable[[], dict[str, str]]
    """The headers of the next request, with a token that is still valid."""


def transport_of(kubeconfig: Path | None, context: str | None = None) -> Transport:
    """The way to the cluster of a kubeconfig, or to the one in which this process runs where it is None.

    Raises ClusterSettingsError.
    """
    client_package = import_module("kubernetes.client")
    config_package = import_module("kubernetes.config")
    configuration = client_package.Configuration()
    where = str(kubeconfig) if kubeconfig is not None else "the in-cluster configuration"
    try:
        if kubeconfig is None:
            config_package.load_incluster_config(client_configuration=configuration)
        else:
            config_package.load_kube_config(
                config_file=str(kubeconfig),
                context=context,
                client_configuration=configuration,
                persist_config=False,
            )
        client = client_package.ApiClient(configuration)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        # Without its cause, whose text quotes the file, which holds credentials.
        raise ClusterSettingsError(f"{where}{line}: is not YAML: {error.problem}") from None
    except (config_package.ConfigException, OSError, ValueError, TypeError) as error:
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
        return made

    return headers
