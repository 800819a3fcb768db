"""What decisions are made with, swapped as a whole.

A request takes `current` once and keeps it: reloading replaces the reference, which is atomic, and
never changes a snapshot. So the request path neither locks nor waits nor reads a file.
"""

from dataclasses import dataclass, replace

from policies.node import Inventory
from policies.policy import Injection, Policy


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Policy, nodes and versions as they were read last.

    `inventory` and `cluster_version` are None where they are not known. `previous_injections` are those
    of policies that were in force until a moment ago and still count. `injecting` is what the mutating hook
    writes, None for the policy's own: for a while after a change it is still the old one.
    """

    policy: Policy
    inventory: Inventory | None = None
    cluster_version: str | None = None
    previous_injections: tuple[Injection, ...] = ()
    injecting: Injection | None = None

    @property
    def mutating_policy(self) -> Policy:
        """The policy with the injection that is written now."""
        if self.injecting is None:
            return self.policy
        return replace(self.policy, injection=self.injecting)


class State:
    """The place of the current snapshot; None until there is a valid policy."""

    __slots__ = ("current",)

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self.current = snapshot
