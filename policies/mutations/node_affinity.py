"""Required node affinity that keeps an offline pod on nodes where the card can suppress it.

nodeSelectorTerms are ORed, so the expressions go into every term. A term that is empty matches no node
and stays as it is; `matchFields` stay. The kubelet checks required affinity as well, so this holds even
for a pod created with `nodeName`.
"""

from collections.abc import Iterator, Sequence

from policies.node_selector import Requirement, SelectorTerm
from policies.patch import Change, Op
from policies.placement import is_same
from policies.pod import REQUIRED, Pod
from policies.policy import Injection
from policies.raw import JsonObject, object_at

REASON = "keeps the pod on nodes where online work can suspend it"
TERMS = "nodeSelectorTerms"
AFFINITY = ("spec", "affinity")


def changes(pod: Pod, injection: Injection) -> Iterator[Change]:
    """The expressions that are missing, under parents that may be missing too."""
    wanted = injection.node_requirements
    if not wanted:
        return
    if pod.terms is not None:
        yield from _term_changes(pod.terms, wanted)
        return
    value: JsonObject = {TERMS: [{"matchExpressions": [_document(r) for r in wanted]}]}
    if pod.spec.get("affinity") is None:
        yield Change(Op.ADD, AFFINITY, REASON, {"nodeAffinity": {REQUIRED: value}})
    elif object_at(pod.spec, "affinity", "spec").get("nodeAffinity") is None:
        yield Change(Op.ADD, (*AFFINITY, "nodeAffinity"), REASON, {REQUIRED: value})
    else:
        yield Change(Op.ADD, (*AFFINITY, "nodeAffinity", REQUIRED), REASON, value)


def _term_changes(terms: Sequence[SelectorTerm], wanted: Sequence[Requirement]) -> Iterator[Change]:
    for index, term in enumerate(terms):
        if not term.expressions and not term.fields:
            continue
        missing = _missing(term, wanted)
        place = (*AFFINITY, "nodeAffinity", REQUIRED, TERMS, str(index), "matchExpressions")
        if missing and not term.expressions:
            yield Change(Op.ADD, place, REASON, [_document(r) for r in missing])
            continue
        for requirement in missing:
            yield Change(Op.ADD, (*place, "-"), REASON, _document(requirement))


def _missing(term: SelectorTerm, wanted: Sequence[Requirement]) -> list[Requirement]:
    return [w for w in wanted if not any(is_same(w, e) for e in term.expressions)]


def _document(requirement: Requirement) -> JsonObject:
    expression: dict[str, object] = {"key": requirement.key, "operator": requirement.operator}
    if requirement.values:
        expression["values"] = list(requirement.values)
    return expression
