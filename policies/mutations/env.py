"""Environment variables that mark the work of an offline container for the mGPU driver.

Written into every container and init container that asks mGPU. New entries go before the user's, so that
`$(NAME)` works in those. An entry of the user's with another value is replaced in place, every duplicate
too: the kubelet takes the last one.
"""

from collections.abc import Iterator

from policies.container import Container
from policies.patch import Change, Op
from policies.pod import Pod
from policies.policy import EnvVar, Injection
from policies.raw import JsonObject, objects_at, short_text, string_at

REASON = "tells the mGPU driver that this container's work is offline"


def changes(pod: Pod, injection: Injection) -> Iterator[Change]:
    """The changes to `env`, container by container."""
    for container in pod.containers:
        if container.asks_mgpu and injection.env:
            yield from _container_changes(container, injection.env)


def _container_changes(container: Container, wanted: tuple[EnvVar, ...]) -> Iterator[Change]:
    field = "initContainers" if container.is_init else "containers"
    path = ("spec", field, str(container.index), "env")
    entries = objects_at(container.raw, "env", container.path)
    names = [string_at(e, "name", f"{container.path}.env[{i}]") for i, e in enumerate(entries)]
    for position, name in enumerate(names):
        for variable in wanted:
            if variable.name == name:
                yield from _corrected(
                    container, (*path, str(position)), entries[position], variable
                )
    missing = [v for v in wanted if v.name not in names]
    reason = f"{REASON} (container {container.name})"
    if missing and not entries:
        yield Change(Op.ADD, path, reason, [_entry(v) for v in missing])
        return
    for position, variable in enumerate(missing):
        yield Change(Op.ADD, (*path, str(position)), reason, _entry(variable))


def _corrected(
    container: Container, path: tuple[str, ...], entry: JsonObject, variable: EnvVar
) -> Iterator[Change]:
    """Nothing when the entry is right; the API server leaves out an empty value."""
    has_source = entry.get("valueFrom") is not None
    old = string_at(entry, "value", f"{container.path}.env")
    if old == variable.value and not has_source:
        return
    was = "taken from a reference" if has_source else f'"{short_text(old)}"'
    warning = (
        f'{container.path}.env: {variable.name} was {was}, is now "{variable.value}": '
        "the class of a pod is not set by hand"
    )
    reason = f"{REASON} (container {container.name})"
    if has_source:
        kept = {key: value for key, value in entry.items() if key != "valueFrom"}
        yield Change(Op.REPLACE, path, reason, {**kept, "value": variable.value}, warning)
        return
    op = Op.REPLACE if "value" in entry else Op.ADD
    yield Change(op, (*path, "value"), reason, variable.value, warning)


def _entry(variable: EnvVar) -> JsonObject:
    return {"name": variable.name, "value": variable.value}
