"""What the two hooks answer, up to the engine's own decisions."""

import orjson
import pytest

from policies.policy import Exemption, Policy, TemplateKind
from tests.builders import (
    ASSUMED,
    MIRROR,
    OFFLINE_ASKS,
    QOS_LEVEL,
    Object,
    bare_offline_pod,
    container,
    offline_pod,
    online_pod,
    pod,
    template_of,
)
from tests.webhook.reviews import body, parsed, patched, snapshot
from tests.webhook.test_gather import binding, deployment
from webhook.gather import Skip
from webhook.hooks import (
    judge_mutation,
    judge_validation,
    mutation_failed,
    refuse_malformed,
    unpatchable,
    validation_failed,
)
from webhook.outcome import Outcome, Verdict
from webhook.respond import render

FAULT = RuntimeError("boom")


def mutation(raw: Object | None, **fields: object) -> Outcome:
    return judge_mutation(parsed(raw, **fields), snapshot())


def validation(raw: Object | None, policy: Policy | None = None, **fields: object) -> Outcome:
    return judge_validation(parsed(raw, **fields), snapshot(policy))


def validation_of(raw: Object, fields: dict[str, object]) -> Outcome:
    return judge_validation(parsed(raw, **fields), snapshot())


def test_an_offline_pod_is_patched_and_then_passes() -> None:
    raw = bare_offline_pod()
    after = patched(raw, render("u", mutation(raw).answer))
    assert after == offline_pod()
    assert validation(after).answer.allowed
    assert not mutation(after).answer.patch


@pytest.mark.parametrize("raw", [pod(), online_pod()], ids=["none", "online"])
def test_other_pods_are_left_alone(raw: Object) -> None:
    assert mutation(raw) == Outcome()


SKIPPED_BY_MUTATION: dict[str, tuple[Object, dict[str, object], Skip]] = {
    "update": (bare_offline_pod(), {"operation": "UPDATE"}, Skip.OPERATION),
    "delete": (bare_offline_pod(), {"operation": "DELETE"}, Skip.OPERATION),
    "status": (bare_offline_pod(), {"subResource": "status"}, Skip.SUBRESOURCE),
    "template": (deployment(bare_offline_pod()), {}, Skip.KIND),
    "version": ({**bare_offline_pod(), "apiVersion": "v2"}, {}, Skip.VERSION),
}


@pytest.mark.parametrize(
    ("raw", "fields", "why"), SKIPPED_BY_MUTATION.values(), ids=SKIPPED_BY_MUTATION
)
def test_only_pods_that_are_created_are_patched(
    raw: Object, fields: dict[str, object], why: Skip
) -> None:
    assert mutation(raw, **fields) == Outcome(skipped=why)


def test_what_cannot_be_patched_safely_is_allowed_with_a_warning() -> None:
    outcome = mutation(bare_offline_pod(tolerations="x"))
    assert outcome.answer.allowed
    assert not outcome.answer.patch
    assert "spec.tolerations" in outcome.unpatchable
    assert "spec.tolerations" in outcome.answer.warnings[0]


def test_a_dry_run_says_the_changes() -> None:
    told = mutation(bare_offline_pod(), dryRun=True).answer.warnings
    assert any("/spec/tolerations" in warning for warning in told)
    assert mutation(bare_offline_pod()).answer.warnings == ()


def test_an_unmarked_offline_pod_is_refused_with_the_rules_id() -> None:
    outcome = validation(bare_offline_pod())
    assert outcome.verdict is Verdict.DENIED
    assert outcome.answer.message.startswith("[injected] ")


def test_a_template_is_not_asked_for_the_injection_but_for_the_rest() -> None:
    assert validation(deployment(bare_offline_pod())).answer.allowed
    wrong = bare_offline_pod(annotations={QOS_LEVEL: "shared_cores"})
    outcome = validation(deployment(wrong))
    assert "[offline-annotation]" in outcome.answer.message


def test_a_refusal_says_in_which_template() -> None:
    """A workload may have several, with containers of the same name."""
    tasks = TemplateKind("batch.volcano.sh", "Job", ("spec.tasks[*].template",))
    good = bare_offline_pod()
    wrong = bare_offline_pod(annotations={QOS_LEVEL: "shared_cores"})
    job: Object = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "spec": {"tasks": [{"template": template_of(good)}, {"template": template_of(wrong)}]},
    }
    outcome = validation(job, Policy(templates=(tasks,)))
    assert outcome.answer.message.startswith("[offline-annotation] spec.tasks[1].template: ")


