"""A review and the current snapshot become the facts that `decide` judges.

What is none of ours is a `Skip`, with a reason that metrics can count: such a request is allowed,
untouched. The namespace is always the request's own, never one written in the object: exemptions
go by it, and a pod template could name any.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from policies.facts import Facts, Operation
from policies.pod import Pod, parse_pod
from policies.policy import Policy
from policies.raw import JsonObject
from policies.templates import pod_templates, template_kind
from webhook.review import GroupVersionKind, Review
from webhook.state import Snapshot

POD = GroupVersionKind("", "v1", "Pod")
BINDING = GroupVersionKind("", "v1", "Binding")
JUDGED_OPERATIONS = frozenset({Operation.CREATE, Operation.UPDATE})


class Skip(StrEnum):
    """Why a request is not judged."""

    OPERATION = "operation"
    """DELETE and CONNECT are always allowed; so is an operation that is not known."""
    KIND = "kind"
    VERSION = "version"
    SUBRESOURCE = "subresource"


def gather(review: Review, snapshot: Snapshot) -> tuple[Facts, ...] | Skip:
    """The facts to judge: one pod, one Binding, or each template of a workload; or why none.

    Raises MalformedError when the object has a field of a wrong JSON type.
    """
    if review.operation not in JUDGED_OPERATIONS:
        return Skip.OPERATION
    kind = review.kind
    if kind == POD:
        return _pod_facts(review, snapshot)
    if kind == BINDING:
        return (_facts(review, snapshot, _pod(review, review.object, snapshot.policy), "binding"),)
    if not kind.group and kind.kind in {POD.kind, BINDING.kind}:
        return Skip.VERSION
    return _template_facts(review, snapshot)


def pod_of(review: Review, policy: Policy) -> Pod:
    """The pod that a review of a pod is about. Raises MalformedError."""
    return _pod(review, review.object, policy)


def _pod_facts(review: Review, snapshot: Snapshot) -> tuple[Facts, ...] | Skip:
    if review.subresource not in {"", "status"}:
        return Skip.SUBRESOURCE
    pod = _pod(review, review.object, snapshot.policy)
    facts = _facts(review, snapshot, pod, review.subresource)
    if review.operation == Operation.UPDATE and review.old_object:
        return (replace(facts, old=_pod(review, review.old_object, snapshot.policy)),)
    return (facts,)


def _facts(review: Review, snapshot: Snapshot, pod: Pod, subresource: str) -> Facts:
    return Facts(
        pod=pod,
        policy=snapshot.policy,
        operation=Operation(review.operation),
        username=review.username,
        inventory=snapshot.inventory,
        cluster_version=snapshot.cluster_version,
        subresource=subresource,
        previous_injections=snapshot.previous_injections,
    )


def _template_facts(review: Review, snapshot: Snapshot) -> tuple[Facts, ...] | Skip:
    policy = snapshot.policy
    if template_kind(_typed(review, review.object), policy) is None:
        return Skip.KIND
    if review.subresource:
        return Skip.SUBRESOURCE
    old = dict(_templates(review, review.old_object, policy))
    return tuple(
        replace(
            _facts(review, snapshot, template, ""),
            old=old.get(path),
            template_kind=review.kind.kind,
        )
        for path, template in _templates(review, review.object, policy)
    )


def _templates(review: Review, raw: JsonObject, policy: Policy) -> Iterator[tuple[str, Pod]]:
    if raw:
        for path, template in pod_templates(_typed(review, raw), policy):
            yield path, _pod(review, template, policy, path)


def _typed(review: Review, raw: JsonObject) -> JsonObject:
    """The object with the group and kind that the API server says it has."""
    kind = review.kind
    version = f"{kind.group}/{kind.version}" if kind.group else kind.version
    return {**raw, "apiVersion": version, "kind": kind.kind}


def _pod(review: Review, raw: JsonObject, policy: Policy, path: str = "") -> Pod:
    pod = parse_pod(raw, policy, namespace=review.namespace, path=path)
    if pod.namespace == review.namespace:
        return pod
    return replace(pod, namespace=review.namespace)
