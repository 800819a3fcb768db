"""How one injection follows another: what is written when, and what still counts."""

from dataclasses import replace

import pytest

from policies.policy import EnvVar, Injection, Policy
from webhook.grace import Replaced, Succession, after_change, at


def policy(value: str, grace_seconds: int = 300) -> Policy:
    injection = Injection(env=(EnvVar("MGPU_TASK_CLASS", value),))
    return Policy(injection=injection, injection_grace_seconds=grace_seconds)


A, B, C = policy("a"), policy("b"), policy("c")
START = Succession(A.injection)


def changed(*steps: tuple[Policy, float]) -> Succession:
    """The succession after changes from A at these moments, looked at just before each."""
    succession, old = START, A
    for new, now in steps:
        succession = after_change(at(succession, old, now), old, new, now)
        old = new
    return succession


@pytest.mark.parametrize(
    ("now", "written", "accepted"),
    [
        pytest.param(100.0, A, (A,), id="at the change"),
        pytest.param(104.9, A, (A,), id="first half"),
        pytest.param(105.0, B, (A,), id="second half"),
        pytest.param(109.9, B, (A,), id="late replicas"),
        pytest.param(110.0, B, (), id="over"),
    ],
)
def test_the_old_is_written_for_half_the_grace_and_counts_for_all_of_it(
    now: float, written: Policy, accepted: tuple[Policy, ...]
) -> None:
    new = policy("b", grace_seconds=10)
    then = at(changed((new, 100.0)), new, now)
    assert then.injecting == written.injection
    assert then.accepted == tuple(p.injection for p in accepted)


def test_two_replicas_never_refuse_each_other() -> None:
    """One takes up the change up to half the grace later than the other."""
    new = policy("b", grace_seconds=300)
    for delay in (0.0, 1.0, 75.0, 149.0):
        early, late = changed((new, 0.0)), changed((new, delay))
        for now in range(0, 600, 7):
            first = at(early, new, now)
            knows = now >= delay
            second = at(late, new, now) if knows else START
            second_accepts = (*second.accepted, (new if knows else A).injection)
            assert first.injecting in second_accepts
            assert second.injecting in (*first.accepted, new.injection)


def test_a_change_that_injects_the_same_keeps_nothing() -> None:
    same = replace(A, show_node_names=False)
    succession = changed((same, 100.0))
    assert succession.kept == ()
    assert succession.injecting == A.injection


def test_no_grace_switches_at_once() -> None:
    new = policy("b", grace_seconds=0)
    then = at(changed((new, 5.0)), new, 5.0)
    assert (then.injecting, then.accepted) == (new.injection, ())


def test_a_change_in_the_first_half_of_another_goes_on_writing_the_oldest() -> None:
    succession = changed((B, 100.0), (C, 110.0))
    assert at(succession, C, 259.0).injecting == A.injection
    assert at(succession, C, 260.0).injecting == C.injection
    assert set(succession.kept) == {Replaced(A.injection, 410.0), Replaced(B.injection, 410.0)}


def test_several_changes_in_a_row_all_count() -> None:
    succession = changed((B, 100.0), (C, 300.0))
    assert succession.injecting == B.injection
    assert set(succession.kept) == {Replaced(A.injection, 400.0), Replaced(B.injection, 600.0)}


def test_going_back_leaves_out_what_is_in_force_again() -> None:
    assert changed((B, 100.0), (A, 300.0)).kept == (Replaced(B.injection, 600.0),)
