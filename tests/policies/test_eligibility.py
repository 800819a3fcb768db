"""Whether offline pods may run on a node, and when what is written stays."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from policies.eligibility import (
    BECAUSE_ANNOTATION,
    Judgement,
    NodeEligibility,
    eligibility,
    eligibility_patch,
    judge_of,
)
from policies.facts import NodeRule, NodeViolation
from policies.node import NodeProfile, inventory_of
from policies.policy import (
    DEFAULT_ACTIONS,
    ELIGIBLE_LABEL,
    Action,
    Exemption,
    Policy,
    SupportMatrix,
)
from policies.rules import NODE_RULES
from tests.builders import ADDON_VERSION, COMPUTE_POLICY, DRIVER_VERSION, GPU_SCHEDULE, Object, node

STRICT = Policy(unknown_facts=Action.DENY)
NATIVE = node(labels={COMPUTE_POLICY: "native-burst-share"})
UNKNOWN_DRIVER = node(annotations={DRIVER_VERSION: None})
UNKNOWN_AND_NATIVE = node(
    labels={COMPUTE_POLICY: "native-burst-share"}, annotations={DRIVER_VERSION: None}
)
KUBELET = "node-kubelet-version"


def profile_of(raw: Object, policy: Policy) -> NodeProfile:
    return inventory_of([raw], policy).nodes[0].profile


def judged(raw: Object, policy: Policy) -> Judgement:
    return judge_of(policy)(profile_of(raw, policy))


def acting(rule: str, action: Action) -> Policy:
    return Policy(actions={**DEFAULT_ACTIONS, rule: action})


@pytest.mark.parametrize(
    ("raw", "policy", "against"),
    [
        pytest.param(node(), Policy(), (), id="good"),
        pytest.param(NATIVE, Policy(), ("node-compute-policy",), id="native-burst-share"),
        pytest.param(
            NATIVE,
            acting("node-compute-policy", Action.WARN),
            (),
            id="a rule that warns refuses none",
        ),
        pytest.param(node(kubelet="v1.28.3-vke.1"), Policy(), (), id="old kubelet warns"),
        pytest.param(
            node(kubelet="v1.28.3-vke.1"),
            acting(KUBELET, Action.DENY),
            (KUBELET,),
            id="old kubelet denied",
        ),
        pytest.param(
            node(labels={GPU_SCHEDULE: None}), Policy(), ("node-gpu-mode",), id="whole cards"
        ),
        pytest.param(UNKNOWN_DRIVER, Policy(), (), id="unknown driver warns"),
        pytest.param(UNKNOWN_DRIVER, STRICT, ("node-driver-version",), id="unknown driver denied"),
        pytest.param(
            node(
                labels={COMPUTE_POLICY: "native-burst-share"},
                annotations={ADDON_VERSION: "v0.5.9", DRIVER_VERSION: "0.07.35.22"},
                os_image="Ubuntu 22.04.4 LTS",
            ),
            Policy(),
            ("node-compute-policy", "node-image", "node-driver-version", "node-addon-version"),
            id="all ids in the order of the rules",
        ),
        pytest.param(
            NATIVE,
            Policy(exemptions=(Exemption(("jobs",)),)),
            ("node-compute-policy",),
            id="exemptions are of namespaces",
        ),
    ],
)
def test_what_is_against_a_node(raw: Object, policy: Policy, against: tuple[str, ...]) -> None:
    assert judged(raw, policy).against == against


@pytest.mark.parametrize(
    ("raw", "label_now", "eligible"),
    [
        pytest.param(node(), None, True, id="good, new"),
        pytest.param(node(), "false", True, id="good, was bad"),
        pytest.param(NATIVE, "true", False, id="known fault, was good"),
        pytest.param(UNKNOWN_DRIVER, None, False, id="unknown, new"),
        pytest.param(UNKNOWN_DRIVER, "false", False, id="unknown, was bad"),
        pytest.param(UNKNOWN_DRIVER, "true", True, id="unknown, was good: stays"),
        pytest.param(UNKNOWN_DRIVER, "True", False, id="unknown, another word than true"),
        pytest.param(UNKNOWN_AND_NATIVE, "true", False, id="unknown and a known fault, was good"),
    ],
)
def test_only_what_is_known_turns_true_to_false(
    raw: Object, label_now: str | None, *, eligible: bool
) -> None:
    assert eligibility(judged(raw, STRICT), label_now).eligible is eligible


def test_the_unknown_is_named_beside_a_known_fault() -> None:
    wanted = eligibility(judged(UNKNOWN_AND_NATIVE, STRICT), "true")
    assert wanted.because == ("node-compute-policy", "node-driver-version")


def broken(_profile: NodeProfile, _support: SupportMatrix) -> Iterator[NodeViolation]:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("denies", "action", "label_now", "eligible"),
    [
        pytest.param(True, Action.DENY, None, False, id="denies, new"),
        pytest.param(
            True, Action.DENY, "true", True, id="denies, was good: a fault of ours ends no pods"
        ),
        pytest.param(True, Action.WARN, None, False, id="denies, would have warned"),
        pytest.param(True, Action.AUDIT, None, True, id="denies, would only have recorded"),
        pytest.param(False, Action.DENY, None, True, id="allows, new"),
    ],
)
def test_a_rule_that_fails(
    action: Action, label_now: str | None, *, denies: bool, eligible: bool
) -> None:
    """As for a pod: what could only have recorded does not refuse by failing."""
    policy = replace(acting(NODE_RULES[0].id, action), deny_offline_on_rule_error=denies)
    rules: tuple[NodeRule, ...] = (replace(NODE_RULES[0], check=broken), *NODE_RULES[1:])
    judgement = judge_of(policy, rules)(profile_of(node(), policy))
    assert [failure.rule for failure in judgement.failures] == [NODE_RULES[0].id]
    assert eligibility(judgement, label_now).eligible is eligible


@pytest.mark.parametrize(
    ("wanted", "label", "annotation"),
    [
        pytest.param(NodeEligibility(eligible=True), "true", None, id="eligible"),
        pytest.param(
            NodeEligibility(eligible=False, because=("node-image", "node-driver-version")),
            "false",
            "node-image,node-driver-version",
            id="ineligible",
        ),
    ],
)
def test_the_patch_names_our_label_and_annotation_alone(
    wanted: NodeEligibility, label: str, annotation: str | None
) -> None:
    assert eligibility_patch(wanted) == {
        "metadata": {
            "labels": {ELIGIBLE_LABEL: label},
            "annotations": {BECAUSE_ANNOTATION: annotation},
        }
    }
