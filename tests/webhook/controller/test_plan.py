"""Which nodes are written, in which order."""

import pytest

from policies.node import inventory_of
from policies.policy import DEFAULT_ACTIONS, ELIGIBLE_LABEL, Action, Policy
from tests.builders import COMPUTE_POLICY, DRIVER_VERSION, Object, node
from webhook.controller.plan import NodeRecord, OnNode, Plan, plan

BAD: dict[str, str | None] = {COMPUTE_POLICY: "native-burst-share"}
WHY = "node-compute-policy"
NEW = OnNode(None, None)


def recorded(raw: Object, now: OnNode) -> NodeRecord:
    return NodeRecord(inventory_of([raw], Policy()).nodes[0], now)


def planned(*records: tuple[Object, OnNode], policy: Policy | None = None) -> Plan:
    return plan(policy or Policy(), [recorded(raw, now) for raw, now in records])


@pytest.mark.parametrize(
    ("raw", "now", "becomes"),
    [
        pytest.param(node(), NEW, OnNode("true", None), id="good, new"),
        pytest.param(node(), OnNode("true", None), None, id="good, written"),
        pytest.param(node(), OnNode("false", WHY), OnNode("true", None), id="good, was bad"),
        pytest.param(node(), OnNode("true", WHY), OnNode("true", None), id="good, old reason left"),
        pytest.param(node(labels=BAD), NEW, OnNode("false", WHY), id="bad, new"),
        pytest.param(node(labels=BAD), OnNode("false", WHY), None, id="bad, written"),
        pytest.param(
            node(labels=BAD),
            OnNode("false", None),
            OnNode("false", WHY),
            id="bad, reason not known",
        ),
        pytest.param(
            node(labels=BAD),
            OnNode("false", "node-image"),
            OnNode("false", WHY),
            id="bad, other reason",
        ),
        pytest.param(
            node(labels=BAD), OnNode("true", None), OnNode("false", WHY), id="bad, was good"
        ),
        pytest.param(node(), OnNode("yes", None), OnNode("true", None), id="another word"),
    ],
)
def test_a_node_is_written_when_it_says_something_else(
    raw: Object, now: OnNode, becomes: OnNode | None
) -> None:
    assert [write.becomes for write in planned((raw, now)).writes] == ([becomes] if becomes else [])


@pytest.mark.parametrize(
    ("raw", "label", "is_flip", "takes_away"),
    [
        pytest.param(node(labels=BAD), "true", True, True, id="true to false"),
        pytest.param(node(labels=BAD), None, False, True, id="nothing to false"),
        pytest.param(node(labels=BAD), "yes", False, True, id="another word to false"),
        pytest.param(node(labels=BAD), "false", False, False, id="only another reason"),
        pytest.param(node(), "false", True, False, id="false to true"),
        pytest.param(node(), None, False, False, id="nothing to true"),
    ],
)
def test_what_a_write_does(
    raw: Object, label: str | None, *, is_flip: bool, takes_away: bool
) -> None:
    (write,) = planned((raw, OnNode(label, None))).writes
    assert (write.is_flip, write.takes_away) == (is_flip, takes_away)


def test_the_order_is_by_what_happens_meanwhile_then_by_name() -> None:
    made = planned(
        (node("a", labels=BAD), OnNode("false", "node-image")),
        (node("b", labels=BAD), NEW),
        (node("d"), NEW),
        (node("c"), OnNode("false", WHY)),
        (node("e", labels=BAD), OnNode("true", None)),
    )
    assert [write.node_name for write in made.writes] == ["e", "c", "d", "b", "a"]


def test_nodes_are_counted_whether_written_or_not() -> None:
    made = planned(
        (node("a"), OnNode("true", None)),
        (node("b"), NEW),
        (node("c", labels=BAD), OnNode("false", WHY)),
        (node("d", labels=BAD, annotations={DRIVER_VERSION: "0.07.35.22"}), NEW),
    )
    assert made.eligible == 2
    assert made.ineligible == {WHY: 2, "node-driver-version": 1}


def test_another_policy_judges_anew() -> None:
    warns = Policy(actions={**DEFAULT_ACTIONS, WHY: Action.WARN})
    (write,) = planned((node(labels=BAD), OnNode("false", WHY)), policy=warns).writes
    assert write.becomes == OnNode("true", None)


def test_the_label_is_the_one_that_is_injected() -> None:
    requirements = Policy().injection.node_requirements
    assert [r.values for r in requirements if r.key == ELIGIBLE_LABEL] == [("true",)]
