from dataclasses import replace

import pytest

from policies.policy import Action, Keys, Policy, SupportMatrix
from tests.builders import Object, found, node, offline_pod

RULE = "node-image"
IMAGE_LABEL = "example.com/image"
LABELLED = Policy(keys=replace(Keys(), image_label=IMAGE_LABEL))


@pytest.mark.parametrize(
    ("raw_node", "action", "said"),
    [
        pytest.param(node(os_image="veLinux 1.0 (CentOS Compatible)"), None, "", id="veLinux 1.0"),
        pytest.param(
            node(os_image="veLinux 2.0"), Action.DENY, "image veLinux 2.0", id="veLinux 2.0"
        ),
        pytest.param(node(os_image="velinux2.0"), Action.DENY, "velinux2.0", id="in one word"),
        pytest.param(
            node(os_image="VELINUX  2.0 LTS"), Action.DENY, "VELINUX", id="case and spaces"
        ),
        pytest.param(
            node(os_image="Ubuntu 22.04.4 LTS"), Action.DENY, "22.04.4", id="Ubuntu 22.04"
        ),
        pytest.param(node(os_image="Ubuntu 20.04.6 LTS"), None, "", id="Ubuntu 20.04"),
        pytest.param(node(os_image="Ubuntu 24.04 LTS"), None, "", id="Ubuntu 24.04"),
        pytest.param(node(os_image=None), Action.WARN, "an unknown image", id="absent is unknown"),
        pytest.param(node(os_image=""), Action.WARN, "an unknown image", id="empty is unknown"),
        pytest.param(
            node(labels={IMAGE_LABEL: "velinux-2.0"}), None, "", id="label that matches no pattern"
        ),
        pytest.param(
            node(labels={IMAGE_LABEL: "ubuntu22.04"}),
            Action.DENY,
            "ubuntu22.04",
            id="label matches",
        ),
        pytest.param(
            node(os_image=None, labels={IMAGE_LABEL: "velinux1.0"}),
            None,
            "",
            id="only the label is known",
        ),
    ],
)
def test_node_image(raw_node: Object, action: Action | None, said: str) -> None:
    result = found(RULE, offline_pod(), nodes=[raw_node], policy=LABELLED)
    assert [(f.path, f.action) for f in result] == ([("spec", action)] if action else [])
    assert all(said in f.message and "gpu-1" in f.message for f in result)


def test_the_label_counts_only_where_the_policy_names_it() -> None:
    assert found(RULE, offline_pod(), nodes=[node(labels={IMAGE_LABEL: "ubuntu22.04"})]) == ()


def test_patterns_are_the_policys() -> None:
    policy = Policy(support=replace(SupportMatrix(), unsupported_images=("velinux 1.0",)))
    (finding,) = found(RULE, offline_pod(), nodes=[node()], policy=policy)
    assert finding.action is Action.DENY
