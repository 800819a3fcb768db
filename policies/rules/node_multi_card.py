"""The node is not in multi-card mode, which cannot be hybrid.

Field: node annotation `mgpu-hybrid.io/multi-card`, written by the agent. Allowed: absent or `disabled`.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import NodeProfile
from policies.policy import SupportMatrix


def check(node: NodeProfile, _support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for `enabled`, an unknown one for any other value."""
    if node.multi_card in (None, "disabled"):
        return
    if node.multi_card == "enabled":
        yield NodeViolation("multi-card mode enabled")
        return
    yield NodeViolation(f'an unknown multi-card mode "{node.multi_card}"', is_unknown=True)


RULE = NodeRule(
    id="node-multi-card",
    title="The node is not in multi-card mode",
    remedy="select nodes without multi-card mode",
    source="VKE documentation of hybrid deployment",
    check=check,
)
