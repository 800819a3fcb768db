"""The resource claims that pods and pod templates name."""

from collections.abc import Iterable, Iterator

from cli.claim import Claim
from cli.inputs import Cluster
from cli.judging import is_pod
from policies.errors import MalformedError
from policies.manifest.manifests import SourcedObject
from policies.raw import JsonObject, object_at, objects_at, string_at
from policies.templates import pod_templates


def named_claims(objects: Iterable[SourcedObject], cluster: Cluster) -> set[Claim]:
    """The claims that these objects name. What cannot be read is left to whoever judges it."""
    claims: set[Claim] = set()
    for found in objects:
        namespace = found.namespace or cluster.namespace
        try:
            for pod in _pods(found, cluster):
                claims |= {Claim(namespace, key) for key in _keys(pod)}
        except MalformedError:
            continue
    return claims


def _pods(found: SourcedObject, cluster: Cluster) -> Iterator[JsonObject]:
    if is_pod(found):
        yield found.raw
    elif not found.subresource:
        yield from (template for _, template in pod_templates(found.raw, cluster.policy))


def _keys(pod: JsonObject) -> Iterator[str]:
    for claim in objects_at(object_at(pod, "spec", ""), "resourceClaims", "spec"):
        template = string_at(claim, "resourceClaimTemplateName", "spec.resourceClaims")
        name = string_at(claim, "resourceClaimName", "spec.resourceClaims")
        if template or name:
            yield f"template/{template}" if template else f"claim/{name}"
