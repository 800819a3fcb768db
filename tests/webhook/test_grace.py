"""Which injections still count after the policy changed."""

from dataclasses import replace

from policies.policy import EnvVar, Injection, Policy
from webhook.grace import Replaced, after_change, still_counting


def policy(value: str, grace_seconds: int = 300) -> Policy:
    injection = Injection(env=(EnvVar("MGPU_TASK_CLASS", value),))
    return Policy(injection=injection, injection_grace_seconds=grace_seconds)


A, B, C = policy("a"), policy("b"), policy("c")


def test_the_old_injection_counts_for_the_grace_of_the_new_policy() -> None:
    kept = after_change((), A, policy("b", grace_seconds=10), 100.0)
    assert kept == (Replaced(A.injection, 110.0),)
    assert still_counting(kept, 109.9) == kept
    assert still_counting(kept, 110.0) == ()


def test_a_change_that_injects_the_same_keeps_nothing() -> None:
    assert after_change((), A, replace(A, show_node_names=False), 100.0) == ()


def test_several_changes_in_a_row_all_count() -> None:
    kept = after_change(after_change((), A, B, 100.0), B, C, 200.0)
    assert kept == (Replaced(A.injection, 400.0), Replaced(B.injection, 500.0))


def test_going_back_leaves_out_what_is_in_force_again() -> None:
    kept = after_change(after_change((), A, B, 100.0), B, A, 200.0)
    assert kept == (Replaced(B.injection, 500.0),)


def test_replaced_again_counts_from_the_last_time() -> None:
    kept = after_change(after_change(after_change((), A, B, 0.0), B, A, 10.0), A, B, 20.0)
    assert kept == (Replaced(A.injection, 320.0),)
