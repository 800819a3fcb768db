"""AdmissionReviews of Node updates: a switch is judged against the pods that stand in the same input.

Without any pod of that node in the input it is not known which are there, and the policy decides. A
Node that is no update is no change, and is skipped like other kinds.
"""

from collections.abc import Iterable, Sequence

from cli.inputs import Cluster
from cli.judging import Result
from policies.engine import decide_node
from policies.errors import MalformedError
from policies.facts import Operation
from policies.manifest.manifests import SourcedObject
from policies.node_change import NodeChange, holding_pods, node_settings
from policies.raw import JsonObject

UNKNOWN = "no pod with spec.nodeName {name} is in the input"


def is_node_change(found: SourcedObject) -> bool:
    """Whether it is a review of an UPDATE of a Node, or of its status."""
    is_node = found.kind == "Node" and found.api_version == "v1"
    is_update = found.operation is Operation.UPDATE and found.old is not None
    return is_node and is_update and found.subresource in {"", "status"}


def judge_node_change(
    found: SourcedObject, cluster: Cluster, objects: Iterable[SourcedObject]
) -> Result:
    """The result for one change. Raises ManifestError for what Kubernetes cannot read."""
    policy = cluster.policy
    pods = _pods_on(found.name, objects)
    try:
        change = NodeChange(
            name=found.name,
            old=node_settings(found.old or {}, policy.keys),
            new=node_settings(found.raw, policy.keys),
            policy=policy,
            username=found.username or "",
            groups=found.groups,
            pods=tuple(holding_pods(pods, policy)) if pods else None,
            pods_unknown_because=UNKNOWN.format(name=found.name),
        )
    except MalformedError as error:
        raise found.malformed(error.path, error.message) from error
    decision = decide_node(change)
    return Result(
        source=found.source,
        api_version=found.api_version,
        kind=found.kind,
        namespace="",
        name=found.name,
        pod_class=decision.pod_class,
        allowed=decision.allowed,
        findings=decision.findings,
        warnings=tuple(
            f"the rule {failure.rule} failed and was not judged: {failure.error}"
            for failure in decision.failures
        ),
        not_judged=(),
    )


def _pods_on(node_name: str, objects: Iterable[SourcedObject]) -> Sequence[JsonObject]:
    return [
        each.raw
        for each in objects
        if each.kind == "Pod" and _node_name(each.raw) == node_name and not each.subresource
    ]


def _node_name(raw: JsonObject) -> object:
    spec = raw.get("spec")
    return spec.get("nodeName") if isinstance(spec, dict) else None
