"""What no single field of a policy document shows: names given twice, fields that exclude each other.

These look at the plain values and pass over whatever has the wrong type, which the models report, so
that one reading finds both kinds of mistakes.
"""

from collections.abc import Callable, Iterator

from policies.document.mistakes import FieldPath
from policies.document.names import shown
from policies.document.policy_document import CLASS_LABEL
from policies.policy import (
    BUILTIN_TEMPLATES,
    ELIGIBLE_LABEL,
    NODE_USER_PREFIX,
    NODES_GROUP,
    Keys,
)
from policies.raw import JsonObject
from policies.versions import parse_vke_version

Findings = Iterator[tuple[FieldPath, str]]

VKE_DOMAIN = "vke.volcengine.com"
MAX_ANNOTATION_BYTES = 256 * 1024
"""The API server's limit for all annotations of an object."""
SETS: tuple[FieldPath, ...] = (
    ("spec", "keys", "wholeCard"),
    ("spec", "support", "computePolicies"),
    ("spec", "support", "unsupportedImages"),
    ("spec", "schedulers"),
    ("spec", "modeSwitch", "users"),
    ("spec", "modeSwitch", "groups"),
    ("spec", "gpuClaims", "claimTemplates"),
    ("spec", "gpuClaims", "claims"),
    ("spec", "gpuClaims", "deviceClasses"),
    ("spec", "passingTaints"),
)


def cross_findings(document: object) -> Findings:
    """Every mistake between fields, as (path, message). Takes any decoded document."""
    yield from _duplicates(document)
    yield from _same_keys(document)
    yield from _tolerations(document)
    yield from _reserved(document)
    yield from _nodes_switching_themselves(document)
    yield from _annotation_sizes(document)


def _nodes_switching_themselves(document: object) -> Findings:
    path: FieldPath = ("spec", "modeSwitch", "groups")
    for index, group in enumerate(_items(document, path)):
        if group == NODES_GROUP:
            yield (*path, index), f'"{NODES_GROUP}" cannot be here: a node must not switch itself'
    path = ("spec", "modeSwitch", "users")
    for index, user in enumerate(_items(document, path)):
        if isinstance(user, str) and user.startswith(NODE_USER_PREFIX):
            yield (*path, index), f"{shown(user)} cannot be here: a node must not switch itself"


def _duplicates(document: object) -> Findings:
    for path in SETS:
        yield from _twice(_items(document, path), path, lambda entry: entry)
    gates = ("spec", "support", "kubernetes")
    yield from _twice(_items(document, gates), gates, _minor)
    yield from _twice_named(document, ("spec", "injection", "env"), ("name",))
    yield from _twice_named(document, ("spec", "nodePools"), ("name",))
    identity = ("key", "operator", "value", "effect")
    yield from _twice_named(document, ("spec", "injection", "tolerations"), identity)
    for index, _ in enumerate(_items(document, ("spec", "nodePools"))):
        yield from _twice_named(document, ("spec", "nodePools", index, "taints"), ("key", "effect"))
    for index, _ in enumerate(_items(document, ("spec", "exemptions"))):
        for name in ("namespaces", "rules"):
            path = ("spec", "exemptions", index, name)
            yield from _twice(_items(document, path), path, lambda entry: entry)
    yield from _templates(document)


def _templates(document: object) -> Findings:
    path = ("spec", "templates")
    built_in = {(template.group, template.kind) for template in BUILTIN_TEMPLATES}
    for index, entry in enumerate(_items(document, path)):
        if isinstance(entry, dict) and (entry.get("group") or "", entry.get("kind")) in built_in:
            yield (*path, index, "kind"), f"{shown(str(entry['kind']))} is built in: take it out"
    yield from _twice_named(document, path, ("group", "kind"))


def _twice_named(document: object, path: FieldPath, fields: tuple[str, ...]) -> Findings:
    def identity(entry: object) -> object:
        if not isinstance(entry, dict):
            return None
        values = tuple(entry.get(name) or "" for name in fields)
        return values if any(values) else None

    last = fields[-1] if len(fields) == 1 else None
    for where, message in _twice(_items(document, path), path, identity):
        yield (where if last is None else (*where, last)), message


