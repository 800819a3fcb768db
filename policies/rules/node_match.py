"""An offline pod should find at least one node.

Its selection matches no node that is known. That may be right, when a pool grows from zero; the policy's
`nodePools` describe such pools so that they can be judged.
Fields: nodeName, nodeSelector, required node affinity, tolerations, against the inventory.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.pod import PodClass


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when there is an inventory and no node in it is possible."""
    if facts.placement is None or facts.inventory is None or facts.possible_nodes:
        return
    yield Violation(
        path=facts.pod.spec_path,
        message=(
            f"none of the {len(facts.inventory.nodes)} known GPU nodes matches "
            f"{facts.placement.description} and the pod's tolerations"
        ),
    )


RULE = Rule(
    id="node-match",
    title="Some known node matches the offline pod",
    remedy="check the selection; a pool that grows from zero can be described in the policy's `nodePools`",
    source="kube-scheduler's node affinity and taint filters",
    classes=frozenset({PodClass.OFFLINE}),
    check=check,
    needs_inventory=True,
)
