"""A small model of what the API server makes of a pod around the webhooks.

It decodes into Go structs (unknown fields and empty optional values are lost, null is the zero value,
quantities get one spelling), fills defaults, and runs its own mutating admission plugins. Source:
k8s.io/api core/v1 (`omitempty`), kubernetes pkg/apis/core/v1/defaults.go and plugin/pkg/admission
(serviceaccount, priority, defaulttolerationseconds), v1.36. It refuses nothing: validation comes later.
"""

from collections.abc import Callable, Mapping

from policies.quantity import QuantityError, parse_quantity
from policies.raw import object_at, objects_at
from tests.properties.fields import Document

Shape = Callable[[object], object]
"""Decodes one value and encodes it again; None means that the field is left out."""

NODE_LIFECYCLE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
TOKEN_VOLUME = "kube-api-access-x2x4z"


def kept(value: object) -> object:
    """A field that this model looks no further into."""
    return None if value in ("", [], {}) else value


def struct(fields: Mapping[str, Shape], always: Mapping[str, object] | None = None) -> Shape:
    """A pointer to a struct; `always` are the fields without `omitempty` and their zero values."""

    def encode(value: object) -> object:
        if not isinstance(value, dict):
            return None
        encoded = {name: shape(value.get(name)) for name, shape in fields.items()}
        return {**(always or {}), **{k: v for k, v in encoded.items() if v is not None}}

    return encode


def list_of(shape: Shape) -> Shape:
    """A list of structs; a null entry is a struct of zero values."""

    def encode(value: object) -> object:
        if not isinstance(value, list) or not value:
            return None
        return [shape({} if entry is None else entry) for entry in value]

    return encode


def strings(value: object) -> object:
    """A map of strings."""
    if not isinstance(value, dict) or not value:
        return None
    return {key: "" if entry is None else entry for key, entry in value.items()}


def quantities(value: object) -> object:
    """A map of quantities."""
    if not isinstance(value, dict) or not value:
        return None
    return {key: _canonical(entry) for key, entry in value.items()}


def string_list(value: object) -> object:
    """A list of strings."""
    if not isinstance(value, list) or not value:
        return None
    return ["" if entry is None else entry for entry in value]


def _terms(value: object) -> object:
    return list_of(TERM)(value) or []


EXPRESSION = struct(
    {"key": kept, "operator": kept, "values": string_list}, {"key": "", "operator": ""}
)
TERM = struct({"matchExpressions": list_of(EXPRESSION), "matchFields": list_of(EXPRESSION)})
NODE_AFFINITY = struct(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": struct(
            {"nodeSelectorTerms": _terms}, {"nodeSelectorTerms": None}
        ),
        "preferredDuringSchedulingIgnoredDuringExecution": kept,
    }
)
PROBE = struct(dict.fromkeys(("httpGet", "grpc"), lambda value: value))
CONTAINER = struct(
    {
        "name": kept,
        "image": kept,
        "env": list_of(struct({"name": kept, "value": kept, "valueFrom": kept}, {"name": ""})),
        "resources": struct({"limits": quantities, "requests": quantities, "claims": kept}),
        "securityContext": struct({"privileged": kept}),
        "livenessProbe": PROBE,
        "startupProbe": PROBE,
        "restartPolicy": kept,
        "volumeMounts": kept,
    },
    {"name": "", "resources": {}},
)
SPEC_FIELDS: Mapping[str, Shape] = {
    "affinity": struct({"nodeAffinity": NODE_AFFINITY, "podAntiAffinity": struct({})}),
    "tolerations": list_of(
        struct(dict.fromkeys(("key", "operator", "value", "effect", "tolerationSeconds"), kept))
    ),
    "nodeSelector": strings,
    "containers": list_of(CONTAINER),
    "initContainers": list_of(CONTAINER),
    "ephemeralContainers": list_of(CONTAINER),
    "overhead": quantities,
    **dict.fromkeys(("nodeName", "restartPolicy", "resourceClaims", "volumes"), kept),
    **dict.fromkeys(("priorityClassName", "priority", "preemptionPolicy"), kept),
    **dict.fromkeys(("schedulerName", "runtimeClassName"), kept),
    **dict.fromkeys(("activeDeadlineSeconds", "terminationGracePeriodSeconds"), kept),
}
METADATA = struct(
    {"labels": strings, "annotations": strings}
    | dict.fromkeys(("name", "namespace", "generateName", "finalizers"), kept)
)
POD = struct(
    {"apiVersion": kept, "kind": kept, "metadata": METADATA, "spec": struct(SPEC_FIELDS)},
    {"metadata": {"creationTimestamp": None}, "spec": {"containers": None}},
)


def stored(pod: Mapping[str, object]) -> Document:
    """The pod as a webhook sees it, and as the API server keeps it after one."""
    decoded = POD(dict(pod))
    assert isinstance(decoded, dict)
    spec = {**SPEC_DEFAULTS, **object_at(decoded, "spec", "")}
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [_defaulted(c) for c in objects_at(spec, field, "spec")]
    spec["tolerations"] = _tolerations(spec)
    spec.setdefault("volumes", [{"name": TOKEN_VOLUME, "projected": {"sources": []}}])
    return {**decoded, "spec": spec}


SPEC_DEFAULTS: Mapping[str, object] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
    "serviceAccountName": "default",
    "serviceAccount": "default",
    "priority": 0,
    "preemptionPolicy": "PreemptLowerPriority",
}
CONTAINER_DEFAULTS: Mapping[str, object] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "Always",
    "volumeMounts": [{"name": TOKEN_VOLUME, "mountPath": "/var/run/secrets", "readOnly": True}],
}


def _defaulted(container: Mapping[str, object]) -> Document:
    """A container with its defaults; what has a limit and no request takes the limit as its request."""
    resources = object_at(container, "resources", "")
    limits, requests = (object_at(resources, field, "") for field in ("limits", "requests"))
    if limits:
        resources = {**resources, "requests": {**limits, **requests}}
    return {**CONTAINER_DEFAULTS, **container, "resources": resources}


def _tolerations(spec: Mapping[str, object]) -> list[Mapping[str, object]]:
    present: list[Mapping[str, object]] = list(objects_at(spec, "tolerations", "spec"))
    for key in NODE_LIFECYCLE_TAINTS:
        if not any(_is_handled(toleration, key) for toleration in present):
            present.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
            )
    return present


def _is_handled(toleration: Mapping[str, object], key: str) -> bool:
    return toleration.get("key") in (key, None) and toleration.get("effect") in ("NoExecute", None)


def _canonical(raw: object) -> object:
    """The quantity as the API server writes whole numbers; fractions and binary suffixes stay."""
    try:
        quantity = parse_quantity(raw)
    except QuantityError:
        return raw
    if not quantity.is_whole or (isinstance(raw, str) and raw.endswith("i")):
        return raw
    value, suffix = quantity.value, ""
    for larger in ("k", "M", "G", "T", "P", "E"):
        if value == 0 or value % 1000:
            break
        value, suffix = value // 1000, larger
    return f"{value}{suffix}"
