"""The election: at most one leads, and somebody does."""

from typing import cast

import pytest

from policies.raw import JsonObject
from tests.webhook.controller.fake_api import FakeApi
from tests.webhook.controller.ticking import Clock
from webhook.cluster.errors import (
    ClusterUnavailableError,
    ForbiddenError,
    NotFoundError,
    status_error,
)
from webhook.controller.election import LEASE_SECONDS, RENEW_SECONDS, RETRY_SECONDS, Election

LEASES = "/apis/coordination.k8s.io/v1/namespaces/ours/leases"
PATH = f"{LEASES}/controller"


class Both:
    """Two candidates, each with a clock of its own, and the lease."""

    def __init__(self) -> None:
        self.api = FakeApi()
        self.clock_a, self.clock_b = Clock(), Clock()
        self.clock_b.seconds = 5.0
        self.a = candidate("a", self.clock_a)
        self.b = candidate("b", self.clock_b)

    def pass_time(self, seconds: float) -> None:
        self.clock_a.seconds += seconds
        self.clock_b.seconds += seconds

    def leaders(self) -> str:
        return "".join(one.identity for one in (self.a, self.b) if one.is_leader)

    def spec(self) -> JsonObject:
        return cast("JsonObject", self.api.objects[PATH]["spec"])


def candidate(identity: str, clock: Clock) -> Election:
    return Election(
        LEASES, "controller", identity, clock=clock.steady, now=clock.wall, jitter=lambda: 0.0
    )


@pytest.fixture
def both() -> Both:
    made = Both()
    made.a.step(made.api)
    made.b.step(made.api)
    assert made.leaders() == "a"
    return made


def unreachable(_method: str, _path: str) -> ClusterUnavailableError:
    return ClusterUnavailableError("no answer")


def test_nobody_leads_before_the_first_step() -> None:
    assert Both().leaders() == ""


def test_the_lease_reads_as_client_go_writes_it(both: Both) -> None:
    assert both.spec() == {
        "holderIdentity": "a",
        "leaseDurationSeconds": LEASE_SECONDS,
        "acquireTime": "2026-11-30T12:16:40.000000Z",
        "renewTime": "2026-11-30T12:16:40.000000Z",
        "leaseTransitions": 0,
    }


def test_renewing_keeps_the_lease_for_ever(both: Both) -> None:
    for _ in range(30):
        both.pass_time(RETRY_SECONDS)
        assert both.a.step(both.api) == RETRY_SECONDS
        both.b.step(both.api)
        assert both.leaders() == "a"
    assert both.spec()["acquireTime"] == "2026-11-30T12:16:40.000000Z"
    assert both.spec()["renewTime"] == "2026-11-30T12:17:40.000000Z"
    assert both.spec()["leaseTransitions"] == 0


def test_a_leader_that_died_is_followed_after_its_lease_and_not_before(both: Both) -> None:
    both.pass_time(LEASE_SECONDS - 0.1)
    both.b.step(both.api)
    assert both.leaders() == ""
    both.pass_time(0.1)
    both.b.step(both.api)
    assert both.leaders() == "b"
    assert both.spec()["leaseTransitions"] == 1


def test_a_leader_that_hears_nothing_stops_before_another_may_begin(both: Both) -> None:
    both.api.fault = unreachable
    for _ in range(4):
        both.pass_time(RETRY_SECONDS)
        with pytest.raises(ClusterUnavailableError):
            both.a.step(both.api)
        assert both.leaders() == "a"
    both.pass_time(RENEW_SECONDS - 4 * RETRY_SECONDS)
    assert both.leaders() == ""
    both.api.fault = lambda _method, _path: None
    both.b.step(both.api)
    assert both.leaders() == ""


def test_a_renewal_that_took_long_counts_from_when_it_was_sent(both: Both) -> None:
    def pass_nine(method: str, _path: str) -> None:
        if method == "PUT":
            both.pass_time(9.0)

    both.api.before = pass_nine
    both.a.step(both.api)
    assert both.leaders() == "a"
    both.pass_time(1.0)
    assert both.leaders() == ""


