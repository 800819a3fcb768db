"""The two hooks as functions: a review and a snapshot in, an outcome out.

`on_error` is what each hook says when something in it raised. The mutating hook never denies. The
validating hook goes by the policy's onRuleError, for which it must know whether the pod is offline;
where not even that can be found out, a body that names offline resources counts as offline.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from policies.engine import decide, decide_node, mutate
from policies.errors import MalformedError
from policies.facts import Decision, Operation
from policies.pod import RECLAIMED_CORES, PodClass, parse_pod
from policies.policy import Policy
from webhook.binding_review import binding_decision, binding_query
from webhook.gather import BINDING, POD, Skip, gather, pod_of
from webhook.node_review import NODE, is_overridden, node_change_of, node_query
from webhook.outcome import Outcome
from webhook.pod_lookup import NOT_ASKED, FoundPods, PodQuery
from webhook.respond import decided, internal_error, malformed, mutated, not_patched
from webhook.review import Review
from webhook.state import Snapshot


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook: its name, its judgement, and what it says of requests that it cannot judge.

    `query` says which pods must be asked of the API server first: for almost every request, none.
    """

    name: str
    query: Callable[[Review, Snapshot], PodQuery | None]
    judge: Callable[[Review, Snapshot, FoundPods], Outcome]
    on_malformed: Callable[[str], Outcome]
    on_error: Callable[[Review, Policy, bytes, Exception], Outcome]


def ask_nothing(_review: Review, _snapshot: Snapshot) -> PodQuery | None:
    """The mutating hook needs no pod but the one in the review."""
    return None


def judge_mutation(review: Review, snapshot: Snapshot, _found: FoundPods = NOT_ASKED) -> Outcome:
    """What the mutating hook answers: a patch for offline pods that are created, else nothing."""
    if review.kind != POD:
        return Outcome(skipped=Skip.VERSION if review.kind.kind == POD.kind else Skip.KIND)
    if review.operation != Operation.CREATE:
        return Outcome(skipped=Skip.OPERATION)
    if review.subresource:
        return Outcome(skipped=Skip.SUBRESOURCE)
    policy = snapshot.policy
    try:
        mutation = mutate(pod_of(review, policy), snapshot.mutating_policy)
    except MalformedError as error:
        return unpatchable(str(error))
    return Outcome(mutated(mutation, policy.digest, is_dry_run=review.is_dry_run))


def ask_validation(review: Review, snapshot: Snapshot) -> PodQuery | None:
    """What the verdict on a switch of a node, or on a Binding, depends on besides the review.

    What is malformed asks nothing: the judgement says what is wrong.
    """
    try:
        if review.kind == NODE:
            return node_query(review, snapshot.policy)
        return binding_query(review, snapshot) if review.kind == BINDING else None
    except MalformedError:
        return None


def judge_validation(review: Review, snapshot: Snapshot, found: FoundPods = NOT_ASKED) -> Outcome:
    """What the validating hook answers: the engine's decision on the object or on each template."""
    try:
        if review.kind == NODE:
            return _judge_node(review, snapshot.policy, found)
        facts = gather(review, snapshot)
        if isinstance(facts, Skip):
            return Outcome(skipped=facts)
        decisions = [_located(decide(each), each.pod.path) for each in facts]
        if review.kind == BINDING:
            placed = binding_decision(review, snapshot, found)
            decisions += [placed] if placed is not None else []
    except MalformedError as error:
        return refuse_malformed(str(error))
    return _outcome(decisions, snapshot.policy)


def _judge_node(review: Review, policy: Policy, found: FoundPods) -> Outcome:
    change = node_change_of(review, policy, found)
    if isinstance(change, Skip):
        return Outcome(skipped=change)
    decision = decide_node(change)
    outcome = _outcome([decision], policy)
    if not is_overridden(change, decision):
        return outcome
    audit = {**outcome.answer.audit, "override": review.username}
    return replace(outcome, answer=replace(outcome.answer, audit=audit))


def _outcome(decisions: Sequence[Decision], policy: Policy) -> Outcome:
    return Outcome(
        answer=decided(decisions, policy.digest),
        findings=tuple(finding for decision in decisions for finding in decision.findings),
        failures=tuple(failure for decision in decisions for failure in decision.failures),
    )


def _located(decision: Decision, path: str) -> Decision:
    """The decision with the template's place in each message: an object may hold several templates."""
    if not path:
        return decision
    findings = (replace(each, message=f"{path}: {each.message}") for each in decision.findings)
    return replace(decision, findings=tuple(findings))


def unpatchable(why: str) -> Outcome:
    """Allowed without a patch, with a warning that says why."""
    return Outcome(not_patched(why), unpatchable=why)


def refuse_malformed(why: str) -> Outcome:
    """Denied with the code that Kubernetes gives objects it cannot decode."""
    return Outcome(malformed(why))


def mutation_failed(_review: Review, _policy: Policy, _body: bytes, error: Exception) -> Outcome:
    """Allowed without a patch; a pod that needed one is refused by validation."""
    return Outcome(internal_error(allowed=True), error=_named(error))


def validation_failed(review: Review, policy: Policy, body: bytes, error: Exception) -> Outcome:
    """Allowed or denied as the policy's onRuleError says for this class of pod."""
    if _is_offline(review, policy, body):
        is_denied = policy.deny_offline_on_rule_error
    else:
        is_denied = policy.deny_others_on_rule_error
    return Outcome(internal_error(allowed=not is_denied), error=_named(error))


def _is_offline(review: Review, policy: Policy, body: bytes) -> bool:
    if review.kind == NODE:
        return False
    if review.kind == POD:
        try:
            return parse_pod(review.object, policy).pod_class is PodClass.OFFLINE
        except Exception:  # noqa: BLE001, S110 - the parser may be what failed: go by the text
            pass
    marks = (policy.keys.reclaimed_mgpu_core, RECLAIMED_CORES)
    return any(mark.encode() in body for mark in marks)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


MUTATE = Hook("mutate", ask_nothing, judge_mutation, unpatchable, mutation_failed)
VALIDATE = Hook("validate", ask_validation, judge_validation, refuse_malformed, validation_failed)
