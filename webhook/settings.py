"""What `serve` is told, as one value, so that a worker process can be handed all of it at once."""

from dataclasses import dataclass
from pathlib import Path

LEASE_NAMESPACE = "mgpu-hybrid-system"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The settings of the server. Port 0 means any free port; the log line at the start names it.

    Exactly one of `tls_dir` and `self_signed_dir` is given, and at most one of `nodes_path`, `kubeconfig` and
    `in_cluster`; `serve` refuses anything else. Without any of the three there is no inventory.
    """

    host: str = "127.0.0.1"
    port: int = 8443
    health_host: str = "127.0.0.1"
    health_port: int = 8081
    policy_path: Path | None = None
    """A HybridPolicy file, read again when it changes; None = the built-in policy."""
    nodes_path: Path | None = None
    """A file or directory of Node objects, read again when it changes."""
    kubeconfig: Path | None = None
    """Leads to the API server whose Nodes are watched."""
    in_cluster: bool = False
    """Watch the Nodes of the cluster in which the server runs."""
    nodes_stale_after_seconds: float = 60.0
    """Watched nodes count as stale when the API server was not heard for so long."""
    kubernetes_version: str | None = None
    """The API server's gitVersion, such as `v1.30.4-vke.3`; None = what the watched server says."""
    tls_dir: Path | None = None
    """A directory with `tls.crt` and `tls.key`, as a Secret is mounted."""
    self_signed_dir: Path | None = None
    """A directory in which a certificate authority and a serving certificate are made and kept."""
    workers: int = 1
    """Processes that share both ports."""
    controller: bool = True
    """Whether this server, where it watches nodes, may become the leader that labels them."""
    lease_namespace: str = LEASE_NAMESPACE
    """Where the Lease is by which the replicas agree on a leader."""

    @property
    def watches_nodes(self) -> bool:
        """Whether the nodes come from an API server."""
        return self.in_cluster or self.kubeconfig is not None

    @property
    def leads(self) -> bool:
        """Whether this server is a candidate."""
        return self.controller and self.watches_nodes
