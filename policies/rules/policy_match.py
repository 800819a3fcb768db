"""An online pod must find a node with the compute policy that it asks for.

The scheduler refuses a pod whose policy differs from the node's, and the pod waits for ever. Pods that
ask full cards only are excepted, as there.
Fields: annotation and node label `vke.volcengine.com/mgpu-compute-policy`; absent means fixed-share.
"""

from collections.abc import Iterator

from policies.facts import Facts, Rule, Violation
from policies.node import FIXED_SHARE, MODE_MGPU
from policies.pod import Pod, PodClass
from policies.raw import short_text


def check(facts: Facts) -> Iterator[Violation]:
    """A violation when no possible mGPU node has the pod's policy."""
    key = facts.policy.keys.compute_policy
    profiles = facts.possible_nodes.by_profile() if facts.possible_nodes else []
    offered = {profile.compute_policy for profile, _ in profiles if profile.mode == MODE_MGPU}
    asked = facts.pod.annotations.get(key, FIXED_SHARE)
    if not offered or asked in offered or _asks_full_cards(facts.pod):
        return
    yield Violation(
        path=facts.pod.annotation_path(key),
        message=(
            f"pod asks compute policy {short_text(asked)}, "
            f"its possible nodes have {', '.join(sorted(offered))}"
        ),
    )


def _asks_full_cards(pod: Pod) -> bool:
    cores = [c.core.value if c.core else 0 for c in pod.mgpu_containers]
    return all(core > 0 and core % 100 == 0 for core in cores)


RULE = Rule(
    id="policy-match",
    title="Some possible node has the online pod's compute policy",
    remedy=("set the annotation {keys.compute_policy} to the nodes' policy, or select other nodes"),
    source="the public mGPU scheduler code",
    classes=frozenset({PodClass.ONLINE}),
    check=check,
    needs_inventory=True,
)
