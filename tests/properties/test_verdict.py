"""What must hold for every verdict, whatever the pod."""

import random
from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from policies import engine
from policies.engine import decide
from policies.facts import Decision, Facts, Finding, Operation
from policies.node import Inventory, inventory_of
from policies.pod import PodClass, parse_pod
from policies.policy import Action, Policy
from policies.rules import NODE_RULES
from tests.properties.defaulting import stored
from tests.properties.fields import Document
from tests.properties.injections import POLICIES
from tests.properties.patching import patched
from tests.properties.placements import NODE_LABELS
from tests.properties.pods import offline_pods, pods

POLICY = Policy()
UNTOUCHED = frozenset({PodClass.ONLINE, PodClass.WHOLE_CARD, PodClass.DRA, PodClass.NONE})


def _node(name: str, labels: dict[str, str]) -> Document:
    status = {"allocatable": {"vke.volcengine.com/mgpu-core": "800"}}
    return {"metadata": {"name": name, "labels": labels}, "status": status}


INVENTORIES: st.SearchStrategy[Inventory | None] = st.one_of(
    st.none(),
    st.lists(NODE_LABELS, max_size=3).map(
        lambda nodes: inventory_of(
            [_node(f"node-{i}", labels) for i, labels in enumerate(nodes)], POLICY
        )
    ),
)
VERSIONS = st.sampled_from([None, "v1.28.15-vke.19", "v1.28.3-vke.99", "v1.27.1", "x"])


def _facts(raw: Document, inventory: Inventory | None = None, version: str | None = None) -> Facts:
    return Facts(
        pod=parse_pod(raw, POLICY), policy=POLICY, inventory=inventory, cluster_version=version
    )


def _verdict(decision: Decision) -> tuple[bool, frozenset[Finding]]:
    return decision.allowed, frozenset(decision.findings)


def _told(decision: Decision) -> frozenset[tuple[str, Action]]:
    return frozenset((finding.rule, finding.action) for finding in decision.findings)


@given(raw=offline_pods(), inventory=INVENTORIES, version=VERSIONS)
def test_an_offline_pod_has_what_the_injected_rule_wants_after_mutation_and_after_defaulting(
    raw: Document, inventory: Inventory | None, version: str | None
) -> None:
    for pod in (patched(raw), stored(patched(raw)), stored(patched(stored(raw)))):
        decision = decide(_facts(pod, inventory, version))
        assert not decision.failures
        assert "injected" not in {finding.rule for finding in decision.findings}


@given(raw=pods(), inventory=INVENTORIES, version=VERSIONS)
def test_what_is_admitted_after_mutation_is_admitted_after_defaulting_and_another_mutation(
    raw: Document, inventory: Inventory | None, version: str | None
) -> None:
    first = decide(_facts(patched(raw), inventory, version))
    event(f"{first.pod_class} allowed: {first.allowed}")
    again = decide(_facts(patched(stored(patched(raw))), inventory, version))
    assert (first.allowed, _told(first)) == (again.allowed, _told(again))


@given(raw=pods(), inventory=INVENTORIES, version=VERSIONS)
def test_a_file_has_the_verdict_that_the_cluster_gives(
    raw: Document, inventory: Inventory | None, version: str | None
) -> None:
    in_file = decide(_facts(patched(raw), inventory, version))
    in_cluster = decide(_facts(stored(patched(stored(raw))), inventory, version))
    assert in_file.pod_class == in_cluster.pod_class
    assert (in_file.allowed, _told(in_file)) == (in_cluster.allowed, _told(in_cluster))


@given(raw=offline_pods())
def test_the_order_of_mutation_and_defaulting_does_not_matter(raw: Document) -> None:
    def comparable(pod: Document) -> Document:
        spec = pod["spec"]
        assert isinstance(spec, dict)
        return {**pod, "spec": {**spec, "tolerations": sorted(map(str, spec["tolerations"]))}}

    assert comparable(stored(patched(raw))) == comparable(stored(patched(stored(raw))))


@given(raw=pods(), seed=st.integers(0, 2**16), inventory=INVENTORIES, version=VERSIONS)
def test_the_order_of_rules_changes_no_verdict(
    raw: Document, seed: int, inventory: Inventory | None, version: str | None
) -> None:
    facts = _facts(raw, inventory, version)
    expected = _verdict(decide(facts))
    shuffled = {
        pod_class: tuple(random.Random(seed).sample(rules, len(rules)))
        for pod_class, rules in engine.RULES_BY_CLASS.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "RULES_BY_CLASS", shuffled)
        patch.setattr(engine, "NODE_RULES", NODE_RULES[::-1])
        assert _verdict(decide(facts)) == expected


@given(raw=pods())
def test_pods_that_are_not_offline_are_not_patched(raw: Document) -> None:
    if parse_pod(raw, POLICY).pod_class in UNTOUCHED:
        assert patched(raw, POLICIES["everything"]) == raw


@given(raw=pods(), inventory=INVENTORIES, version=VERSIONS)
def test_pods_that_have_no_gpu_have_no_finding(
    raw: Document, inventory: Inventory | None, version: str | None
) -> None:
    decision = decide(_facts(raw, inventory, version))
    if decision.pod_class is PodClass.NONE:
        assert decision.allowed
        assert not decision.findings


@given(raw=pods(), old=pods())
def test_a_pod_is_denied_exactly_by_findings_that_deny(raw: Document, old: Document) -> None:
    facts = replace(_facts(raw), old=parse_pod(old, POLICY), operation=Operation.UPDATE)
    for decision in (decide(facts), decide(_facts(raw))):
        assert decision.allowed == (not decision.by_action(Action.DENY))
        assert not decision.failures


@given(raw=pods(), inventory=INVENTORIES, version=VERSIONS)
def test_an_update_that_changes_nothing_is_allowed_without_a_finding(
    raw: Document, inventory: Inventory | None, version: str | None
) -> None:
    facts = _facts(raw, inventory, version)
    decision = decide(replace(facts, operation=Operation.UPDATE, old=facts.pod))
    assert decision.allowed
    assert not decision.findings


@given(raw=offline_pods())
def test_what_an_earlier_injection_wrote_counts_while_it_is_remembered(raw: Document) -> None:
    facts = _facts(patched(raw, POLICIES["not-refused"]))
    remembered = replace(facts, previous_injections=(POLICIES["not-refused"].injection,))
    assert "injected" not in {finding.rule for finding in decide(remembered).findings}


@given(raw=offline_pods())
def test_what_replicas_of_two_policies_wrote_one_after_the_other_suits_both(raw: Document) -> None:
    one, other = POLICIES["everything"], POLICIES["not-refused"]
    both = patched(patched(raw, one), other)
    for policy in (one, other):
        facts = Facts(pod=parse_pod(both, policy), policy=policy)
        assert "injected" not in {finding.rule for finding in decide(facts).findings}