def test_a_binding_cannot_smuggle_a_placement() -> None:
    outcome = validation(binding(), subResource="binding")
    assert {finding.rule for finding in outcome.findings} == {"scheduler-annotations"}


@pytest.mark.parametrize(
    "fields",
    [
        {"operation": "DELETE", "oldObject": bare_offline_pod(), "object": None},
        {"operation": "UPDATE", "oldObject": bare_offline_pod()},
    ],
    ids=["delete", "update that changes nothing"],
)
def test_what_is_there_already_is_never_stuck(fields: dict[str, object]) -> None:
    assert validation_of(bare_offline_pod(), fields).answer.allowed


def test_mirror_pods_pass() -> None:
    raw = bare_offline_pod(annotations={MIRROR: "x"})
    assert validation(raw).answer.allowed
    assert not mutation(raw).answer.patch


def test_an_exemption_goes_by_the_requests_namespace() -> None:
    policy = Policy(exemptions=(Exemption(("team-a",)),))
    claims_team_a = bare_offline_pod(metadata={"namespace": "team-a"})
    assert not validation(claims_team_a, policy, namespace="team-b").answer.allowed
    assert validation(bare_offline_pod(), policy, namespace="team-a").answer.allowed


def test_a_malformed_pod_is_refused_as_a_bad_request() -> None:
    outcome = validation(bare_offline_pod(container(OFFLINE_ASKS), nodeSelector="x"))
    assert validation({**pod(), "spec": "x"}).answer.code == 400
    assert "spec: must be an object" in validation({**pod(), "spec": "x"}).answer.message
    assert not outcome.answer.allowed


def test_audit_annotations_name_the_policy() -> None:
    outcome = validation(offline_pod(annotations={ASSUMED: "true"}), Policy(digest="d1"))
    assert outcome.answer.audit["policy"] == "d1"
    assert "scheduler-annotations" in outcome.answer.audit["rules"]


def test_the_mutating_hook_allows_when_it_fails() -> None:
    outcome = mutation_failed(parsed(bare_offline_pod()), Policy(), b"", FAULT)
    assert (outcome.answer.allowed, outcome.verdict) == (True, Verdict.ERROR)
    assert outcome.error == "RuntimeError: boom"


UNREADABLE = {**pod(), "spec": {"containers": "x", "y": "reclaimed_cores"}}
ON_ERROR: dict[str, tuple[Object, bool, bool, bool]] = {
    "offline, default": (bare_offline_pod(), True, False, False),
    "offline, Allow": (bare_offline_pod(), False, False, True),
    "online, default": (online_pod(), True, False, True),
    "online, Deny": (online_pod(), True, True, False),
    "class not known, names reclaimed": (UNREADABLE, True, False, False),
    "class not known, names nothing": ({**pod(), "spec": {"containers": 1}}, True, False, True),
    "offline template": (deployment(bare_offline_pod()), True, False, False),
    "other template": (deployment(online_pod()), True, False, True),
}


@pytest.mark.parametrize(
    ("raw", "deny_offline", "deny_others", "allowed"), ON_ERROR.values(), ids=ON_ERROR
)
def test_the_validating_hook_follows_on_rule_error_when_it_fails(
    raw: Object, *, deny_offline: bool, deny_others: bool, allowed: bool
) -> None:
    policy = Policy(deny_offline_on_rule_error=deny_offline, deny_others_on_rule_error=deny_others)
    outcome = validation_failed(parsed(raw), policy, body(raw), FAULT)
    assert (outcome.answer.allowed, outcome.verdict) == (allowed, Verdict.ERROR)


def test_a_request_that_cannot_be_read_follows_the_hook() -> None:
    assert unpatchable("request.object: x").answer.allowed
    assert refuse_malformed("request.object: x").answer.code == 400


def test_templates_keep_their_workloads_bytes() -> None:
    """Judging must not change what it judges."""
    raw = deployment(bare_offline_pod())
    before = orjson.dumps(raw)
    found = parsed(raw)
    judge_validation(found, snapshot())
    assert orjson.dumps(found.object) == before
