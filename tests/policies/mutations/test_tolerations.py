import pytest

from policies.policy import Injection, Policy
from policies.tolerations import Toleration
from tests.builders import Object, bare_offline_pod, mutated

WANTED = {"key": "mgpu-hybrid.io/reclaimed", "operator": "Exists", "effect": "NoSchedule"}
OWN = {"key": "a", "operator": "Exists"}


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        pytest.param(None, [WANTED], id="null"),
        pytest.param([], [WANTED], id="empty"),
        pytest.param([OWN], [OWN, WANTED], id="after the user's"),
        pytest.param([WANTED], [WANTED], id="there already"),
        pytest.param(
            [{"operator": "Exists"}], [{"operator": "Exists"}], id="everything is tolerated"
        ),
        pytest.param([{**WANTED, "effect": ""}], [{**WANTED, "effect": ""}], id="every effect"),
        pytest.param(
            [{**WANTED, "effect": "NoExecute"}],
            [{**WANTED, "effect": "NoExecute"}, WANTED],
            id="another effect",
        ),
        pytest.param(
            [{"key": "mgpu-hybrid.io/reclaimed", "value": "x"}],
            [{"key": "mgpu-hybrid.io/reclaimed", "value": "x"}, WANTED],
            id="one value of the taint only",
        ),
    ],
)
def test_tolerations(present: list[Object] | None, expected: list[Object]) -> None:
    after = mutated(bare_offline_pod(tolerations=present))["spec"]
    assert isinstance(after, dict)
    assert after["tolerations"] == expected


def test_absent_tolerations_are_added() -> None:
    after = mutated(bare_offline_pod())["spec"]
    assert isinstance(after, dict)
    assert after["tolerations"] == [WANTED]


def test_a_toleration_is_written_without_what_is_empty() -> None:
    timed = Toleration("a", "Equal", "b", "NoExecute", 0)
    policy = Policy(injection=Injection(tolerations=(timed,)))
    after = mutated(bare_offline_pod(), policy)["spec"]
    assert isinstance(after, dict)
    assert after["tolerations"] == [
        {
            "key": "a",
            "operator": "Equal",
            "value": "b",
            "effect": "NoExecute",
            "tolerationSeconds": 0,
        }
    ]


def test_no_toleration_in_the_policy_adds_none() -> None:
    after = mutated(bare_offline_pod(), Policy(injection=Injection(tolerations=())))["spec"]
    assert isinstance(after, dict)
    assert "tolerations" not in after
