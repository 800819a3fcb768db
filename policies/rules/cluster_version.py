"""Hybrid deployment needs a control plane that knows it.

Field: the server's gitVersion. Allowed: at or above the gate of its minor version. A version that cannot
be compared (an odd minor, a missing `-vke.N` where the build matters) is unknown, never a guess.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass
from policies.versions import Support, kubernetes_support


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when the version is too old; one of the policy's `unknownFacts` when it is unknown."""
    version = facts.cluster_version
    match kubernetes_support(version, facts.policy.support.kubernetes):
        case Support.SUPPORTED:
            return
        case Support.TOO_OLD:
            message = f"control plane {version} is older than hybrid deployment needs"
            yield Violation(path=facts.pod.spec_path, message=message)
        case Support.UNKNOWN:
            message = f"whether control plane {version} knows hybrid deployment is not known"
            yield Violation(
                path=facts.pod.spec_path, message=message, at_most=facts.policy.unknown_facts
            )


RULE = Rule(
    id="cluster-version",
    title="The control plane is new enough for hybrid deployment",
    remedy="upgrade the cluster to {gates} or later",
    source="VKE documentation of hybrid deployment, version requirements",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
    needs_cluster_version=True,
)
