import pytest

from policies.policy import Action
from tests.builders import COMPUTE_POLICY, Object, found, offline_pod, online_pod

RULE = "compute-policy"
PATH = f"metadata.annotations[{COMPUTE_POLICY}]"


def asking(policy: str) -> Object:
    return offline_pod(annotations={COMPUTE_POLICY: policy})


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(offline_pod(), {}, id="absent means fixed-share"),
        pytest.param(asking("fixed-share"), {}, id="fixed-share"),
        pytest.param(asking("guaranteed-burst-share"), {}, id="guaranteed-burst-share"),
        pytest.param(
            asking("native-burst-share"), {PATH: '"native-burst-share"'}, id="native-burst-share"
        ),
        pytest.param(asking("burst-share"), {PATH: '"burst-share"'}, id="unknown"),
        pytest.param(asking("Fixed-Share"), {PATH: '"Fixed-Share"'}, id="other case"),
        pytest.param(asking(""), {PATH: '""'}, id="empty"),
        pytest.param(
            offline_pod(metadata={"labels": {COMPUTE_POLICY: "native-burst-share"}}),
            {},
            id="a label of the pod means nothing",
        ),
        pytest.param(
            online_pod(annotations={COMPUTE_POLICY: "native-burst-share"}), {}, id="online pod"
        ),
    ],
)
def test_compute_policy(raw: Object, expected: dict[str, str]) -> None:
    result = found(RULE, raw)
    assert [(f.path, f.action) for f in result] == [(path, Action.DENY) for path in expected]
    assert all(expected[f.path] in f.message for f in result)
