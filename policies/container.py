"""A container as the rules see it: what it asks of a card, and whether the API server would take it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policies.policy import GpuClaims, Keys
from policies.quantity import QuantityError, parse_quantity
from policies.raw import JsonObject, object_at, objects_at, short_text, string_at


@dataclass(frozen=True, slots=True)
class Ask:
    """What one container asks of one GPU resource.

    `value` is in the resource's own unit (percent of a card, MiB, cards), rounded up to a whole number.
    `problem` is empty, or says why the API server would not take the amount.
    """

    resource: str
    text: str
    value: int
    problem: str
    path: str


@dataclass(frozen=True, slots=True)
class Container:
    """One container or init container. `path` is its place, such as `spec.initContainers[0]`."""

    name: str
    path: str
    index: int
    is_init: bool
    core: Ask | None
    memory: Ask | None
    reclaimed: Ask | None
    asks_whole_card: bool
    """Whether it asks a whole-card resource; an explicit 0 is a way to say no."""
    asks_device_class: bool
    """Whether it asks a GPU of dynamic resource allocation as an extended resource."""
    raw: JsonObject

    @property
    def asks_mgpu(self) -> bool:
        """Whether it names any mGPU resource, whatever the amount."""
        return self.core is not None or self.memory is not None or self.reclaimed is not None


def parse_containers(
    spec: JsonObject, spec_path: str, keys: Keys, claims: GpuClaims
) -> Iterator[Container]:
    """The entries of `containers`, then of `initContainers`. Raises MalformedError."""
    for field in ("containers", "initContainers"):
        for index, raw in enumerate(objects_at(spec, field, spec_path)):
            yield _container(raw, index, f"{spec_path}.{field}", keys, claims)


def _container(
    raw: JsonObject, index: int, list_path: str, keys: Keys, claims: GpuClaims
) -> Container:
    path = f"{list_path}[{index}]"
    resources = object_at(raw, "resources", path)
    where = f"{path}.resources"
    requests = object_at(resources, "requests", where)
    limits = object_at(resources, "limits", where)
    return Container(
        name=string_at(raw, "name", path),
        path=path,
        index=index,
        is_init=list_path.endswith("initContainers"),
        core=_ask(keys.mgpu_core, requests, limits, where),
        memory=_ask(keys.mgpu_memory, requests, limits, where),
        reclaimed=_ask(keys.reclaimed_mgpu_core, requests, limits, where),
        asks_whole_card=_asks_any(keys.whole_card, requests, limits, where),
        asks_device_class=_asks_any(claims.resources, requests, limits, where),
        raw=raw,
    )


def _ask(resource: str, requests: JsonObject, limits: JsonObject, path: str) -> Ask | None:
    """An absent request takes the limit, as in the API server; an unequal pair is refused there."""
    has_limit = resource in limits
    if resource in requests:
        text, where = requests[resource], f"{path}.requests[{resource}]"
    elif has_limit:
        text, where = limits[resource], f"{path}.limits[{resource}]"
    else:
        return None
    shown = short_text(text)
    try:
        amount = parse_quantity(text)
        limit = parse_quantity(limits[resource]) if has_limit else None
    except QuantityError as error:
        return Ask(resource, shown, 0, f"is not a quantity: {error}", where)
    if not amount.is_whole:
        problem = "is not a whole number: extended resources cannot be split"
    elif limit is None:
        problem = "is a request without a limit: extended resources need both, equal"
    elif limit != amount:
        other = short_text(limits[resource])
        problem = f"differs from its limit {other}: extended resources need both, equal"
    else:
        problem = ""
    return Ask(resource, shown, amount.value, problem, where)


def _asks_any(
    resources: Iterable[str], requests: JsonObject, limits: JsonObject, path: str
) -> bool:
    for resource in resources:
        ask = _ask(resource, requests, limits, path)
        if ask is not None and (ask.value != 0 or ask.problem):
            return True
    return False
