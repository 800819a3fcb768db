"""Where the pod templates of a workload object stand, by the kinds that the policy lists."""

from collections.abc import Iterator

from policies.errors import MalformedError
from policies.policy import Policy, TemplateKind
from policies.raw import JsonObject, type_name


def template_kind(raw: JsonObject, policy: Policy) -> TemplateKind | None:
    """The entry of the policy's templates for this object, None for other kinds."""
    api_version, kind = raw.get("apiVersion"), raw.get("kind")
    if not isinstance(api_version, str):
        return None
    group = api_version.rpartition("/")[0]
    for entry in policy.templates:
        if entry.kind == kind and entry.group == group:
            return entry
    return None


def pod_templates(raw: JsonObject, policy: Policy) -> Iterator[tuple[str, JsonObject]]:
    """Each pod template of a workload object with its path, such as `spec.template`.

    Yields nothing for other kinds and for absent templates. Raises MalformedError when something on
    the way, or the template, has a wrong JSON type.
    """
    entry = template_kind(raw, policy)
    if entry is not None:
        for path in entry.paths:
            yield from _walk(raw, path.split("."), "")


def _walk(value: object, steps: list[str], path: str) -> Iterator[tuple[str, JsonObject]]:
    if value is None:
        return
    if not isinstance(value, dict):
        raise MalformedError(path, f"must be an object, is {type_name(value)}")
    if not steps:
        yield path, value
        return
    step, rest = steps[0], steps[1:]
    name = step.removesuffix("[*]")
    where = f"{path}.{name}" if path else name
    child = value.get(name)
    if name == step:
        yield from _walk(child, rest, where)
        return
    if child is not None and not isinstance(child, list):
        raise MalformedError(where, f"must be a list, is {type_name(child)}")
    for index, entry in enumerate(child or ()):
        yield from _walk(entry, rest, f"{where}[{index}]")
