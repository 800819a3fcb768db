import pytest

from policies.policy import Action
from tests.builders import NODE_MULTI_CARD, found, node, offline_pod

RULE = "node-multi-card"


@pytest.mark.parametrize(
    ("value", "action", "said"),
    [
        (None, None, ""),
        ("disabled", None, ""),
        ("enabled", Action.DENY, "multi-card mode enabled"),
        ("Enabled", Action.WARN, 'an unknown multi-card mode "Enabled"'),
        ("", Action.WARN, 'an unknown multi-card mode ""'),
    ],
)
def test_node_multi_card(value: str | None, action: Action | None, said: str) -> None:
    result = found(RULE, offline_pod(), nodes=[node(annotations={NODE_MULTI_CARD: value})])
    assert [(f.path, f.action) for f in result] == ([("spec", action)] if action else [])
    assert all(said in f.message and "gpu-1" in f.message for f in result)
