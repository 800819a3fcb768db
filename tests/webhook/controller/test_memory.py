"""What is on the nodes, as far as the live nodes do not say it."""

from policies.eligibility import BECAUSE_ANNOTATION, NodeEligibility
from policies.node import Node, inventory_of
from policies.policy import ELIGIBLE_LABEL, Policy
from tests.builders import Object, node
from webhook.controller.memory import ECHO_SECONDS, Memory
from webhook.controller.plan import OnNode, Write

NEW = OnNode(None, None)
REFUSED = OnNode("false", "node-image")


def labelled(value: str | None) -> Object:
    return node(
        "one", labels={ELIGIBLE_LABEL: value}, annotations={BECAUSE_ANNOTATION: "node-image"}
    )


def live(value: str | None) -> Node:
    return inventory_of([labelled(value)], Policy()).nodes[0]


def writing(now: OnNode, *because: str) -> Write:
    return Write("one", now, NodeEligibility(eligible=not because, because=because))


def test_the_annotation_comes_from_the_list() -> None:
    assert Memory([{"items": [labelled("false")]}]).record(live("false"), 0.0).now == REFUSED


def test_it_counts_only_where_the_node_is_still_ineligible() -> None:
    memory = Memory([{"items": [labelled("false")]}])
    assert memory.record(live("true"), 0.0).now == OnNode("true", None)


def test_a_node_that_cannot_be_read_is_passed_over() -> None:
    ill: Object = {"metadata": {"name": "ill", "annotations": {"a": 7}}}
    assert Memory([{"items": [ill, labelled("false")]}]).record(live("false"), 0.0).now == REFUSED


def test_a_write_counts_until_the_watch_shows_it() -> None:
    memory = Memory(())
    memory.note(writing(NEW, "node-image"), 100.0)
    assert memory.record(live(None), 100.1).now == REFUSED
    assert memory.record(live("false"), 100.2).now == REFUSED


def test_a_write_that_the_watch_never_shows_counts_no_more_after_a_while() -> None:
    memory = Memory(())
    memory.note(writing(NEW, "node-image"), 100.0)
    assert memory.record(live(None), 100.0 + ECHO_SECONDS).now == NEW


def test_what_somebody_wrote_after_us_counts() -> None:
    memory = Memory(())
    memory.note(writing(REFUSED), 100.0)
    assert memory.record(live("yes"), 100.1).now == OnNode("yes", None)


def test_a_node_that_is_gone_is_forgotten() -> None:
    memory = Memory([{"items": [labelled("false")]}])
    memory.note(writing(NEW, "node-image"), 100.0)
    memory.keep_only(set())
    assert memory.record(live("false"), 100.0).now == OnNode("false", None)
