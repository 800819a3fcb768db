"""Binding a pod to a node: only offline pods are refused, for what the node is."""

from dataclasses import replace

import pytest

from policies.engine import decide_binding
from policies.facts import Decision, NodeViolation
from policies.node import NodeProfile, inventory_of
from policies.pod import PodClass, parse_pod
from policies.policy import DEFAULT_ACTIONS, Action, Exemption, Policy, SupportMatrix
from policies.rules import NODE_RULES
from tests.builders import (
    COMPUTE_POLICY,
    DRIVER_VERSION,
    GPU_SCHEDULE,
    MIRROR,
    Object,
    node,
    offline_pod,
    online_pod,
    pod,
    whole_card_pod,
)

NATIVE = node("n1", labels={COMPUTE_POLICY: "native-burst-share"})


def verdict(raw_pod: Object, raw_node: Object, policy: Policy | None = None) -> Decision:
    rules = policy or Policy()
    (target,) = inventory_of([raw_node], rules).nodes
    return decide_binding(parse_pod(raw_pod, rules), target, rules)


def warned(rule: str) -> Policy:
    return Policy(actions={**DEFAULT_ACTIONS, rule: Action.WARN})


@pytest.mark.parametrize(
    ("raw_node", "rules"),
    [
        pytest.param(node(), [], id="good"),
        pytest.param(NATIVE, ["node-compute-policy"], id="native-burst-share"),
        pytest.param(node(labels={GPU_SCHEDULE: None}), ["node-gpu-mode"], id="nvidia"),
        pytest.param(node(os_image="Ubuntu 22.04.4 LTS"), ["node-image"], id="image"),
        pytest.param(node(annotations={DRIVER_VERSION: None}), [], id="driver not known"),
        pytest.param(node(kubelet="v1.28.3-vke.1"), [], id="only warned of"),
        pytest.param(
            node(labels={COMPUTE_POLICY: "native-burst-share"}, os_image="Ubuntu 22.04.4 LTS"),
            ["node-compute-policy", "node-image"],
            id="two reasons",
        ),
    ],
)
def test_what_an_offline_pod_is_refused_for(raw_node: Object, rules: list[str]) -> None:
    decision = verdict(offline_pod(), raw_node)
    assert [f.rule for f in decision.findings] == rules
    assert all(f.action is Action.DENY for f in decision.findings)
    assert decision.allowed is not bool(rules)


@pytest.mark.parametrize(
    "raw_pod",
    [
        pytest.param(online_pod(), id="online"),
        pytest.param(whole_card_pod(), id="whole card"),
        pytest.param(pod(), id="no GPU"),
        pytest.param(offline_pod(annotations={MIRROR: "x"}), id="mirror"),
        pytest.param(offline_pod(metadata={"deletionTimestamp": "x"}), id="being deleted"),
    ],
)
def test_others_are_bound(raw_pod: Object) -> None:
    assert verdict(raw_pod, NATIVE).findings == ()
    assert verdict(raw_pod, NATIVE).allowed


def test_the_message_names_node_and_reason() -> None:
    (finding,) = verdict(offline_pod(), NATIVE).findings
    assert str(finding) == (
        "[node-compute-policy] node n1 cannot suspend offline work for online work: it has compute policy "
        "native-burst-share; select nodes with guaranteed-burst-share or fixed-share"
    )
    assert finding.path == "target.name"


def test_the_node_is_not_named_where_the_policy_says_so() -> None:
    (finding,) = verdict(offline_pod(), NATIVE, Policy(show_node_names=False)).findings
    assert finding.message.startswith("this node cannot")


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        pytest.param(warned("node-compute-policy"), True, id="rule warns"),
        pytest.param(Policy(exemptions=(Exemption(("jobs",)),)), True, id="exempt"),
        pytest.param(Policy(exemptions=(Exemption(("else",)),)), False, id="another is exempt"),
        pytest.param(
            Policy(exemptions=(Exemption(("jobs",), ("node-image",)),)), False, id="other rule"
        ),
    ],
)
def test_the_rules_action_decides(policy: Policy, *, allowed: bool) -> None:
    assert verdict(offline_pod(), NATIVE, policy).allowed is allowed


def test_an_unknown_fact_refuses_where_the_policy_says_so() -> None:
    unknown = node(annotations={DRIVER_VERSION: None})
    assert not verdict(offline_pod(), unknown, Policy(unknown_facts=Action.DENY)).allowed


@pytest.mark.parametrize("denies", [True, False])
def test_a_rule_that_fails(monkeypatch: pytest.MonkeyPatch, *, denies: bool) -> None:
    def broken(_profile: NodeProfile, _support: SupportMatrix) -> list[NodeViolation]:
        raise KeyError("x")

    rule = replace(NODE_RULES[0], check=broken)
    monkeypatch.setattr("policies.binding_verdict.NODE_RULES", (rule,))
    decision = verdict(offline_pod(), node(), Policy(deny_offline_on_rule_error=denies))
    assert decision.allowed is not denies
    assert [failure.rule for failure in decision.failures] == [rule.id]
    assert decision.pod_class is PodClass.OFFLINE


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_a_node_is_found_by_its_name(name: str) -> None:
    inventory = inventory_of([node(n) for n in ("c", "a", "b")], Policy())
    found = inventory.node_named(name)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", ["", "aa", "d"])
def test_a_node_that_is_not_there(name: str) -> None:
    assert inventory_of([node(n) for n in ("a", "b")], Policy()).node_named(name) is None
    assert inventory_of([], Policy()).node_named(name) is None
