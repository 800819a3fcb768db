"""The scheduling mode of a node is one that the GPU schedulers know.

Any other value takes the node out of GPU scheduling without a word.
Field: node label `vke.node.gpu.schedule` in an update of a Node. Allowed: absent, `nvidia`, `nvidia-dra`,
`mgpu`.
"""

from collections.abc import Iterator

from policies.facts import Violation
from policies.node import MODE_MGPU, MODE_NVIDIA, MODE_NVIDIA_DRA
from policies.node_change import NodeChange, NodeChangeRule

MODES = (MODE_NVIDIA, MODE_NVIDIA_DRA, MODE_MGPU)


def check(change: NodeChange) -> Iterator[Violation]:
    """A violation when the update sets an unknown value."""
    value = change.new.mode_label
    if value is None or value in MODES or value == change.old.mode_label:
        return
    key = change.policy.keys.gpu_schedule
    yield Violation(
        path=f"metadata.labels[{key}]",
        message=f'label {key} of node {change.name} is "{value}", which is no scheduling mode',
    )


RULE = NodeChangeRule(
    id="node-mode-value",
    title="A node's scheduling mode is a known one",
    remedy=f"write one of {', '.join(MODES)} exactly; any other value ends GPU scheduling on the node",
    source="VKE GPU scheduling overview",
    check=check,
)
