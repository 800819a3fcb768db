from dataclasses import replace

import pytest

from policies.engine import decide_node
from policies.node_change import HoldingPod, NodeChange, holding_pods, node_settings
from policies.policy import Action, ModeSwitch, Policy
from tests.builders import Object, bare_offline_pod, online_pod, pod, whole_card_pod

MODE = "vke.node.gpu.schedule"
SHARE = "vke.volcengine.com/mgpu-compute-policy"
POLICY = Policy()
PODS = (HoldingPod("serving", "a"),)
MGPU, NVIDIA = {MODE: "mgpu"}, {MODE: "nvidia"}
BURST, NATIVE = {SHARE: "guaranteed-burst-share"}, {SHARE: "native-burst-share"}

Labels = dict[str, str]


def change(before: Labels, after: Labels, pods: tuple[HoldingPod, ...] | None = PODS) -> NodeChange:
    return NodeChange(
        name="gpu-1",
        old=node_settings({"metadata": {"labels": before}}, POLICY.keys),
        new=node_settings({"metadata": {"labels": after}}, POLICY.keys),
        policy=POLICY,
        username="alice",
        groups=("dev",),
        pods=pods,
        pods_unknown_because="" if pods is not None else "no answer within 3 s",
    )


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        pytest.param(MGPU, MGPU, [], id="nothing"),
        pytest.param({}, NVIDIA, [], id="nvidia written out"),
        pytest.param(NVIDIA, {}, [], id="nvidia left out"),
        pytest.param(MGPU, {}, ["scheduling mode"], id="label removed"),
        pytest.param(MGPU, NVIDIA, ["scheduling mode"], id="overwritten"),
        pytest.param({}, MGPU, ["scheduling mode"], id="set"),
        pytest.param(MGPU, MGPU | BURST, ["compute policy"], id="policy set"),
        pytest.param(MGPU | BURST, MGPU | NATIVE, ["compute policy"], id="policy changed"),
        pytest.param(MGPU, MGPU | {SHARE: "fixed-share"}, [], id="fixed-share written out"),
        pytest.param(NVIDIA, NVIDIA | BURST, [], id="policy of a node without mGPU"),
        pytest.param(
            NVIDIA, MGPU | BURST, ["scheduling mode", "compute policy"], id="both at once"
        ),
    ],
)
def test_switches(before: Labels, after: Labels, what: list[str]) -> None:
    decision = decide_node(change(before, after))
    assert [f.message.split(" of node")[0] for f in decision.findings] == what
    assert all(f.action is Action.DENY for f in decision.findings)
    assert decision.allowed is not bool(what)
    assert decide_node(change(before, after, pods=())).findings == ()


def test_the_message_names_five_pods_and_the_modes() -> None:
    pods = tuple(HoldingPod("ns", f"p{number}") for number in range(7))
    (finding,) = decide_node(change(MGPU, {}, pods)).findings
    assert finding.path == f"metadata.labels[{MODE}]"
    assert finding.message == (
        "scheduling mode of node gpu-1 is switched from mgpu to nvidia while 7 unfinished pods hold "
        "its GPUs (ns/p0, ns/p1, ns/p2, ns/p3, ns/p4 and 2 more)"
    )


@pytest.mark.parametrize(
    ("unknown_pods", "allowed"), [(Action.DENY, False), (Action.WARN, True), (Action.AUDIT, True)]
)
def test_pods_that_could_not_be_asked(unknown_pods: Action, *, allowed: bool) -> None:
    policy = replace(POLICY, mode_switch=ModeSwitch(unknown_pods=unknown_pods))
    decision = decide_node(replace(change(MGPU, {}, None), policy=policy))
    assert [f.action for f in decision.findings] == [unknown_pods]
    assert "no answer within 3 s" in decision.findings[0].message
    assert decision.findings[0].remedy.startswith("try again when the pods")
    assert decision.allowed is allowed


@pytest.mark.parametrize(
    ("override", "action"),
    [
        pytest.param(ModeSwitch(users=("alice",)), Action.AUDIT, id="user"),
        pytest.param(ModeSwitch(groups=("ops", "dev")), Action.AUDIT, id="group"),
        pytest.param(ModeSwitch(users=("bob",), groups=("ops",)), Action.DENY, id="somebody else"),
    ],
)
def test_override_is_recorded(override: ModeSwitch, action: Action) -> None:
    policy = replace(POLICY, mode_switch=override)
    decision = decide_node(replace(change(MGPU, {}), policy=policy))
    assert [f.action for f in decision.findings] == [action]


@pytest.mark.parametrize(
    "override",
    [
        pytest.param(ModeSwitch(groups=("system:authenticated",)), id="group"),
        pytest.param(ModeSwitch(users=("system:node:gpu-1",)), id="user"),
    ],
)
def test_a_node_never_switches_itself(override: ModeSwitch) -> None:
    policy = replace(POLICY, mode_switch=override)
    by_kubelet = replace(
        change(MGPU, {}),
        policy=policy,
        username="system:node:gpu-1",
        groups=("system:nodes", "system:authenticated"),
    )
    assert [f.action for f in decide_node(by_kubelet).findings] == [Action.DENY]


def in_phase(raw: Object, phase: str | None) -> Object:
    return {**raw, "status": {} if phase is None else {"phase": phase}}


@pytest.mark.parametrize(
    ("raw", "holds"),
    [
        pytest.param(in_phase(online_pod(), "Running"), True, id="online"),
        pytest.param(in_phase(bare_offline_pod(), "Pending"), True, id="offline, not started"),
        pytest.param(in_phase(whole_card_pod(), "Running"), True, id="whole card"),
        pytest.param(in_phase(online_pod(), None), True, id="no phase yet"),
        pytest.param(in_phase(online_pod(), "Unknown"), True, id="node lost"),
        pytest.param(in_phase(online_pod(), "Succeeded"), False, id="succeeded"),
        pytest.param(in_phase(online_pod(), "Failed"), False, id="failed"),
        pytest.param(in_phase(pod(), "Running"), False, id="no GPU"),
        pytest.param({"metadata": {"name": "x"}, "spec": []}, True, id="cannot be read"),
    ],
)
def test_which_pods_hold_a_gpu(raw: Object, *, holds: bool) -> None:
    assert bool(list(holding_pods([raw], POLICY))) is holds
