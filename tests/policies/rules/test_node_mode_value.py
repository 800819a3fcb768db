import pytest

from policies.engine import decide_node
from policies.node_change import NodeChange, node_settings
from policies.policy import Action, Policy

MODE = "vke.node.gpu.schedule"
POLICY = Policy()


def change(before: str | None, after: str | None) -> NodeChange:
    def settings(mode: str | None) -> dict[str, object]:
        return {"metadata": {"labels": {} if mode is None else {MODE: mode}}}

    return NodeChange(
        name="gpu-1",
        old=node_settings(settings(before), POLICY.keys),
        new=node_settings(settings(after), POLICY.keys),
        policy=POLICY,
    )


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        pytest.param("mgpu", "nvidia", False, id="nvidia"),
        pytest.param("nvidia", "nvidia-dra", False, id="nvidia-dra"),
        pytest.param(None, "mgpu", False, id="mgpu"),
        pytest.param("mgpu", None, False, id="absent"),
        pytest.param("mgpu", "MGPU", True, id="wrong case"),
        pytest.param("mgpu", "", True, id="empty"),
        pytest.param(None, "gpu", True, id="another word"),
        pytest.param("gpu", "gpu", False, id="was so before"),
        pytest.param("gpu", "gpus", True, id="from one unknown value to another"),
    ],
)
def test_values(before: str | None, after: str | None, *, is_found: bool) -> None:
    decision = decide_node(change(before, after))
    assert decision.allowed
    expected = [("node-mode-value", Action.WARN)] if is_found else []
    assert [(f.rule, f.action) for f in decision.findings] == expected


def test_the_message_names_node_and_value() -> None:
    (finding,) = decide_node(change("mgpu", "MGPU")).findings
    assert finding.path == f"metadata.labels[{MODE}]"
    assert finding.message == (
        'label vke.node.gpu.schedule of node gpu-1 is "MGPU", which is no scheduling mode'
    )