def _twice(
    entries: list[object], path: FieldPath, identity: Callable[[object], object]
) -> Findings:
    """Entries whose identity an earlier one has; an identity of None is not compared."""
    first: dict[str, int] = {}
    for index, entry in enumerate(entries):
        same = identity(entry)
        if same is None:
            continue
        # The text, since a wrong type in it may not be hashable.
        earlier = first.setdefault(repr(same), index)
        if earlier != index:
            yield (*path, index), f"{_label(same)} is given twice, first as entry {earlier + 1}"


def _label(identity: object) -> str:
    parts = identity if isinstance(identity, tuple) else (identity,)
    return shown(" ".join(str(part) for part in parts if part != ""))


def _minor(gate: object) -> object:
    version = parse_vke_version(gate) if isinstance(gate, str) else None
    return f"Kubernetes {version.major}.{version.minor}" if version else None


def _same_keys(document: object) -> Findings:
    """Two meanings under one key, or a key that reads as a scheduler's placement annotation."""
    keys = _effective_keys(document)
    path: FieldPath = ("spec", "keys")
    prefix = keys["gpuIndexPrefix"]
    given = _fields(document, path)
    for name in (name for name in given if name in keys):
        others = sorted(other for other in keys if other != name and keys[other] == keys[name])
        if others and keys[name]:
            yield (*path, name), f"{shown(keys[name])} is the key of {others[0]} too"
        elif name != "gpuIndexPrefix" and prefix and keys[name].startswith(prefix):
            yield (*path, name), f"{shown(keys[name])} begins with gpuIndexPrefix {shown(prefix)}"
    resources = {keys[name]: name for name in ("mgpuCore", "mgpuMemory", "reclaimedMgpuCore")}
    for index, entry in enumerate(_items(document, (*path, "wholeCard"))):
        if isinstance(entry, str) and entry in resources:
            yield (
                (*path, "wholeCard", index),
                f"{shown(entry)} is the key of {resources[entry]} too",
            )


def _effective_keys(document: object) -> dict[str, str]:
    """The single keys by their camelCase names, the document's over the built-in ones."""
    given = _fields(document, ("spec", "keys"))
    effective: dict[str, str] = {}
    for name in Keys.__dataclass_fields__:
        first, *rest = name.split("_")
        field = first + "".join(part.capitalize() for part in rest)
        value = given.get(field) or getattr(Keys(), name)
        if isinstance(value, str):
            effective[field] = value
    return effective


def _tolerations(document: object) -> Findings:
    """What ValidateTolerations of Kubernetes refuses in an entry whose fields are each valid."""
    path = ("spec", "injection", "tolerations")
    for index, entry in enumerate(_items(document, path)):
        if not isinstance(entry, dict):
            continue
        operator = entry.get("operator") or "Equal"
        if not entry.get("key") and operator != "Exists":
            yield (*path, index), "has no key: then the operator must be Exists"
        if operator == "Exists" and entry.get("value"):
            yield (*path, index, "value"), "must be empty when the operator is Exists"
        if entry.get("tolerationSeconds") is not None and entry.get("effect") != "NoExecute":
            yield (*path, index, "tolerationSeconds"), "needs the effect NoExecute"


def _reserved(document: object) -> Findings:
    """Injected keys that decide a pod's class or belong to somebody else."""
    keys = _effective_keys(document)
    reserved = {*keys.values(), CLASS_LABEL, ELIGIBLE_LABEL}
    for section in ("labels", "annotations"):
        path = ("spec", "injection", section)
        for key in _fields(document, path):
            if key in reserved or key.startswith(keys["gpuIndexPrefix"]):
                yield (*path, key), "is reserved: it says what a pod is, and may not be injected"
            elif section == "labels" and key.startswith(VKE_DOMAIN):
                yield (*path, key), f"is reserved: labels under {VKE_DOMAIN} belong to VKE"


def _annotation_sizes(document: object) -> Findings:
    path = ("spec", "injection", "annotations")
    entries = _fields(document, path)
    size = sum(len(key) + len(str(value).encode()) for key, value in entries.items())
    if size > MAX_ANNOTATION_BYTES:
        yield path, f"has {size} bytes; an object may have {MAX_ANNOTATION_BYTES} of annotations"


def _at(document: object, path: FieldPath) -> object:
    value = document
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            return None
    return value


def _items(document: object, path: FieldPath) -> list[object]:
    value = _at(document, path)
    return value if isinstance(value, list) else []


def _fields(document: object, path: FieldPath) -> JsonObject:
    value = _at(document, path)
    return value if isinstance(value, dict) else {}
