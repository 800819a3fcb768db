"""The API server's own questions about an object (CEL), asked before it calls the webhook.

An error in a condition refuses the request under `failurePolicy: Fail` and silently skips the
webhook under Ignore, so every expression here is total: `has()` before each field that may be
absent, the alternatives joined inside one expression, no optional syntax (Kubernetes 1.28 lacks
it). The type is asked for where the API server, before its own validation, may hold a null
(`containers`) and where a path leads through kinds that are not Kubernetes' own. A pod that comes
from the API server always has `metadata` and `spec`.

The functions take the text of a CEL expression (`object`, `oldObject`) and return another, in
parentheses, to be joined with `&&`, `||` and `!`.
"""

import json
from collections.abc import Iterable

from policies.node import FIXED_SHARE, MODE_MGPU, MODE_NVIDIA
from policies.pod import RECLAIMED_CORES
from policies.policy import GpuClaims, Keys, Policy

CONTAINER_LISTS = ("containers", "initContainers")
GUARDED_SPEC_FIELDS = ("nodeSelector", "affinity", "tolerations")
"""What decides where a pod may land and an UPDATE can still change."""


def asks_mgpu(pod: str, keys: Keys) -> str:
    """A container or init container names an mGPU resource."""
    return _names_any(pod, (keys.mgpu_core, keys.mgpu_memory, keys.reclaimed_mgpu_core))


def is_offline(pod: str, keys: Keys) -> str:
    """The pod names reclaimed-mgpu-core, or is marked reclaimed and names any mGPU resource."""
    annotations, key = f"{pod}.metadata.annotations", _literal(keys.qos_level)
    is_reclaimed = (
        f"has({annotations}) && {key} in {annotations}"
        f" && {annotations}[{key}] == {_literal(RECLAIMED_CORES)}"
    )
    names_reclaimed = _names_any(pod, (keys.reclaimed_mgpu_core,))
    return f"({names_reclaimed} || ({is_reclaimed} && {asks_mgpu(pod, keys)}))"


def asks_gpu(pod: str, keys: Keys, claims: GpuClaims) -> str:
    """The pod names any GPU resource, or has a claim: which claims are GPUs is decided inside."""
    mgpu = (keys.mgpu_core, keys.mgpu_memory, keys.reclaimed_mgpu_core)
    names_resource = _names_any(pod, (*mgpu, *keys.whole_card, *claims.resources))
    has_claim = f"has({pod}.spec.resourceClaims) && size({pod}.spec.resourceClaims) > 0"
    return f"({names_resource} || ({has_claim}))"


def is_changed(keys: Keys) -> str:
    """An UPDATE changes a guarded annotation, or a field that says where the pod may land."""
    new, old = _annotations("object"), _annotations("oldObject")
    guarded = _is_guarded("k", keys)
    written = f"{new}.exists(k, {guarded} && !(k in {old} && {old}[k] == {new}[k]))"
    removed = f"{old}.exists(k, {guarded} && !(k in {new}))"
    fields = (_differs(f"spec.{field}") for field in GUARDED_SPEC_FIELDS)
    return f"({' || '.join((written, removed, *fields))})"


def has_guarded_annotation(keys: Keys) -> str:
    """The object, such as a Binding, carries an annotation that is judged on an UPDATE of a pod."""
    return f"({_annotations('object')}.exists(k, {_is_guarded('k', keys)}))"


def is_not_deleting(pod: str) -> str:
    """The pod has no deletionTimestamp, so its end cannot depend on the webhook."""
    return f"(!has({pod}.metadata.deletionTimestamp))"


def switches_node(keys: Keys) -> str:
    """An UPDATE of a Node changes its effective scheduling mode, or the compute policy of an mGPU node.

    An absent label counts as its default. So heartbeats, taints, cordons and all other labels are none.
    """
    old_mode, mode = (_label(o, keys.gpu_schedule, MODE_NVIDIA) for o in ("oldObject", "object"))
    old_policy, policy = (
        _label(o, keys.compute_policy, FIXED_SHARE) for o in ("oldObject", "object")
    )
    is_mgpu = f"{mode} == {_literal(MODE_MGPU)}"
    return f"({mode} != {old_mode} || ({is_mgpu} && {policy} != {old_policy}))"


def any_template_asks_gpu(policy: Policy) -> str:
    """A pod template at one of the paths that the policy's kinds have asks for a GPU.

    One expression for all kinds: a path that a kind does not have is simply absent there.
    """
    paths = dict.fromkeys(path for kind in policy.templates if kind.resource for path in kind.paths)
    asked = (_at_path("object", path.split("."), policy, depth=0) for path in paths)
    return f"({' || '.join(asked)})"


def _at_path(parent: str, steps: list[str], policy: Policy, *, depth: int) -> str:
    """The template below `parent` asks for a GPU. A step is a field, or `field[*]` for a list.

    From the template's `containers` on it is taken to look like a pod's.
    """
    if not steps:
        asked = asks_gpu(parent, policy.keys, policy.gpu_claims)
        is_template = f'type({parent}) == map && "spec" in {parent}'
        return f"({is_template} && type({parent}.spec) == map && {asked})"
    name = steps[0].removesuffix("[*]")
    child = f"{parent}[{_literal(name)}]"
    is_there = f"type({parent}) == map && {_literal(name)} in {parent}"
    if name == steps[0]:
        return f"({is_there} && {_at_path(child, steps[1:], policy, depth=depth)})"
    entry = f"entry{depth}"
    below = _at_path(entry, steps[1:], policy, depth=depth + 1)
    return f"({is_there} && type({child}) == list && {child}.exists({entry}, {below}))"


def _names_any(pod: str, resources: Iterable[str]) -> str:
    """A container or init container has one of the resources among its limits or requests."""
    names = f"[{', '.join(map(_literal, resources))}]"
    amounts = (f"c.resources.{amounts}" for amounts in ("limits", "requests"))
    named = " || ".join(f"(has({a}) && {a}.exists(r, r in {names}))" for a in amounts)
    lists = (f"{pod}.spec.{field}" for field in CONTAINER_LISTS)
    found = " || ".join(
        f"(has({x}) && type({x}) == list && {x}.exists(c, has(c.resources) && ({named})))"
        for x in lists
    )
    return f"({found})"


def _label(root: str, key: str, default: str) -> str:
    """The value of a label, or what its absence means."""
    labels, name = f"{root}.metadata.labels", _literal(key)
    is_there = f"has({labels}) && {name} in {labels}"
    return f"({is_there} ? {labels}[{name}] : {_literal(default)})"


def _annotations(root: str) -> str:
    """The annotations, empty when there are none."""
    annotations = f"{root}.metadata.annotations"
    return f"(has({annotations}) ? {annotations} : {{}})"


def _is_guarded(key: str, keys: Keys) -> str:
    guarded = (keys.qos_level, keys.compute_policy, keys.container_multiple_gpu, keys.assumed)
    names = ", ".join(map(_literal, guarded))
    return f"({key} in [{names}] || {key}.startsWith({_literal(keys.gpu_index_prefix)}))"


def _differs(field: str) -> str:
    new, old = f"object.{field}", f"oldObject.{field}"
    return f"has({new}) != has({old}) || (has({new}) && {new} != {old})"


def _literal(text: str) -> str:
    """A CEL string: JSON's escapes are CEL's too, save surrogate pairs (hence no ASCII form)."""
    return json.dumps(text, ensure_ascii=False)
