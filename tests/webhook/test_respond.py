"""Decisions and mutations become AdmissionReviews."""

import base64

import orjson
import pytest

from policies.facts import Decision, Finding, RuleFailure
from policies.patch import Change, Mutation, Op
from policies.pod import PodClass
from policies.policy import Action
from tests.builders import Object
from tests.webhook.reviews import UID, response
from webhook.respond import (
    ALLOWED,
    MAX_MESSAGE_CHARACTERS,
    Answer,
    decided,
    internal_error,
    malformed,
    mutated,
    not_patched,
    render,
)


def finding(rule: str, action: Action = Action.DENY, message: str = "is wrong") -> Finding:
    return Finding(rule, action, "spec", message, "mend it")


def decision(*findings: Finding, pod_class: PodClass = PodClass.OFFLINE) -> Decision:
    denied = any(f.action is Action.DENY for f in findings)
    return Decision(pod_class, allowed=not denied, findings=findings)


def rendered(answer: Answer) -> Object:
    return response(render(UID, answer))


CHANGE = Change(Op.ADD, ("metadata", "labels", "a/b"), "lets people find it", "x")
REPLACING = Change(Op.REPLACE, ("spec", "x"), "it must be so", 1, warning="your 2 became 1")
REMOVAL = Change(Op.REMOVE, ("spec", "y"), "it is in the way")


def test_the_envelope_is_that_of_the_api() -> None:
    whole = orjson.loads(render(UID, ALLOWED))
    assert whole == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": UID, "allowed": True},
    }


def test_a_refusal_lists_each_denying_finding_on_its_line() -> None:
    answer = rendered(
        decided([decision(finding("b"), finding("w", Action.WARN), finding("a"))], "digest")
    )
    assert answer["allowed"] is False
    assert answer["status"] == {
        "code": 403,
        "reason": "Forbidden",
        "message": "[b] is wrong; mend it\n[a] is wrong; mend it",
    }
    assert answer["warnings"] == ["[w] is wrong; mend it"]
    assert answer["auditAnnotations"] == {
        "class": "offline",
        "policy": "digest",
        "rules": "b,w,a",
        "deny": "b,a",
        "warn": "w",
    }


def test_warnings_and_audit_findings_do_not_refuse() -> None:
    answer = rendered(
        decided([decision(finding("w", Action.WARN), finding("q", Action.AUDIT))], "digest")
    )
    assert answer["allowed"] is True
    assert "status" not in answer
    assert answer["warnings"] == ["[w] is wrong; mend it"]
    audit = answer["auditAnnotations"]
    assert isinstance(audit, dict)
    assert (audit["rules"], audit["warn"], audit["audit"]) == ("w,q", "w", "q")


def test_one_refused_template_refuses_the_workload() -> None:
    answer = rendered(decided([decision(), decision(finding("a"))], "digest"))
    assert answer["allowed"] is False


def test_a_rule_that_fires_twice_is_named_once_in_the_annotations() -> None:
    answer = rendered(decided([decision(finding("a"), finding("a", message="too"))], "d"))
    audit = answer["auditAnnotations"]
    assert isinstance(audit, dict)
    assert audit["rules"] == "a"


def test_a_pod_that_is_none_of_ours_gets_the_shortest_answer() -> None:
    assert decided([decision(pod_class=PodClass.NONE)], "digest") is ALLOWED
    assert decided([], "digest") is ALLOWED


def test_a_refusal_for_a_failed_rule_names_it() -> None:
    failed = Decision(
        PodClass.OFFLINE, allowed=False, failures=(RuleFailure("a-rule", "KeyError: x"),)
    )
    answer = decided([failed], "digest")
    assert (answer.allowed, answer.code) == (False, 403)
    assert "a-rule failed" in answer.message
    assert "KeyError" not in answer.message
    assert answer.audit["failed"] == "a-rule"


def test_a_value_neither_steers_a_terminal_nor_looks_like_a_finding() -> None:
    value = 'is "a\n[b] all is well\x1b[2J\u202e", which'
    message = decided([decision(finding("a", message=value))], "digest").message
    assert message == r'[a] is "a\n[b] all is well\x1b[2J\u202e", which; mend it'


def test_a_message_has_an_end() -> None:
    many = decision(*(finding("a", message="x" * 400) for _ in range(1000)))
    message = decided([many], "digest").message
    assert len(message) <= MAX_MESSAGE_CHARACTERS
    few = decision(*(finding("a", message=str(number)) for number in range(60)))
    assert decided([few], "digest").message.endswith("\n… and 10 more")


def test_a_patch_is_base64_of_the_operations() -> None:
    answer = rendered(mutated(Mutation((CHANGE, REMOVAL)), "digest", is_dry_run=False))
    assert answer["allowed"] is True
    assert answer["patchType"] == "JSONPatch"
    assert orjson.loads(base64.b64decode(str(answer["patch"]))) == [
        {"op": "add", "path": "/metadata/labels/a~1b", "value": "x"},
        {"op": "remove", "path": "/spec/y"},
    ]
    assert "warnings" not in answer


def test_without_a_change_there_is_no_patch() -> None:
    answer = rendered(mutated(Mutation(), "digest", is_dry_run=True))
    assert answer == {"uid": UID, "allowed": True}


@pytest.mark.parametrize(
    ("is_dry_run", "warnings"),
    [
        (False, ["your 2 became 1"]),
        (
            True,
            [
                "your 2 became 1",
                "mgpu-hybrid: add /metadata/labels/a~1b: lets people find it",
                "mgpu-hybrid: replace /spec/x: it must be so",
            ],
        ),
    ],
    ids=["real", "dry run"],
)
def test_a_dry_run_also_says_each_change(*, is_dry_run: bool, warnings: list[str]) -> None:
    answer = rendered(mutated(Mutation((CHANGE, REPLACING)), "d", is_dry_run=is_dry_run))
    assert answer["warnings"] == warnings


def test_a_change_deep_in_the_pod_is_told_in_one_line_of_its_own() -> None:
    terms = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    reason = "keeps the pod on nodes where online work can suspend it"
    changes = [
        Change(Op.ADD, (*terms, "nodeSelectorTerms", term, "matchExpressions", "-"), reason, {})
        for term in ("0", "1")
    ]
    answer = rendered(mutated(Mutation(tuple(changes)), "d", is_dry_run=True))
    assert answer["warnings"] == [
        f"mgpu-hybrid: add /spec/affinity/…/{term}/matchExpressions/-: {reason}" for term in (0, 1)
    ]


def test_not_patched_is_allowed_with_a_warning() -> None:
    answer = rendered(not_patched("spec.tolerations: must be a list"))
    assert answer["allowed"] is True
    assert "patch" not in answer
    assert answer["warnings"] == ["mgpu-hybrid changed nothing: spec.tolerations: must be a list"]


def test_a_malformed_object_is_a_bad_request() -> None:
    assert rendered(malformed("spec: must be an object"))["status"] == {
        "code": 400,
        "reason": "BadRequest",
        "message": "spec: must be an object",
    }


def test_an_internal_error_says_where_to_look() -> None:
    assert rendered(internal_error(allowed=True))["allowed"] is True
    refused = rendered(internal_error(allowed=False))
    assert refused["allowed"] is False
    assert "log" in str(refused["status"])
