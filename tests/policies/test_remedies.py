"""Remedies speak of the names and versions of the policy in force."""

from dataclasses import replace

import pytest

from policies.engine import EVERY_RULE
from policies.policy import Keys, Policy, SupportMatrix
from policies.remedies import HasRemedy, remedy_of
from policies.versions import KubernetesGate
from tests.builders import bare_offline_pod, container, found

KEYS = replace(
    Keys(), reclaimed_mgpu_core="ex.io/rec", mgpu_memory="ex.io/mem", mgpu_core="ex.io/core"
)
SUPPORT = replace(
    SupportMatrix(),
    driver="9.9.9.9",
    kubernetes=(KubernetesGate(32, 1, 7), KubernetesGate(34, 0, 0)),
)
OTHER = Policy(keys=KEYS, support=SUPPORT)


@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: rule.id)
def test_no_placeholder_is_left(rule: HasRemedy) -> None:
    for policy in (Policy(), OTHER):
        text = remedy_of(rule, policy)
        assert "{" not in text
        assert "}" not in text


def test_the_policys_resource_is_named() -> None:
    raw = bare_offline_pod(container({"ex.io/rec": "500", "ex.io/mem": "4096"}))
    (finding,) = found("offline-compute", raw, policy=OTHER)
    assert finding.remedy == (
        "ask ex.io/rec as a whole number from 1 to 100, the same in limits and requests, "
        "and leave ex.io/core out"
    )


def test_the_policys_versions_are_named() -> None:
    remedies = {rule.id: remedy_of(rule, OTHER) for rule in EVERY_RULE}
    assert remedies["node-driver-version"].startswith("upgrade the mGPU driver to 9.9.9.9 or later")
    assert remedies["cluster-version"].endswith(" to 1.32.1-vke.7 or 1.34.0 or later")
