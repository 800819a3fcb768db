"""Nodes and policy that belong together."""

from dataclasses import replace

from policies.node import Inventory
from policies.policy import Action, Policy
from webhook.controller.node_source import NodeSource
from webhook.state import Snapshot

OLD, NEW = Policy(), Policy(unknown_facts=Action.DENY)
BEFORE = Snapshot(OLD, Inventory(()))


def looked(*snapshots: Snapshot | None) -> NodeSource:
    source = NodeSource()
    for snapshot in snapshots:
        source.look(snapshot, is_fresh=True)
    return source


def test_nothing_before_there_are_policy_and_nodes() -> None:
    assert looked(None).current is None
    assert looked(Snapshot(OLD)).current is None


def test_the_first_nodes_were_read_under_the_policy_beside_them() -> None:
    assert looked(Snapshot(OLD), BEFORE).current is BEFORE


def test_new_nodes_under_the_same_policy() -> None:
    after = Snapshot(OLD, Inventory(()))
    assert looked(BEFORE, after).current is after


def test_a_new_policy_waits_for_nodes_that_were_read_under_it() -> None:
    between = replace(BEFORE, policy=NEW)
    source = looked(BEFORE, between, between)
    assert source.current is BEFORE
    after = Snapshot(NEW, Inventory(()))
    source.look(after, is_fresh=True)
    assert source.current is after


def test_a_policy_that_came_with_its_nodes() -> None:
    after = Snapshot(NEW, Inventory(()))
    assert looked(BEFORE, after).current is after


def test_stale_nodes_are_not_given_until_they_are_fresh() -> None:
    source = looked(BEFORE)
    source.look(BEFORE, is_fresh=False)
    assert source.current is None
    source.look(BEFORE, is_fresh=True)
    assert source.current is BEFORE
