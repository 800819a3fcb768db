"""Whether this process should get requests, and what is missing when not."""

from dataclasses import dataclass


@dataclass(slots=True)
class Readiness:
    """What is still missing, each a short reason or "" when it is there.

    Unready is only who cannot answer well: before the first sync, without a certificate or a policy, or
    stopping. `stale` never makes unready: all replicas would turn so together.
    """

    policy: str = "policy: not read yet"
    certificate: str = "serving certificate: not loaded yet"
    nodes: str = ""
    stopping: str = ""
    stale_policy: str = ""
    stale_nodes: str = ""
    stale_certificate: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Why the process is not ready; empty when it is."""
        all_of = (self.stopping, self.policy, self.certificate, self.nodes)
        return tuple(reason for reason in all_of if reason)

    @property
    def stale(self) -> tuple[str, ...]:
        """What is older than it should be though the process is ready."""
        all_of = (self.stale_policy, self.stale_nodes, self.stale_certificate)
        return tuple(reason for reason in all_of if reason)
