"""Answers as values, and as the bytes of an admission.k8s.io/v1 AdmissionReview."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from policies.facts import Decision, Finding, RuleFailure
from policies.patch import Mutation, escape
from policies.pod import PodClass
from policies.policy import Action
from webhook.review import API_VERSION, KIND
from webhook.warning_text import printable, split_warnings

MAX_MESSAGE_FINDINGS = 50
MAX_POINTER_CHARACTERS = 60
MAX_MESSAGE_CHARACTERS = 16_384
"""A pod can hold very many containers; a person reads the first findings."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API server is told. `code`, `reason` and `message` are for a refusal only."""

    allowed: bool = True
    code: int = 0
    reason: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()
    patch: Sequence[Mapping[str, object]] = ()
    audit: Mapping[str, str] = field(default_factory=dict)
    """Audit annotations; the API server puts the webhook's name before each key."""


ALLOWED = Answer()


def render(uid: str, answer: Answer) -> bytes:
    """The AdmissionReview for the request with this uid."""
    response: dict[str, object] = {"uid": uid, "allowed": answer.allowed}
    if not answer.allowed:
        response["status"] = {
            "code": answer.code,
            "reason": answer.reason,
            "message": answer.message,
        }
    if answer.warnings:
        response["warnings"] = answer.warnings
    if answer.patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(answer.patch)).decode("ascii")
    if answer.audit:
        response["auditAnnotations"] = answer.audit
    return orjson.dumps({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def decided(decisions: Sequence[Decision], policy_digest: str) -> Answer:
    """The answer of the validating hook: all must be allowed, and all findings are told at once."""
    findings = [finding for decision in decisions for finding in decision.findings]
    failures = [failure for decision in decisions for failure in decision.failures]
    classes = [d.pod_class for d in decisions if d.pod_class is not PodClass.NONE]
    if not findings and not failures:
        return _clean(classes, policy_digest)
    warnings = split_warnings(str(f) for f in findings if f.action is Action.WARN)
    audit = _audit(classes, policy_digest, findings, failures)
    if all(decision.allowed for decision in decisions):
        return Answer(warnings=warnings, audit=audit)
    return Answer(
        allowed=False,
        code=403,
        reason="Forbidden",
        message=_refusal([f for f in findings if f.action is Action.DENY], failures),
        warnings=warnings,
        audit=audit,
    )


def mutated(mutation: Mutation, policy_digest: str, *, is_dry_run: bool) -> Answer:
    """The answer of the mutating hook. A dry run warns of each change and its reason."""
    if not mutation.changes:
        return ALLOWED
    warnings = list(mutation.warnings)
    if is_dry_run:
        warnings += _told_changes(mutation)
    return Answer(
        warnings=split_warnings(warnings),
        patch=mutation.patch,
        audit={"class": PodClass.OFFLINE.value, "policy": policy_digest},
    )


def not_patched(why: str) -> Answer:
    """Allowed without a patch: this hook never denies; validation refuses the pod if need be."""
    return Answer(warnings=split_warnings((f"mgpu-hybrid changed nothing: {why}",)))


def malformed(why: str) -> Answer:
    """The refusal of an object that Kubernetes itself would not decode."""
    return Answer(allowed=False, code=400, reason="BadRequest", message=why)


def internal_error(*, allowed: bool) -> Answer:
    """The answer when the webhook itself failed; the details are for its log, not for the user."""
    if allowed:
        text = "mgpu-hybrid failed to judge this object and let it pass; see the webhook's log"
        return Answer(warnings=split_warnings((text,)))
    return Answer(
        allowed=False,
        code=500,
        reason="InternalError",
        message="mgpu-hybrid failed to judge this object, and the policy's onRuleError says "
        "Deny; the webhook's log has the error under this request's uid",
    )


def _clean(classes: Sequence[PodClass], policy_digest: str) -> Answer:
    """The answer when nothing was found; pods that are none of ours get the shortest."""
    if not classes:
        return ALLOWED
    return Answer(audit={"class": classes[0].value, "policy": policy_digest})


def _told_changes(mutation: Mutation) -> Iterable[str]:
    for change in mutation.changes:
        yield f"mgpu-hybrid: {change.op} {_short_pointer(change.path)}: {change.reason}"


def _short_pointer(path: Sequence[str]) -> str:
    """The place of a change; a long one without its middle, so that the warning is one line.

    Clients show equal warnings once, so a line that went on in a second one could lose its beginning.
    """
    pointer = "".join(f"/{escape(step)}" for step in path)
    if len(pointer) <= MAX_POINTER_CHARACTERS:
        return pointer
    return f"/{path[0]}/{path[1]}/…/" + "/".join(escape(step) for step in path[-3:])


def _audit(
    classes: Sequence[PodClass],
    policy_digest: str,
    findings: Sequence[Finding],
    failures: Sequence[RuleFailure],
) -> Mapping[str, str]:
    audit = {"class": (classes or (PodClass.NONE,))[0].value, "policy": policy_digest}
    if findings:
        audit["rules"] = _ids(f.rule for f in findings)
    for action in (Action.DENY, Action.WARN, Action.AUDIT):
        if ids := _ids(f.rule for f in findings if f.action is action):
            audit[action.value.lower()] = ids
    if failures:
        audit["failed"] = _ids(failure.rule for failure in failures)
    return audit


def _ids(rules: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(rules))


def _refusal(denying: Sequence[Finding], failures: Sequence[RuleFailure]) -> str:
    lines = [printable(str(finding)) for finding in denying[:MAX_MESSAGE_FINDINGS]]
    if len(denying) > len(lines):
        lines.append(f"… and {len(denying) - len(lines)} more")
    if not denying:
        lines.append(
            f"mgpu-hybrid could not judge this object: {_ids(f.rule for f in failures)} failed, and "
            "the policy's onRuleError says Deny; the webhook's log has the error"
        )
    text = "\n".join(lines)
    if len(text) <= MAX_MESSAGE_CHARACTERS:
        return text
    return text[: MAX_MESSAGE_CHARACTERS - 1] + "…"
