"""Updates of Nodes through the ASGI application: what is asked, what is answered, what never waits."""

import asyncio
import logging

import pytest
from prometheus_client import CollectorRegistry

from policies.policy import DEFAULT_ACTIONS, Action, ModeSwitch, Policy
from tests.builders import COMPUTE_POLICY, GPU_SCHEDULE, Object, Texts, node, online_pod, pod
from tests.webhook.asgi import Exchange, post
from tests.webhook.node_reviews import KnownPods, NoPods, SlowPods, running, update
from tests.webhook.reviews import UID, body, response
from webhook import pod_lookup
from webhook.app import WebhookApp, webhook_app
from webhook.metrics import Metrics
from webhook.pod_lookup import LivePods, PodsOnNode
from webhook.state import Snapshot, State

SAME: Texts = {}
NVIDIA: Texts = {GPU_SCHEDULE: "nvidia"}
REMOVED: Texts = {GPU_SCHEDULE: None}
NATIVE: Texts = {COMPUTE_POLICY: "native-burst-share"}
UNKNOWN: Texts = {GPU_SCHEDULE: "MGPU"}
HELD = (
    "[node-mode-switch] scheduling mode of node gpu-1 is switched from mgpu to nvidia while 1 unfinished pod "
    "holds its GPUs (jobs/app); drain these pods first, or let a user of the policy's `modeSwitch` do it; "
    "put the label back to go on as before"
)


class Webhook:
    """The application with a cluster to ask."""

    def __init__(self, pods: LivePods | None, policy: Policy | None = None) -> None:
        self.registry = CollectorRegistry()
        state = State(Snapshot(policy or Policy()))
        self.app: WebhookApp = webhook_app(state, Metrics(self.registry), pods=pods)

    def answer(self, review: bytes) -> Object:
        """The response to a review, which has its uid."""
        received = post(self.app, "/validate", review)
        assert received.status == 200
        answer = response(received.body)
        assert answer["uid"] == UID
        return answer

    def counted(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(f"mgpu_hybrid_{name}", labels) or 0.0


def message(answer: Object) -> str:
    status = answer.get("status")
    return str(status["message"]) if isinstance(status, dict) else ""


@pytest.mark.parametrize("subresource", ["", "status"])
def test_a_switch_under_running_work_is_refused_with_the_names(subresource: str) -> None:
    webhook = Webhook(KnownPods(running(), running(pod()), running(phase="Succeeded")))
    answer = webhook.answer(update(SAME, REMOVED, subResource=subresource))
    assert message(answer) == HELD
    assert answer["status"] == {"code": 403, "reason": "Forbidden", "message": HELD}
    labels = {"hook": "validate", "operation": "UPDATE", "verdict": "denied", "dry_run": "false"}
    assert webhook.counted("admission_requests_total", **labels) == 1
    assert webhook.counted("findings_total", rule="node-mode-switch", action="Deny") == 1
    assert webhook.counted("pod_lookups_total", about="node", result="found") == 1


@pytest.mark.parametrize(
    ("before", "after", "asked"),
    [
        pytest.param(SAME, REMOVED, True, id="label removed"),
        pytest.param(REMOVED, SAME, True, id="label set"),
        pytest.param(SAME, UNKNOWN, True, id="unknown mode"),
        pytest.param(SAME, NATIVE, True, id="compute policy"),
        pytest.param(SAME, SAME, False, id="nothing"),
        pytest.param(REMOVED, NVIDIA, False, id="nvidia written out"),
        pytest.param(NVIDIA, {**REMOVED, **NATIVE}, False, id="policy without mGPU"),
        pytest.param(SAME, {"team": "x"}, False, id="another label"),
    ],
)
def test_only_a_switch_asks(before: Texts, after: Texts, *, asked: bool) -> None:
    pods = KnownPods()
    assert Webhook(pods).answer(update(before, after))["allowed"] is True
    assert pods.asked == ([("gpu-1",)] if asked else [])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"operation": "CREATE", "oldObject": None}, "operation", id="create"),
        pytest.param({"operation": "DELETE", "object": None}, "operation", id="delete"),
        pytest.param({"subResource": "proxy"}, "subresource", id="subresource"),
        pytest.param(
            {"kind": {"group": "", "version": "v2", "kind": "Node"}}, "kind", id="version"
        ),
    ],
)
def test_what_is_no_update_of_a_node(fields: dict[str, object], reason: str) -> None:
    pods = KnownPods(running())
    webhook = Webhook(pods)
    assert webhook.answer(update(SAME, REMOVED, **fields))["allowed"] is True
    assert webhook.counted("skipped_total", hook="validate", reason=reason) == 1
    assert pods.asked == []


def test_a_rule_that_is_off_asks_nothing() -> None:
    pods = KnownPods(running())
    policy = Policy(actions={**DEFAULT_ACTIONS, "node-mode-switch": Action.OFF})
    assert Webhook(pods, policy).answer(update(SAME, REMOVED))["allowed"] is True
    assert pods.asked == []


def test_a_node_of_that_name_may_be_gone() -> None:
    """Its pods may be, too; whether the update still applies is for the API server to say."""
    assert Webhook(KnownPods()).answer(update(SAME, REMOVED))["allowed"] is True


