"""One object in, one result out: what the cluster would say to it.

A pod is judged as the cluster would judge it: mutated first, then validated. Pod templates are not
mutated, since the pods made from them will be. Everything else is skipped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cli.inputs import Cluster
from policies.apply import apply_in_place
from policies.engine import decide, mutate
from policies.errors import MalformedError
from policies.facts import Decision, Facts, Finding, Operation
from policies.manifest.manifests import SourcedObject
from policies.patch import Mutation
from policies.pod import DeviceClasses, Pod, PodClass, parse_pod
from policies.policy import Action
from policies.raw import JsonObject
from policies.templates import pod_templates, template_kind

CLASS_ORDER = tuple(PodClass)
JUDGED_OPERATIONS = frozenset({Operation.CREATE, Operation.UPDATE})


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one object; a workload with several templates has one result for all."""

    source: str
    api_version: str
    kind: str
    namespace: str
    name: str
    pod_class: PodClass
    allowed: bool
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    not_judged: tuple[str, ...]

    @property
    def is_warned(self) -> bool:
        """Whether it is allowed, but not without a warning."""
        warned = self.warnings or any(f.action is Action.WARN for f in self.findings)
        return self.allowed and bool(warned)


def is_pod(found: SourcedObject) -> bool:
    """Whether it is a pod as such, neither a template nor one of its subresources but status."""
    is_v1_pod = found.kind == "Pod" and found.api_version == "v1"
    return is_v1_pod and found.subresource in {"", "status"}


def is_mutated(found: SourcedObject) -> bool:
    """Whether the mutating webhook would be asked about it."""
    return is_pod(found) and not found.subresource and found.operation is Operation.CREATE


def judge(found: SourcedObject, cluster: Cluster, device_classes: DeviceClasses) -> Result | None:
    """The result, None for what is skipped. Raises ManifestError for what Kubernetes cannot read."""
    if found.operation not in JUDGED_OPERATIONS:
        return None
    try:
        judgements = list(_judgements(found, cluster, device_classes))
    except MalformedError as error:
        raise found.malformed(error.path, error.message) from error
    if not judgements and not _holds_pods(found, cluster):
        return None
    return _result(found, cluster, judgements)


Judgement = tuple[Decision, Mutation]


def _holds_pods(found: SourcedObject, cluster: Cluster) -> bool:
    if found.subresource:
        return False
    return template_kind(found.raw, cluster.policy) is not None


def _judgements(
    found: SourcedObject, cluster: Cluster, device_classes: DeviceClasses
) -> Iterator[Judgement]:
    facts = _Facts(found, cluster, device_classes)
    if is_pod(found):
        yield facts.of_pod()
    elif found.kind == "Binding" and found.api_version == "v1":
        yield decide(facts.about(facts.pod(found.raw), subresource="binding")), Mutation()
    elif not found.subresource:
        yield from facts.of_templates()


class _Facts:
    """Makes the facts for one object."""

    def __init__(
        self, found: SourcedObject, cluster: Cluster, device_classes: DeviceClasses
    ) -> None:
        self.found = found
        self.cluster = cluster
        self.device_classes = device_classes
        self.namespace = found.namespace or cluster.namespace

    def of_pod(self) -> Judgement:
        found, policy = self.found, self.cluster.policy
        pod = self.pod(found.raw)
        mutation = mutate(pod, policy) if is_mutated(found) else Mutation()
        if mutation.changes:
            pod = self.pod(apply_in_place(found.raw, mutation))
        old = None if found.old is None else self.pod(found.old)
        return decide(self.about(pod, old=old, subresource=found.subresource)), mutation

    def of_templates(self) -> Iterator[Judgement]:
        policy = self.cluster.policy
        old = dict(pod_templates(self.found.old or {}, policy))
        for path, template in pod_templates(self.found.raw, policy):
            before = self.pod(old[path], path) if path in old else None
            facts = self.about(self.pod(template, path), old=before, kind=self.found.kind)
            yield decide(facts), Mutation()

    def pod(self, raw: JsonObject, path: str = "") -> Pod:
        pod = parse_pod(
            raw,
            self.cluster.policy,
            namespace=self.namespace,
            path=path,
            device_classes=self.device_classes,
        )
        return pod if pod.namespace == self.namespace else replace(pod, namespace=self.namespace)

    def about(
        self, pod: Pod, *, old: Pod | None = None, subresource: str = "", kind: str = ""
    ) -> Facts:
        return Facts(
            pod=pod,
            policy=self.cluster.policy,
            operation=self.found.operation,
            old=old,
            username=self.found.username,
            inventory=self.cluster.inventory,
            cluster_version=self.cluster.kubernetes_version,
            template_kind=kind,
            subresource=subresource,
        )


def _result(found: SourcedObject, cluster: Cluster, judgements: Sequence[Judgement]) -> Result:
    decisions = [decision for decision, _ in judgements]
    warnings = [text for _, mutation in judgements for text in mutation.warnings]
    warnings += [
        f"the rule {failure.rule} failed and was not judged: {failure.error}"
        for decision in decisions
        for failure in decision.failures
    ]
    classes = [decision.pod_class for decision in decisions] or [PodClass.NONE]
    return Result(
        source=found.source,
        api_version=found.api_version,
        kind=found.kind,
        namespace=found.namespace or cluster.namespace,
        name=found.name,
        pod_class=min(classes, key=CLASS_ORDER.index),
        allowed=all(decision.allowed for decision in decisions),
        findings=tuple(finding for decision in decisions for finding in decision.findings),
        warnings=tuple(warnings),
        not_judged=tuple(dict.fromkeys(rule for d in decisions for rule in d.not_judged)),
    )
