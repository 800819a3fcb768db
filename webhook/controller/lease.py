"""The record of a leader election in a Lease.

Fields and meaning are client-go's, so that `kubectl get lease` and other tools read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from policies.raw import JsonObject, object_at, string_at


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """Who leads. Two records are equal only if nobody renewed in between."""

    holder: str
    """The leader's identity; empty when it released the lease."""
    duration_seconds: int
    """How long others wait after they last saw the record change."""
    acquire_time: str
    renew_time: str
    transitions: int

    def held_by(self, identity: str, duration_seconds: int, time: str) -> "LeaseRecord":
        """The record after this candidate renewed it or took it over."""
        is_ours = self.holder == identity
        return LeaseRecord(
            holder=identity,
            duration_seconds=duration_seconds,
            acquire_time=self.acquire_time if is_ours else time,
            renew_time=time,
            transitions=self.transitions if is_ours else self.transitions + 1,
        )

    def released(self, time: str) -> "LeaseRecord":
        """The record after its holder let go: anybody may take it at once."""
        return LeaseRecord("", 1, time, time, self.transitions)

    def spec(self) -> JsonObject:
        """As it stands in the object."""
        return {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.duration_seconds,
            "acquireTime": self.acquire_time,
            "renewTime": self.renew_time,
            "leaseTransitions": self.transitions,
        }


def record_of(lease: JsonObject) -> LeaseRecord:
    """The record in a Lease; absent fields are empty, as in a Lease that somebody made by hand.

    Raises MalformedError when a field has a wrong JSON type.
    """
    spec = object_at(lease, "spec", "")
    return LeaseRecord(
        holder=string_at(spec, "holderIdentity", "spec"),
        duration_seconds=_whole(spec, "leaseDurationSeconds"),
        acquire_time=string_at(spec, "acquireTime", "spec"),
        renew_time=string_at(spec, "renewTime", "spec"),
        transitions=_whole(spec, "leaseTransitions"),
    )


def new_lease(name: str, record: LeaseRecord) -> JsonObject:
    """A Lease that does not exist yet."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": record.spec(),
    }


def changed_lease(lease: Mapping[str, object], record: LeaseRecord) -> JsonObject:
    """The same Lease, of the same resourceVersion, with another record; other fields stay."""
    return {**lease, "spec": {**object_at(lease, "spec", ""), **record.spec()}}


def micro_time(moment: datetime) -> str:
    """A moment as Kubernetes' MicroTime, such as `2026-11-30T12:00:00.000000Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _whole(spec: JsonObject, key: str) -> int:
    value = spec.get(key)
    return value if isinstance(value, int) and value > 0 else 0
