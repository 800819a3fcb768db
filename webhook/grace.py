"""How one injection follows another while replicas and pods still hold the old one.

Replicas take up a changed policy at different moments, and a pod may be mutated by one and validated by
another. So a change has two halves. In the first half of `injectionGraceSeconds` the old injection is
still written and both are accepted, until every replica has the new policy; in the second the new one is
written, and what late replicas wrote is still accepted. Pure: the time is passed in, in seconds of any
steady clock.
"""

from dataclasses import dataclass

from policies.policy import Injection, Policy


@dataclass(frozen=True, slots=True)
class Replaced:
    """An injection that was in force, and until when it counts."""

    injection: Injection
    until_seconds: float


@dataclass(frozen=True, slots=True)
class Succession:
    """The injection that is written now, when the policy's own takes its place, and what still counts."""

    injecting: Injection
    switch_at_seconds: float = 0.0
    kept: tuple[Replaced, ...] = ()

    @property
    def accepted(self) -> tuple[Injection, ...]:
        """The injections that count besides the policy's own."""
        return tuple(replaced.injection for replaced in self.kept)


def after_change(
    succession: Succession, old: Policy, new: Policy, now_seconds: float
) -> Succession:
    """What holds when `new` takes the place of `old`; what is in force again is left out."""
    grace_seconds = new.injection_grace_seconds
    until = now_seconds + grace_seconds
    written = Replaced(succession.injecting, until)
    candidates = (*succession.kept, Replaced(old.injection, until), written)
    latest = {replaced.injection: replaced for replaced in candidates}
    kept = tuple(r for r in latest.values() if r.injection != new.injection)
    return Succession(succession.injecting, now_seconds + grace_seconds / 2, kept)


def at(succession: Succession, policy: Policy, now_seconds: float) -> Succession:
    """What holds at this moment under the policy in force."""
    is_due = now_seconds >= succession.switch_at_seconds
    return Succession(
        injecting=policy.injection if is_due else succession.injecting,
        switch_at_seconds=succession.switch_at_seconds,
        kept=tuple(r for r in succession.kept if r.until_seconds > now_seconds),
    )