def test_a_leader_that_comes_back_in_time_leads_on(both: Both) -> None:
    both.pass_time(RENEW_SECONDS + 1.0)
    assert both.leaders() == ""
    both.a.step(both.api)
    assert both.leaders() == "a"
    assert both.spec()["leaseTransitions"] == 0


def test_a_leader_that_slept_finds_another(both: Both) -> None:
    both.pass_time(LEASE_SECONDS)
    both.b.step(both.api)
    both.a.step(both.api)
    assert both.leaders() == "b"


@pytest.mark.parametrize("jump", [-7200.0, 7200.0], ids=["back", "forward"])
def test_a_wall_clock_that_jumps_changes_nothing(both: Both, jump: float) -> None:
    both.clock_a.wall_jump_seconds = jump
    for _ in range(10):
        both.pass_time(RETRY_SECONDS)
        both.b.step(both.api)
        both.a.step(both.api)
        assert both.leaders() == "a"


def test_two_that_want_a_free_lease_at_once(both: Both) -> None:
    """The other was faster between looking and writing: the write loses by its version."""
    both.pass_time(LEASE_SECONDS)

    def let_a_go_first(method: str, _path: str) -> None:
        if method == "PUT":
            both.api.before = lambda _method, _path: None
            both.a.step(both.api)

    both.api.before = let_a_go_first
    both.b.step(both.api)
    assert both.leaders() == "a"
    both.b.step(both.api)
    assert both.leaders() == "a"


def test_two_that_want_to_create_it_at_once() -> None:
    both = Both()

    def let_a_go_first(method: str, _path: str) -> None:
        if method == "POST":
            both.api.before = lambda _method, _path: None
            both.a.step(both.api)

    both.api.before = let_a_go_first
    both.b.step(both.api)
    assert both.leaders() == "a"


def test_a_released_lease_is_taken_at_once(both: Both) -> None:
    both.a.release(both.api)
    assert both.leaders() == ""
    assert both.spec()["holderIdentity"] == ""
    both.b.step(both.api)
    assert both.leaders() == "b"
    assert both.spec()["leaseTransitions"] == 1


def test_who_does_not_lead_releases_nothing(both: Both) -> None:
    both.b.release(both.api)
    assert both.spec()["holderIdentity"] == "a"


def test_a_leader_whose_time_is_over_releases_nothing(both: Both) -> None:
    both.pass_time(LEASE_SECONDS)
    both.b.step(both.api)
    both.a.release(both.api)
    assert both.spec()["holderIdentity"] == "b"


def test_a_leader_leads_no_more_even_if_the_release_fails(both: Both) -> None:
    both.api.fault = unreachable
    with pytest.raises(ClusterUnavailableError):
        both.a.release(both.api)
    assert both.leaders() == ""


def test_a_lease_that_somebody_deleted_is_made_again(both: Both) -> None:
    del both.api.objects[PATH]
    both.pass_time(RETRY_SECONDS)
    with pytest.raises(NotFoundError):
        both.a.step(both.api)
    both.pass_time(RETRY_SECONDS)
    both.a.step(both.api)
    assert both.leaders() == "a"
    assert both.spec()["holderIdentity"] == "a"


def test_a_lease_without_a_record_is_free() -> None:
    both = Both()
    both.api.create(LEASES, {"metadata": {"name": "controller"}})
    both.a.step(both.api)
    assert both.leaders() == "a"


def test_what_else_stands_in_the_lease_stays(both: Both) -> None:
    both.api.objects[PATH]["spec"] = {**both.spec(), "strategy": "OldestEmulationVersion"}
    both.pass_time(RETRY_SECONDS)
    both.pass_time(LEASE_SECONDS)
    both.a.step(both.api)
    assert both.spec()["strategy"] == "OldestEmulationVersion"


def test_a_candidate_without_the_right_never_leads() -> None:
    both = Both()
    both.api.fault = lambda method, path: status_error(f"{method} {path}", 403, {})
    with pytest.raises(ForbiddenError):
        both.a.step(both.api)
    assert both.leaders() == ""
