import pytest

from policies.policy import Action
from tests.builders import COMPUTE_POLICY, found, node, offline_pod

RULE = "node-compute-policy"


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        pytest.param(None, "", id="absent means fixed-share"),
        pytest.param("fixed-share", "", id="fixed-share"),
        pytest.param("guaranteed-burst-share", "", id="guaranteed-burst-share"),
        pytest.param("native-burst-share", "compute policy native-burst-share", id="native"),
        pytest.param("Fixed-Share", "compute policy Fixed-Share", id="other case"),
        pytest.param("", "compute policy", id="empty"),
    ],
)
def test_node_compute_policy(policy: str | None, said: str) -> None:
    result = found(RULE, offline_pod(), nodes=[node(labels={COMPUTE_POLICY: policy})])
    assert [(f.path, f.action) for f in result] == ([("spec", Action.DENY)] if said else [])
    assert all(said in f.message and "gpu-1" in f.message for f in result)
