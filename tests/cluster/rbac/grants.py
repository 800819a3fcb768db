"""What manifests allow and what an audit log shows, in the same words, so that both can be compared."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from tests.builders import Object

CLUSTER_WIDE = "*"
ROLES = {"ClusterRole", "Role"}
BINDINGS = {"ClusterRoleBinding", "RoleBinding"}


@dataclass(frozen=True, slots=True, order=True)
class Asked:
    """A request as the API server took it; `resource` has its group, as in `leases.coordination.k8s.io`."""

    verb: str
    resource: str
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One verb on one resource, in one namespace or everywhere, on one name or on all."""

    verb: str
    resource: str
    namespace: str = CLUSTER_WIDE
    name: str = CLUSTER_WIDE

    def covers(self, asked: Asked) -> bool:
        """Whether it allows this request."""
        return (
            (self.verb, self.resource) == (asked.verb, asked.resource)
            and self.namespace in (CLUSTER_WIDE, asked.namespace)
            and self.name in (CLUSTER_WIDE, asked.name)
        )


def documents(path: Path) -> list[Object]:
    """The objects of a manifest."""
    return cast("list[Object]", list(yaml.safe_load_all(path.read_text())))


def grants_of(objects: Iterable[Object]) -> Iterator[Grant]:
    """What the roles among the objects allow where they are bound; an unbound role allows nothing."""
    objects = list(objects)
    roles = {_id(raw): raw for raw in objects if raw["kind"] in ROLES}
    for binding in objects:
        if binding["kind"] not in BINDINGS:
            continue
        namespace = _namespace(binding)
        reference = cast("dict[str, str]", binding["roleRef"])
        in_namespace = namespace if reference["kind"] == "Role" else ""
        role = roles[reference["kind"], in_namespace, reference["name"]]
        for rule in cast("list[dict[str, list[str]]]", role["rules"]):
            yield from _grants(rule, namespace or CLUSTER_WIDE)


def requests_in(log: Path) -> Iterator[tuple[Asked, int]]:
    """Each request of an audit log with its status code; for one of no resource, the path is the resource."""
    for line in log.read_text().splitlines():
        event = json.loads(line)
        status = event.get("responseStatus", {}).get("code", 0)
        about = event.get("objectRef")
        if about is None:
            yield Asked(event["verb"], event["requestURI"].partition("?")[0]), status
            continue
        resource = ".".join(filter(None, (about["resource"], about.get("apiGroup"))))
        resource = "/".join(filter(None, (resource, about.get("subresource"))))
        yield (
            Asked(event["verb"], resource, about.get("namespace", ""), about.get("name", "")),
            status,
        )


def _grants(rule: dict[str, list[str]], namespace: str) -> Iterator[Grant]:
    for group in rule["apiGroups"]:
        for resource in rule["resources"]:
            plural, _, subresource = resource.partition("/")
            full = "/".join(filter(None, (f"{plural}.{group}" if group else plural, subresource)))
            for verb in rule["verbs"]:
                for name in rule.get("resourceNames", [CLUSTER_WIDE]):
                    yield Grant(verb, full, namespace, name)


def _id(raw: Object) -> tuple[str, str, str]:
    return str(raw["kind"]), _namespace(raw), cast("dict[str, str]", raw["metadata"])["name"]


def _namespace(raw: Object) -> str:
    return cast("dict[str, str]", raw["metadata"]).get("namespace", "")