@pytest.mark.parametrize(
    ("unknown_pods", "allowed"), [(Action.DENY, False), (Action.WARN, True), (Action.AUDIT, True)]
)
@pytest.mark.parametrize(
    ("pods", "why"),
    [
        pytest.param(None, "the webhook was started without a cluster", id="not live"),
        pytest.param(NoPods(), "GET /api/v1/pods: the connection failed", id="error"),
    ],
)
def test_pods_that_cannot_be_asked(
    pods: LivePods | None,
    why: str,
    unknown_pods: Action,
    *,
    allowed: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    webhook = Webhook(pods, Policy(mode_switch=ModeSwitch(unknown_pods=unknown_pods)))
    with caplog.at_level(logging.WARNING, logger="webhook"):
        answer = webhook.answer(update(SAME, REMOVED))
    assert answer["allowed"] is allowed
    assert (f"it is not known whether pods hold its GPUs: {why}" in message(answer)) is not allowed
    assert bool(answer.get("warnings")) is (unknown_pods is Action.WARN)
    assert webhook.counted("pod_lookups_total", about="node", result="unknown") == 1
    assert [why in str(record.__dict__["fields"]) for record in caplog.records] == [True]


def test_a_bug_in_the_asking_goes_by_on_rule_error() -> None:
    for denies in (True, False):
        webhook = Webhook(NoPods(KeyError("x")), Policy(deny_others_on_rule_error=denies))
        # The amounts of a node name reclaimed-mgpu-core; that makes it no offline pod.
        held = node(allocatable={"vke.volcengine.com/reclaimed-mgpu-core": "800"})
        answer = webhook.answer(update(SAME, REMOVED, oldObject=held))
        assert answer["allowed"] is not denies
        assert webhook.counted("rule_errors_total", rule="webhook") == 1


@pytest.mark.parametrize(
    ("override", "recorded"),
    [
        pytest.param(ModeSwitch(users=("alice",)), True, id="user"),
        pytest.param(ModeSwitch(groups=("system:authenticated",)), True, id="group"),
        pytest.param(ModeSwitch(users=("bob",)), False, id="somebody else"),
    ],
)
@pytest.mark.parametrize("pods", [KnownPods(running()), NoPods()], ids=["held", "unknown"])
def test_an_override_is_recorded(override: ModeSwitch, pods: LivePods, *, recorded: bool) -> None:
    answer = Webhook(pods, Policy(mode_switch=override)).answer(update(SAME, REMOVED))
    audit = answer["auditAnnotations"]
    assert isinstance(audit, dict)
    assert answer["allowed"] is recorded
    assert audit.get("override") == ("alice" if recorded else None)
    assert audit["audit" if recorded else "deny"] == "node-mode-switch"


@pytest.mark.parametrize(
    ("pods", "action"),
    [
        pytest.param(KnownPods(), Action.DENY, id="no pod in the way"),
        pytest.param(KnownPods(running()), Action.AUDIT, id="rule only records"),
    ],
)
def test_nothing_is_overridden_where_nothing_is_refused(pods: LivePods, action: Action) -> None:
    policy = Policy(
        mode_switch=ModeSwitch(users=("alice",)),
        actions={**DEFAULT_ACTIONS, "node-mode-switch": action},
    )
    answer = Webhook(pods, policy).answer(update(SAME, REMOVED))
    assert answer["allowed"] is True
    assert "override" not in str(answer.get("auditAnnotations"))


def test_an_unknown_mode_is_warned_of() -> None:
    answer = Webhook(KnownPods()).answer(update(SAME, UNKNOWN))
    assert answer["allowed"] is True
    assert "[node-mode-value]" in str(answer["warnings"])


def test_a_label_that_is_no_string_is_a_bad_request() -> None:
    wrong: Object = {**node(), "metadata": {"name": "gpu-1", "labels": {GPU_SCHEDULE: 5}}}
    pods = KnownPods(running())
    answer = Webhook(pods).answer(body(wrong, operation="UPDATE", oldObject=node()))
    status = answer["status"]
    assert isinstance(status, dict)
    assert status["code"] == 400
    assert GPU_SCHEDULE in str(status["message"])
    assert pods.asked == []


def test_others_are_answered_while_one_waits() -> None:
    pods = SlowPods(running())
    app = Webhook(pods).app

    async def run() -> None:
        waiting = asyncio.create_task(Exchange("/validate").give(update(SAME, REMOVED)).run(app))
        other = await Exchange("/validate").give(body(online_pod())).run(app)
        assert response(other.body)["allowed"] is True
        assert not waiting.done()
        pods.may_answer.set()
        assert message(response((await waiting).body)) == HELD

    asyncio.run(run())


def test_no_answer_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PodsOnNode, "deadline_seconds", 0.05)
    pods = SlowPods(running())
    answer = Webhook(pods).answer(update(SAME, REMOVED))
    pods.may_answer.set()
    assert "the API server did not answer within 0.05 s" in message(answer)


def test_waiting_for_a_thread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many slow questions as there are threads, and one more: all are answered, none is asked late."""
    monkeypatch.setattr(PodsOnNode, "deadline_seconds", 0.2)
    pods = SlowPods(running())
    app = Webhook(pods).app

    async def run() -> list[Object]:
        exchanges = [
            Exchange("/validate").give(update(SAME, REMOVED)) for _ in range(pod_lookup.AT_ONCE + 1)
        ]
        received = await asyncio.gather(*(exchange.run(app) for exchange in exchanges))
        return [response(each.body) for each in received]

    answers = asyncio.run(run())
    pods.may_answer.set()
    assert all("did not answer within 0.2 s" in message(answer) for answer in answers)
    assert len(pods.asked) == pod_lookup.AT_ONCE
