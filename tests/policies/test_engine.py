"""How the engine combines rules: what is judged when, and what becomes of a rule that raises."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from policies import engine
from policies.errors import MalformedError
from policies.facts import Facts, Operation, Rule, RuleFailure, Violation
from policies.pod import PodClass
from policies.policy import DEFAULT_ACTIONS, Action, Exemption, Policy
from policies.rules import NODE_RULES
from tests.builders import (
    ASSUMED,
    COMPUTE_POLICY,
    GPU_INDEX,
    MGPU_CORE,
    MIRROR,
    MULTI_CARD,
    QOS_LEVEL,
    RECLAIMED,
    Object,
    bare_offline_pod,
    container,
    decision,
    facts_of,
    findings,
    found,
    mutated,
    node,
    offline_pod,
    online_pod,
    pod,
    template_of,
    whole_card_pod,
)

WRONG = offline_pod(annotations={COMPUTE_POLICY: "native-burst-share", MULTI_CARD: "2"})
WRONG_NODE = node(labels={COMPUTE_POLICY: "native-burst-share"})


def noted(raw: Object, **metadata: object) -> Object:
    """The same pod with more metadata."""
    own = raw["metadata"]
    assert isinstance(own, dict)
    return {**raw, "metadata": {**own, **metadata}}


def test_all_findings_come_at_once() -> None:
    raw = bare_offline_pod(
        container({RECLAIMED: "150", MGPU_CORE: "20"}),
        annotations={COMPUTE_POLICY: "native-burst-share", MULTI_CARD: "2", ASSUMED: "true"},
        activeDeadlineSeconds=1,
    )
    result = decision(raw, nodes=[WRONG_NODE], cluster_version="v1.28.3-vke.1")
    assert not result.allowed
    assert {f.rule for f in result.by_action(Action.DENY)} == {
        "offline-compute",
        "offline-memory",
        "compute-policy",
        "multi-card",
        "scheduler-annotations",
        "injected",
        "cluster-version",
        "node-compute-policy",
    }
    assert [f.rule for f in result.by_action(Action.WARN)] == ["offline-deadline"]


def test_a_warning_refuses_nothing() -> None:
    result = decision(offline_pod(activeDeadlineSeconds=1))
    assert result.allowed
    assert [f.action for f in result.findings] == [Action.WARN]


def test_a_finding_reads_as_rule_message_and_remedy() -> None:
    (finding,) = found("multi-card", WRONG)
    assert str(finding).startswith("[multi-card] annotation ")
    assert str(finding).endswith(f"; {finding.remedy}")


def test_a_remedy_of_the_violation_goes_before_the_rules() -> None:
    binding: Object = {"metadata": {"name": "app", "annotations": {ASSUMED: "true"}}}
    (own,) = found("scheduler-annotations", binding, subresource="binding")
    (general,) = found("scheduler-annotations", offline_pod(annotations={ASSUMED: "true"}))
    assert own.remedy.startswith("leave them alone; if this user is the scheduler")
    assert general.remedy == "leave these annotations out when creating a pod"


@pytest.mark.parametrize("action", [Action.WARN, Action.AUDIT, Action.OFF])
def test_the_action_is_the_policys(action: Action) -> None:
    policy = Policy(actions={**DEFAULT_ACTIONS, "multi-card": action})
    result = decision(offline_pod(annotations={MULTI_CARD: "2"}), policy=policy)
    assert result.allowed
    assert [f.action for f in result.findings] == ([] if action is Action.OFF else [action])


# --- what an update changes -------------------------------------------------------------------


def updated(new: Object, old: Object) -> set[str]:
    result = decision(new, old=old, operation=Operation.UPDATE, nodes=[WRONG_NODE], username="eve")
    return {f.rule for f in result.findings}


def test_an_update_of_something_else_passes_whatever_was_wrong_before() -> None:
    assert findings(WRONG, nodes=[WRONG_NODE])
    assert updated(noted(WRONG, labels={"a": "b"}), WRONG) == set()
    assert updated(noted(WRONG, finalizers=["example.com/f"]), WRONG) == set()


def test_an_update_is_judged_by_what_it_adds() -> None:
    old = offline_pod(annotations={MULTI_CARD: "2"})
    assert updated(WRONG, old) == {"compute-policy", "class-change"}


def test_another_wrong_value_is_a_change() -> None:
    old = online_pod(annotations={QOS_LEVEL: "one"})
    assert updated(online_pod(annotations={QOS_LEVEL: "two"}), old) == {"qos-level"}


def test_an_update_that_mends_passes() -> None:
    old = online_pod(annotations={QOS_LEVEL: "one"})
    assert updated(online_pod(annotations={QOS_LEVEL: "shared_cores"}), old) == set()


def test_a_mark_taken_away_is_refused() -> None:
    assert updated(offline_pod(annotations={QOS_LEVEL: None}), offline_pod()) == {
        "offline-annotation"
    }


def test_new_node_selection_is_judged() -> None:
    old = offline_pod(nodeSelector={"pool": "elsewhere"})
    assert updated(offline_pod(), old) == {"node-compute-policy"}


def test_a_pod_that_is_being_deleted_passes() -> None:
    deleting = noted(WRONG, deletionTimestamp="2026-01-01T00:00:00Z")
    assert updated(deleting, offline_pod()) == set()
    assert updated(noted(WRONG, deletionTimestamp=None), offline_pod())


def test_the_status_subresource_is_judged_like_an_update() -> None:
    new, old = online_pod(annotations={GPU_INDEX: "0"}), online_pod()
    result = findings(new, old=old, operation=Operation.UPDATE, subresource="status")
    assert result == {("scheduler-annotations", Action.WARN)}


def test_deleting_is_always_allowed() -> None:
    assert decision(WRONG, operation=Operation.DELETE).findings == ()
    assert decision(WRONG, operation=Operation.CONNECT).allowed


def test_mirror_pods_pass_and_stay_as_they_are() -> None:
    raw = bare_offline_pod(annotations={MIRROR: "x", MULTI_CARD: "2"})
    assert decision(raw, nodes=[WRONG_NODE]).findings == ()
    assert mutated(raw) == raw


# --- exemptions -------------------------------------------------------------------------------


def exempting(*rules: str) -> Policy:
    return Policy(exemptions=(Exemption(("jobs",), rules),))


def test_an_exempt_namespace_is_only_recorded() -> None:
    result = decision(WRONG, policy=exempting(), nodes=[WRONG_NODE])
    assert result.allowed
    assert {(f.rule, f.action) for f in result.findings} == {
        ("compute-policy", Action.AUDIT),
        ("multi-card", Action.AUDIT),
        ("node-compute-policy", Action.AUDIT),
    }


def test_an_exempt_namespace_is_still_injected() -> None:
    assert mutated(bare_offline_pod(), exempting()) == offline_pod()


def test_an_exemption_may_name_rules() -> None:
    assert findings(WRONG, policy=exempting("multi-card")) == {
        ("compute-policy", Action.DENY),
        ("multi-card", Action.AUDIT),
    }


def test_another_namespace_is_not_exempt() -> None:
    policy = Policy(exemptions=(Exemption(("job", "jobs-2")),))
    assert not decision(WRONG, policy=policy).allowed


def test_a_label_exempts_nobody() -> None:
    raw = noted(WRONG, labels={"kubernetes.io/metadata.name": "jobs-2"})
    assert not decision(raw, policy=Policy(exemptions=(Exemption(("jobs-2",)),))).allowed


# --- a rule that raises -----------------------------------------------------------------------


def raising(_facts: Facts) -> Iterator[Violation]:
    raise KeyError("x")


def break_rule(monkeypatch: pytest.MonkeyPatch, rule_id: str) -> None:
    broken = {
        pod_class: tuple(replace(r, check=raising) if r.id == rule_id else r for r in rules)
        for pod_class, rules in engine.RULES_BY_CLASS.items()
    }
    monkeypatch.setattr(engine, "RULES_BY_CLASS", broken)


def test_the_other_rules_are_still_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, "multi-card")
    result = decision(WRONG)
    assert [f.rule for f in result.findings] == ["compute-policy"]
    assert result.failures == (RuleFailure("multi-card", "KeyError: 'x'"),)
    assert not result.allowed


def test_a_failure_takes_no_refusal_back(monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, "multi-card")
    assert not decision(WRONG, policy=Policy(deny_offline_on_rule_error=False)).allowed


def test_a_failure_refuses_offline_pods_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, "container-name")
    for raw, allowed in ((offline_pod(), False), (online_pod(), True)):
        result = decision(raw)
        assert [f.rule for f in result.failures] == ["container-name"]
        assert result.findings == ()
        assert result.allowed is allowed


def test_what_a_failure_does_is_the_policys(monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, "container-name")
    policy = Policy(deny_offline_on_rule_error=False, deny_others_on_rule_error=True)
    assert decision(offline_pod(), policy=policy).allowed
    assert not decision(online_pod(), policy=policy).allowed


def test_a_failure_refuses_nothing_in_an_exempt_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, "multi-card")
    assert decision(offline_pod(), policy=exempting()).allowed
    assert decision(offline_pod(), policy=exempting("multi-card")).allowed
    assert not decision(offline_pod(), policy=exempting("qos-level")).allowed


def test_a_rule_that_is_off_cannot_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    break_rule(monkeypatch, "multi-card")
    policy = Policy(actions={**DEFAULT_ACTIONS, "multi-card": Action.OFF})
    assert decision(offline_pod(), policy=policy).failures == ()


def test_a_malformed_document_is_no_failure_of_a_rule() -> None:
    raw = offline_pod({**container({RECLAIMED: "50"}), "livenessProbe": []})
    with pytest.raises(MalformedError, match=r"spec\.containers\[0\]\.livenessProbe"):
        decision(raw)


# --- what is not judged -----------------------------------------------------------------------

NODE_RULE_IDS = {
    "node-gpu-mode",
    "node-compute-policy",
    "node-image",
    "node-driver-version",
    "node-addon-version",
    "node-kubelet-version",
    "node-multi-card",
}


def test_without_nodes_and_version_rules_are_not_judged_and_say_nothing() -> None:
    result = decision(offline_pod())
    assert set(result.not_judged) == NODE_RULE_IDS | {"node-match", "cluster-version"}
    assert result.findings == ()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(online_pod(), {"policy-match", "gpu-mode-mismatch"}, id="online"),
        pytest.param(whole_card_pod(), {"gpu-mode-mismatch"}, id="whole card"),
        pytest.param(pod(), set(), id="none"),
    ],
)
def test_not_judged_of_other_classes(raw: Object, expected: set[str]) -> None:
    assert set(decision(raw).not_judged) == expected


def test_with_nodes_and_version_everything_is_judged() -> None:
    result = decision(offline_pod(), nodes=[node()], cluster_version="v1.30.4-vke.3")
    assert result.not_judged == ()


def test_nodes_alone_and_a_version_alone() -> None:
    assert decision(offline_pod(), nodes=[node()]).not_judged == ("cluster-version",)
    only_version = decision(offline_pod(), cluster_version="v1.30.4-vke.3")
    assert set(only_version.not_judged) == NODE_RULE_IDS | {"node-match"}


def test_rules_that_are_off_are_not_counted() -> None:
    policy = Policy(actions={**DEFAULT_ACTIONS, "node-match": Action.OFF, "node-image": Action.OFF})
    expected = (NODE_RULE_IDS | {"cluster-version"}) - {"node-image"}
    assert set(decision(offline_pod(), policy=policy).not_judged) == expected


# --- bindings, templates, audit ---------------------------------------------------------------


def test_a_binding_is_judged_by_its_annotations_alone() -> None:
    raw: Object = {"metadata": {"name": "app", "annotations": {QOS_LEVEL: "x", ASSUMED: "true"}}}
    result = decision(raw, subresource="binding", nodes=[WRONG_NODE], username="eve")
    assert [(f.rule, f.action) for f in result.findings] == [
        ("scheduler-annotations", Action.WARN),
        ("class-change", Action.WARN),
    ]
    assert result.not_judged == ()


def test_a_template_is_judged_by_pod_rules() -> None:
    raw = template_of(WRONG)
    assert findings(raw, template_kind="Job") == {
        ("compute-policy", Action.DENY),
        ("multi-card", Action.DENY),
    }
    (finding,) = found("multi-card", raw, template_kind="Job")
    assert finding.path == f"spec.template.metadata.annotations[{MULTI_CARD}]"


def test_audit_judges_what_runs_as_it_is() -> None:
    raw = bare_offline_pod(annotations={ASSUMED: "true", MULTI_CARD: "2"})
    assert findings(raw, is_audit=True) == {("multi-card", Action.DENY)}


# --- order ------------------------------------------------------------------------------------


def test_the_order_of_rules_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = bare_offline_pod(container({RECLAIMED: "0"}), annotations={MULTI_CARD: "2"})
    before = decision(raw, nodes=[WRONG_NODE])

    def backwards(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return rules[::-1]

    by_class = {c: backwards(rules) for c, rules in engine.RULES_BY_CLASS.items()}
    monkeypatch.setattr(engine, "RULES_BY_CLASS", by_class)
    monkeypatch.setattr(engine, "NODE_RULES", NODE_RULES[::-1])
    after = decision(raw, nodes=[WRONG_NODE])
    assert set(after.findings) == set(before.findings)
    assert len(after.findings) == len(before.findings) > 3
    assert after.allowed is before.allowed is False


@pytest.mark.parametrize(
    ("raw", "pod_class"),
    [
        (offline_pod(), PodClass.OFFLINE),
        (online_pod(), PodClass.ONLINE),
        (whole_card_pod(), PodClass.WHOLE_CARD),
        (pod(annotations={QOS_LEVEL: "anything"}), PodClass.NONE),
    ],
)
def test_the_decision_names_the_class(raw: Object, pod_class: PodClass) -> None:
    assert decision(raw).pod_class is pod_class


def test_a_rule_is_found_by_its_id() -> None:
    rule, node_rule = engine.rule_by_id("multi-card"), engine.rule_by_id("node-image")
    assert rule is not None
    assert node_rule is not None
    assert (rule.id, node_rule.id) == ("multi-card", "node-image")
    assert engine.rule_by_id("no-such-rule") is None


def test_facts_are_not_changed_by_a_decision() -> None:
    facts = facts_of(offline_pod(), nodes=[node()])
    engine.decide(facts)
    assert facts.placement is None
    assert facts.possible_nodes is None
