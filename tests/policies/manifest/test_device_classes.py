"""Which device classes a claim asks for, in every form of the API."""

import pytest

from policies.errors import MalformedError
from policies.manifest.device_classes import device_classes_of, is_claim


def claim(requests: object, kind: str = "ResourceClaim") -> dict[str, object]:
    spec: dict[str, object] = {"devices": {"requests": requests}}
    if kind == "ResourceClaimTemplate":
        spec = {"spec": spec}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "gpu"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("requests", "classes"),
    [
        pytest.param([{"deviceClassName": "a"}], ("a",), id="v1beta1"),
        pytest.param([{"exactly": {"deviceClassName": "a"}}], ("a",), id="v1"),
        pytest.param(
            [{"firstAvailable": [{"deviceClassName": "a"}, {"deviceClassName": "b"}]}],
            ("a", "b"),
            id="alternatives",
        ),
        pytest.param([{"exactly": {"deviceClassName": "a"}}, {"name": "x"}], ("a",), id="no class"),
        pytest.param([], (), id="no requests"),
        pytest.param(None, (), id="null"),
    ],
)
def test_classes_of_a_claim(requests: object, classes: tuple[str, ...]) -> None:
    assert device_classes_of(claim(requests)) == ("claim/gpu", classes)
    template = claim(requests, "ResourceClaimTemplate")
    assert device_classes_of(template) == ("template/gpu", classes)


def test_only_claims_are_claims() -> None:
    assert is_claim(claim([]))
    assert not is_claim({**claim([]), "apiVersion": "example.com/v1"})
    assert not is_claim({**claim([]), "kind": "DeviceClass"})


def test_a_wrong_type_is_named() -> None:
    with pytest.raises(MalformedError, match=r"spec\.devices\.requests\[0\]\.exactly"):
        device_classes_of(claim([{"exactly": 5}]))
