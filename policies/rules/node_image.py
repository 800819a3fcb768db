"""The node's image can run hybrid deployment.

Fields: `status.nodeInfo.osImage`, and the node label that the policy names for images. The kernel
version does not tell the image. Allowed: whatever holds none of the policy's unsupported patterns, case
and spaces aside.
"""

from collections.abc import Iterator

from policies.facts import NodeRule, NodeViolation
from policies.node import NodeProfile
from policies.policy import SupportMatrix


def check(node: NodeProfile, support: SupportMatrix) -> Iterator[NodeViolation]:
    """A violation for an unsupported image, an unknown one where no image is stated."""
    images = [image for image in (node.os_image, node.image_label) if image]
    if not images:
        yield NodeViolation("an unknown image", is_unknown=True)
        return
    patterns = [_folded(pattern) for pattern in support.unsupported_images]
    for image in images:
        if any(pattern in _folded(image) for pattern in patterns):
            yield NodeViolation(f"image {image}")
            return


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


RULE = NodeRule(
    id="node-image",
    title="The node's image supports hybrid deployment",
    remedy="select nodes with another image: {unsupported_images} do not support hybrid deployment",
    source="VKE documentation of hybrid deployment, limits",
    check=check,
)
