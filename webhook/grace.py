"""Injections that still count after the policy changed.

A pod that another replica, or this one a moment ago, mutated under the old policy must not be refused
for it. Pure: the time is passed in, in seconds of any steady clock.
"""

from dataclasses import dataclass

from policies.policy import Injection, Policy


@dataclass(frozen=True, slots=True)
class Replaced:
    """An injection that was in force, and until when it counts."""

    injection: Injection
    until_seconds: float


def after_change(
    kept: tuple[Replaced, ...], old: Policy, new: Policy, now_seconds: float
) -> tuple[Replaced, ...]:
    """What still counts when `new` takes the place of `old`; what is in force again is left out."""
    until = now_seconds + new.injection_grace_seconds
    candidates = (*kept, Replaced(old.injection, until))
    latest = {replaced.injection: replaced for replaced in candidates}
    return tuple(r for r in latest.values() if r.injection != new.injection)


def still_counting(kept: tuple[Replaced, ...], now_seconds: float) -> tuple[Replaced, ...]:
    """The part of `kept` whose time is not over."""
    return tuple(replaced for replaced in kept if replaced.until_seconds > now_seconds)
