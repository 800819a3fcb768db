"""Required node affinity that keeps an offline pod on nodes where the card can suppress it.

nodeSelectorTerms are ORed, so the expressions go into every term. A term that is empty matches no node
and stays as it is; `matchFields` stay. The kubelet checks required affinity as well, so this holds even
for a pod created with `nodeName`.
"""

from collections.abc import Iterator, Sequence

from policies.node_selector import Requirement, SelectorTerm, parse_terms
from policies.patch import Change, Op
from policies.placement import REQUIRED, is_same
from policies.pod import Pod
from policies.policy import Injection
from policies.raw import JsonObject, object_at

REASON = "keeps the pod on nodes where online work can suspend it"
TERMS = "nodeSelectorTerms"


def changes(pod: Pod, injection: Injection) -> Iterator[Change]:
    """The expressions that are missing, under parents that may be missing too."""
    wanted = injection.node_requirements
    if not wanted:
        return
    affinity = object_at(pod.spec, "affinity", "spec")
    node_affinity = object_at(affinity, "nodeAffinity", "spec.affinity")
    required = object_at(node_affinity, REQUIRED, "spec.affinity.nodeAffinity")
    path: tuple[str, ...] = ("spec", "affinity")
    value: JsonObject = {TERMS: [{"matchExpressions": [_document(r) for r in wanted]}]}
    if pod.spec.get("affinity") is None:
        yield Change(Op.ADD, path, REASON, {"nodeAffinity": {REQUIRED: value}})
        return
    path = (*path, "nodeAffinity")
    if affinity.get("nodeAffinity") is None:
        yield Change(Op.ADD, path, REASON, {REQUIRED: value})
        return
    path = (*path, REQUIRED)
    if node_affinity.get(REQUIRED) is None:
        yield Change(Op.ADD, path, REASON, value)
        return
    yield from _term_changes(required, (*path, TERMS), wanted)


def _term_changes(
    required: JsonObject, path: tuple[str, ...], wanted: Sequence[Requirement]
) -> Iterator[Change]:
    where = ".".join(path)
    for index, term in enumerate(parse_terms(required.get(TERMS), where)):
        if not term.expressions and not term.fields:
            continue
        missing = _missing(term, wanted)
        place = (*path, str(index), "matchExpressions")
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
