"""The names a serving certificate must be good for."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from certs.errors import ServingNamesError

SERVICE_NAME = "mgpu-hybrid-webhook"
"""The Service the API server calls; it asks for `<service>.<namespace>.svc` in the certificate."""

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

IPAddress = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class ServingNames:
    """DNS names (lower case, no final dot) and IP addresses, in the order they are written."""

    dns: tuple[str, ...]
    addresses: tuple[IPAddress, ...]

    def missing_from(self, other: "ServingNames") -> tuple[str, ...]:
        """The names of this value that `other` does not have, as text; empty when it covers all."""
        dns = [name for name in self.dns if name not in other.dns]
        addresses = [str(address) for address in self.addresses if address not in other.addresses]
        return (*dns, *addresses)


def webhook_names(namespace: str) -> ServingNames:
    """The names of the webhook's Service in `namespace`, and loopback for probes and tests.

    Raises ServingNamesError when `namespace` is not a DNS label of at most 63 characters
    (Kubernetes' own rule for the name of a Namespace).
    """
    if not _DNS_LABEL.fullmatch(namespace):
        raise ServingNamesError(
            f"{namespace!r} is not the name of a namespace",
            where="namespace",
            remedy="give a DNS label: 1 to 63 lower-case letters, digits and inner hyphens",
        )
    dns = (
        f"{SERVICE_NAME}.{namespace}.svc",
        f"{SERVICE_NAME}.{namespace}.svc.cluster.local",
        f"{SERVICE_NAME}.{namespace}",
        SERVICE_NAME,
        "localhost",
    )
    return ServingNames(dns=dns, addresses=(IPv4Address("127.0.0.1"), IPv6Address("::1")))
