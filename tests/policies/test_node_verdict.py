"""From the judgements of the possible nodes to a pod's verdict."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from policies import engine
from policies.facts import NodeViolation
from policies.node import NodeProfile, parse_node
from policies.policy import DEFAULT_ACTIONS, Action, NodePool, Policy, SupportMatrix
from policies.rules import NODE_RULES
from tests.builders import (
    COMPUTE_POLICY,
    DRIVER_VERSION,
    GPU_SCHEDULE,
    Object,
    decision,
    findings,
    found,
    node,
    offline_pod,
    template_of,
)

NATIVE: dict[str, str | None] = {COMPUTE_POLICY: "native-burst-share"}
OLD_KUBELET = "v1.28.3-vke.1"


def good(name: str = "good") -> Object:
    return node(name)


def native(name: str = "native") -> Object:
    return node(name, labels=NATIVE)


def ubuntu(name: str = "ubuntu") -> Object:
    return node(name, os_image="Ubuntu 22.04.4 LTS")


def old_kubelet(name: str = "aged") -> Object:
    return node(name, kubelet=OLD_KUBELET)


def unknown_driver(name: str = "unknown") -> Object:
    return node(name, annotations={DRIVER_VERSION: None})


DENY_POLICY = ("node-compute-policy", Action.DENY)
DENY_IMAGE = ("node-image", Action.DENY)
WARN_KUBELET = ("node-kubelet-version", Action.WARN)
WARN_DRIVER = ("node-driver-version", Action.WARN)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        pytest.param([good()], set(), id="good"),
        pytest.param([native()], {DENY_POLICY}, id="refused"),
        pytest.param([native(), good()], set(), id="one good node is left"),
        pytest.param([native(), ubuntu()], {DENY_POLICY, DENY_IMAGE}, id="each refused by its own"),
        pytest.param([old_kubelet()], {WARN_KUBELET}, id="warned"),
        pytest.param([old_kubelet(), good()], set(), id="a good node beside the warned one"),
        pytest.param(
            [old_kubelet(), unknown_driver()],
            {WARN_KUBELET, WARN_DRIVER},
            id="each warned by its own",
        ),
        pytest.param([native(), old_kubelet()], {WARN_KUBELET}, id="all that are left are warned"),
        pytest.param([native(), old_kubelet(), good()], set(), id="refused, warned and good"),
        pytest.param(
            [node("both", labels=NATIVE, kubelet=OLD_KUBELET)],
            {DENY_POLICY},
            id="warnings of refused nodes are not told",
        ),
        pytest.param([unknown_driver()], {WARN_DRIVER}, id="an unknown fact warns"),
        pytest.param([unknown_driver(), native()], {WARN_DRIVER}, id="unknown is not refused"),
    ],
)
def test_combination(nodes: list[Object], expected: set[tuple[str, Action]]) -> None:
    assert findings(offline_pod(), nodes=nodes) == expected
    assert decision(offline_pod(), nodes=nodes).allowed is not any(
        action is Action.DENY for _, action in expected
    )


@pytest.mark.parametrize("action", [Action.DENY, Action.WARN, Action.AUDIT])
def test_unknown_facts_do_what_the_policy_says(action: Action) -> None:
    policy = Policy(unknown_facts=action)
    assert findings(offline_pod(), nodes=[unknown_driver()], policy=policy) == {
        ("node-driver-version", action)
    }


def test_unknown_facts_never_do_more_than_the_rule() -> None:
    policy = Policy(unknown_facts=Action.DENY)
    nodes = [node(kubelet="v1.27.1-vke.1")]
    assert findings(offline_pod(), nodes=nodes, policy=policy) == {WARN_KUBELET}


def test_where_unknown_denies_a_known_good_node_is_enough() -> None:
    policy = Policy(unknown_facts=Action.DENY)
    assert findings(offline_pod(), nodes=[unknown_driver(), good()], policy=policy) == set()


def test_a_node_rule_may_only_record() -> None:
    policy = Policy(actions={**DEFAULT_ACTIONS, "node-compute-policy": Action.AUDIT})
    assert findings(offline_pod(), nodes=[native()], policy=policy) == {
        ("node-compute-policy", Action.AUDIT)
    }
    assert findings(offline_pod(), nodes=[native(), good()], policy=policy) == set()


def test_a_node_rule_may_be_off() -> None:
    policy = Policy(actions={**DEFAULT_ACTIONS, "node-compute-policy": Action.OFF})
    assert findings(offline_pod(), nodes=[native()], policy=policy) == set()


# --- templates --------------------------------------------------------------------------------


def test_node_rules_only_warn_of_a_template() -> None:
    raw = template_of(offline_pod())
    result = decision(raw, nodes=[native()], template_kind="Deployment")
    assert [(f.rule, f.action) for f in result.findings] == [("node-compute-policy", Action.WARN)]
    assert result.findings[0].path == "spec.template.spec"
    assert result.allowed


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("DaemonSet", {("node-compute-policy", Action.WARN)}), ("Deployment", set())],
)
def test_for_a_daemonset_one_refused_node_is_enough(
    kind: str, expected: set[tuple[str, Action]]
) -> None:
    raw = template_of(offline_pod())
    assert findings(raw, nodes=[good(), native()], template_kind=kind) == expected
    assert findings(raw, nodes=[good()], template_kind=kind) == set()


# --- what is told -----------------------------------------------------------------------------


def test_counts_reasons_names_and_the_selection() -> None:
    nodes = [native(f"n{index}") for index in range(9)] + [
        ubuntu(f"u{index}") for index in range(3)
    ]
    for raw_node in nodes:
        metadata = raw_node["metadata"]
        assert isinstance(metadata, dict)
        metadata["labels"]["pool"] = "a10"
    raw = offline_pod(nodeSelector={"pool": "a10"})
    (by_policy,) = found("node-compute-policy", raw, nodes=nodes)
    (by_image,) = found("node-image", raw, nodes=nodes)
    for finding in (by_policy, by_image):
        assert "12 of 12 possible nodes (nodeSelector pool=a10)" in finding.message
    assert (
        "9 have compute policy native-burst-share (n0, n1, n2, n3, n4 and 4 more)"
        in by_policy.message
    )
    assert "3 have image Ubuntu 22.04.4 LTS (u0, u1, u2)" in by_image.message


@pytest.mark.parametrize(("count", "shown"), [(5, "n3, n4)"), (6, "n3, n4 and 1 more)")])
def test_five_names_at_most(count: int, shown: str) -> None:
    nodes = [native(f"n{index}") for index in range(count)]
    (finding,) = found("node-compute-policy", offline_pod(), nodes=nodes)
    assert finding.message.endswith(shown)


def test_one_node_is_singular() -> None:
    (finding,) = found("node-compute-policy", offline_pod(), nodes=[native("n0")])
    assert "1 of 1 possible node (" in finding.message
    assert finding.message.endswith("1 has compute policy native-burst-share (n0)")


def test_reasons_of_one_rule_stand_in_one_finding_the_most_frequent_first() -> None:
    nodes = [
        node("a", labels={GPU_SCHEDULE: "nvidia-dra"}),
        node("b", labels={GPU_SCHEDULE: "nvidia"}),
        node("c", labels={GPU_SCHEDULE: "nvidia"}),
    ]
    (finding,) = found("node-gpu-mode", offline_pod(), nodes=nodes)
    assert finding.message.index("2 have scheduling mode nvidia ") < finding.message.index(
        "1 has scheduling mode nvidia-dra"
    )


def test_names_can_be_left_out() -> None:
    policy = Policy(show_node_names=False)
    (finding,) = found("node-compute-policy", offline_pod(), nodes=[native("n0")], policy=policy)
    assert finding.message.endswith("1 has compute policy native-burst-share")
    assert "n0" not in finding.message


# --- cost and failures ------------------------------------------------------------------------


def test_profiles_are_judged_not_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[NodeProfile] = []

    def check(profile: NodeProfile, _support: SupportMatrix) -> Iterator[NodeViolation]:
        judged.append(profile)
        yield NodeViolation("a fault")

    rule = replace(NODE_RULES[0], check=check)
    monkeypatch.setattr(engine, "NODE_RULES", (rule,))
    nodes = [good(f"g{index}") for index in range(50)] + [
        native(f"n{index}") for index in range(50)
    ]
    assert not decision(offline_pod(), nodes=nodes).allowed
    assert len(judged) == 2


def test_a_node_rule_that_raises_is_counted_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check(_profile: NodeProfile, _support: SupportMatrix) -> Iterator[NodeViolation]:
        raise ZeroDivisionError("x")

    first, *others = NODE_RULES
    monkeypatch.setattr(engine, "NODE_RULES", (replace(first, check=check), *others))
    result = decision(offline_pod(), nodes=[native()])
    assert [(f.rule, f.error) for f in result.failures] == [(first.id, "ZeroDivisionError: x")]
    assert [f.rule for f in result.findings] == ["node-compute-policy"]
    assert not decision(offline_pod(), nodes=[good()]).allowed


# --- pools at zero ----------------------------------------------------------------------------

MGPU_POOL = {GPU_SCHEDULE: "mgpu", "pool": "zero"}


def pools(**labels: str) -> Policy:
    annotations = {DRIVER_VERSION: "0.07.35.23", "mgpu-hybrid.io/addon-version": "v0.6.0"}
    pool = NodePool(
        "zero",
        {**MGPU_POOL, **labels},
        os_image="veLinux 1.0",
        kubelet_version="v1.28.15-vke.19",
        annotations=annotations,
    )
    return Policy(node_pools=(pool,))


def test_a_pool_at_zero_is_judged_like_a_node() -> None:
    assert findings(offline_pod(), nodes=[], policy=pools()) == set()
    (finding,) = found(
        "node-compute-policy",
        offline_pod(),
        nodes=[],
        policy=pools(**{COMPUTE_POLICY: "native-burst-share"}),
    )
    assert finding.action is Action.DENY
    assert "(pool zero)" in finding.message


def test_a_good_pool_at_zero_saves_a_pod_whose_nodes_are_refused() -> None:
    assert findings(offline_pod(), nodes=[native()], policy=pools()) == set()


def test_a_warning_says_how_many_others_are_refused() -> None:
    nodes = [native("a"), native("b"), unknown_driver("c")]
    (finding,) = decision(offline_pod(), nodes=nodes).findings
    assert finding.message.startswith(
        "2 of 3 possible nodes (no node selection) are refused, and none of the rest is free of doubt: "
        "1 has an unknown mGPU driver version"
    )


@pytest.mark.parametrize(("amount", "is_gpu_node"), [("8", True), ("0", False), ("junk", True)])
def test_a_node_without_mode_is_a_gpu_node_by_what_it_can_give(
    amount: str, *, is_gpu_node: bool
) -> None:
    raw: Object = {"metadata": {"name": "n"}, "status": {"allocatable": {"nvidia.com/gpu": amount}}}
    assert (parse_node(raw, Policy()) is not None) is is_gpu_node
