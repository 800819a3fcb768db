"""After injection a pod tolerates what the injection is for, and nothing else that it did not before."""

from hypothesis import event, given
from hypothesis import strategies as st

from policies.policy import Policy
from policies.tolerations import Taint, parse_tolerations, tolerates
from tests.properties.fields import Document
from tests.properties.injections import POLICIES
from tests.properties.patching import patched
from tests.properties.pods import offline_pods
from tests.properties.reading import spec_of

POLICY_NAMES = st.sampled_from(sorted(POLICIES))
TAINTS = st.builds(
    Taint,
    key=st.sampled_from(["mgpu-hybrid.io/reclaimed", "mgpu-hybrid.io/reclaimed", "other", "third"]),
    value=st.sampled_from(["", "true", "5", "7"]),
    effect=st.sampled_from(["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"]),
)


def _tolerates(pod: Document, taint: Taint) -> bool:
    present = parse_tolerations(spec_of(pod).get("tolerations"), "spec.tolerations")
    return any(tolerates(toleration, taint) for toleration in present)


@given(raw=offline_pods(), taint=TAINTS, name=POLICY_NAMES)
def test_a_taint_is_tolerated_exactly_when_it_was_before_or_the_injection_tolerates_it(
    raw: Document, taint: Taint, name: str
) -> None:
    policy: Policy = POLICIES[name]
    before = _tolerates(raw, taint)
    injected = any(tolerates(toleration, taint) for toleration in policy.injection.tolerations)
    event(f"tolerated before: {before}, by the injection: {injected}")
    assert _tolerates(patched(raw, policy), taint) == (before or injected)
