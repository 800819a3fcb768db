"""The outermost handler: always an answer, with the uid, counted and logged."""

import asyncio
import logging
from collections.abc import Callable
from types import MappingProxyType

import pytest
from prometheus_client import CollectorRegistry

from policies.facts import Finding, RuleFailure
from policies.policy import Action, Policy
from tests.builders import bare_offline_pod, online_pod, pod
from tests.webhook.reviews import UID, body, response
from webhook.hooks import MUTATE, VALIDATE, Hook, ask_nothing, refuse_malformed, validation_failed
from webhook.metrics import Metrics
from webhook.outcome import Outcome
from webhook.pod_lookup import FoundPods, PodLookup
from webhook.respond import Answer
from webhook.responder import Reply, Responder
from webhook.review import Review
from webhook.state import Snapshot, State


class Webhook:
    """One hook with its registry."""

    def __init__(self, hook: Hook, state: State | None = None) -> None:
        self.registry = CollectorRegistry()
        self.state = state or State(Snapshot(Policy()))
        self.responder = Responder(hook, self.state, Metrics(self.registry), PodLookup())

    def reply(self, content: bytes) -> Reply:
        return asyncio.run(self.responder.reply(content))

    def counted(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(f"mgpu_hybrid_{name}", labels) or 0.0


def hook(judge: Callable[[Review, Snapshot, FoundPods], Outcome]) -> Hook:
    return Hook("validate", ask_nothing, judge, refuse_malformed, validation_failed)


def raising(_review: Review, _snapshot: Snapshot, _found: FoundPods) -> Outcome:
    raise KeyError("a bug")


def test_an_answer_is_counted_with_its_verdict() -> None:
    webhook = Webhook(VALIDATE)
    reply = webhook.reply(body(bare_offline_pod(), dryRun=True))
    assert (reply.status, reply.content_type) == (200, b"application/json")
    assert response(reply.body)["uid"] == UID
    labels = {"hook": "validate", "operation": "CREATE", "verdict": "denied", "dry_run": "true"}
    assert webhook.counted("admission_requests_total", **labels) == 1
    assert webhook.counted("findings_total", rule="injected", action="Deny") == 1
    assert webhook.counted("admission_duration_seconds_count", hook="validate") == 1


def test_patches_skips_and_unpatchable_pods_are_counted() -> None:
    webhook = Webhook(MUTATE)
    webhook.reply(body(bare_offline_pod()))
    webhook.reply(body(bare_offline_pod(tolerations="x")))
    webhook.reply(body({"apiVersion": "v1", "kind": "ConfigMap"}))
    assert webhook.counted("patches_total") == 1
    assert webhook.counted("unpatchable_total") == 1
    assert webhook.counted("skipped_total", hook="mutate", reason="kind") == 1


def test_an_operation_that_is_made_up_makes_no_series() -> None:
    webhook = Webhook(VALIDATE)
    webhook.reply(body(pod(), operation="MADE-UP"))
    labels = {"hook": "validate", "operation": "other", "verdict": "allowed", "dry_run": "false"}
    assert webhook.counted("admission_requests_total", **labels) == 1


def test_a_body_without_a_uid_is_one_clear_line() -> None:
    webhook = Webhook(VALIDATE)
    reply = webhook.reply(b"{}")
    assert (reply.status, reply.content_type) == (400, b"text/plain; charset=utf-8")
    assert reply.body == b"kind must be AdmissionReview, it is null\n"
    assert webhook.counted("bad_requests_total", reason="review") == 1


@pytest.mark.parametrize(
    ("which", "allowed"), [(MUTATE, True), (VALIDATE, False)], ids=["mutate", "validate"]
)
def test_a_request_that_cannot_be_read_keeps_its_uid(which: Hook, *, allowed: bool) -> None:
    reply = Webhook(which).reply(body(pod(), dryRun="yes"))
    answer = response(reply.body)
    assert (reply.status, answer["uid"], answer["allowed"]) == (200, UID, allowed)


@pytest.mark.parametrize(
    ("raw", "allowed"),
    [(bare_offline_pod(), False), (online_pod(), True)],
    ids=["offline", "online"],
)
def test_a_bug_keeps_the_uid_and_is_named_once(
    raw: dict[str, object], *, allowed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    webhook = Webhook(hook(raising))
    with caplog.at_level(logging.ERROR):
        reply = webhook.reply(body(raw))
    answer = response(reply.body)
    assert (reply.status, answer["uid"], answer["allowed"]) == (200, UID, allowed)
    assert webhook.counted("rule_errors_total", rule="webhook") == 1
    assert [record.getMessage() for record in caplog.records] == ["validate failed on a request"]
    assert "KeyError" in caplog.text


def test_an_answer_that_cannot_be_rendered_is_a_bug_too() -> None:
    def judge(_review: Review, _snapshot: Snapshot, _found: FoundPods) -> Outcome:
        return Outcome(Answer(patch=[{"value": MappingProxyType({})}]))

    answer = response(Webhook(hook(judge)).reply(body(online_pod())).body)
    assert (answer["uid"], answer["allowed"]) == (UID, True)


def test_a_rule_that_failed_is_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    failure = RuleFailure("qos-level", "KeyError: 'x'")
    webhook = Webhook(hook(lambda _review, _snapshot, _found: Outcome(failures=(failure,))))
    with caplog.at_level(logging.ERROR):
        webhook.reply(body(pod()))
    assert webhook.counted("rule_errors_total", rule="qos-level") == 1
    (record,) = caplog.records
    fields = record.__dict__["fields"]
    assert (fields["rule"], fields["error"], fields["uid"]) == ("qos-level", failure.error, UID)


def test_a_denied_request_is_one_line_without_the_object(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        Webhook(VALIDATE).reply(body(bare_offline_pod()))
    (record,) = caplog.records
    fields = record.__dict__["fields"]
    assert (fields["uid"], fields["user"], fields["rules"]) == (UID, "alice", ["injected"])
    assert "containers" not in str(fields)


def test_an_allowed_request_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="webhook"):
        Webhook(MUTATE).reply(body(bare_offline_pod()))
    assert caplog.records == []


def test_without_a_policy_nothing_is_judged() -> None:
    reply = Webhook(VALIDATE, State()).reply(body(pod()))
    assert (reply.status, reply.body) == (503, b"no valid policy yet\n")


def test_findings_of_every_action_are_counted() -> None:
    found = tuple(Finding("a", action, "p", "m", "r") for action in (Action.DENY, Action.WARN))
    webhook = Webhook(hook(lambda _review, _snapshot, _found: Outcome(findings=found)))
    webhook.reply(body(pod()))
    assert webhook.counted("findings_total", rule="a", action="Warn") == 1
    assert webhook.counted("findings_total", rule="a", action="Deny") == 1
