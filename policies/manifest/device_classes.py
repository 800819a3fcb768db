"""The device classes that resource claims ask for, so that a pod's claims can be told apart.

A claim may mean a GPU or a network card; only its device class says. Source: resource.k8s.io, where
v1beta1 names the class in the request itself and v1 under `exactly` or `firstAvailable`.
"""

from collections.abc import Iterator

from policies.raw import JsonObject, join, object_at, objects_at, string_at

GROUP = "resource.k8s.io/"


def is_claim(raw: JsonObject) -> bool:
    """Whether the object is a ResourceClaim or a ResourceClaimTemplate."""
    group_fits = str(raw.get("apiVersion")).startswith(GROUP)
    return group_fits and raw.get("kind") in {"ResourceClaim", "ResourceClaimTemplate"}


def device_classes_of(raw: JsonObject) -> tuple[str, tuple[str, ...]]:
    """An entry of `DeviceClasses`: `template/<name>` or `claim/<name>`, and the device classes.

    Raises MalformedError when a field that is read has a wrong JSON type.
    """
    name = string_at(object_at(raw, "metadata", ""), "name", "metadata")
    spec, path = object_at(raw, "spec", ""), "spec"
    is_template = raw.get("kind") == "ResourceClaimTemplate"
    if is_template:
        spec, path = object_at(spec, "spec", path), "spec.spec"
    devices = object_at(spec, "devices", path)
    key = f"template/{name}" if is_template else f"claim/{name}"
    return key, tuple(_classes(devices, join(path, "devices")))


def _classes(devices: JsonObject, path: str) -> Iterator[str]:
    for index, request in enumerate(objects_at(devices, "requests", path)):
        where = f"{path}.requests[{index}]"
        exactly = object_at(request, "exactly", where)
        alternatives = objects_at(request, "firstAvailable", where)
        for part in (request, exactly, *alternatives):
            name = string_at(part, "deviceClassName", where)
            if name:
                yield name
