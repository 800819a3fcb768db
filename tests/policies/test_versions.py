import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.versions import (
    KubernetesGate,
    Support,
    VkeVersion,
    dotted_support,
    kubernetes_support,
    parse_dotted,
    parse_vke_version,
)

GATES = (
    KubernetesGate(24, 17, 38),
    KubernetesGate(26, 15, 26),
    KubernetesGate(28, 15, 19),
    KubernetesGate(30, 4, 3),
)
SUPPORTED, TOO_OLD, UNKNOWN = Support.SUPPORTED, Support.TOO_OLD, Support.UNKNOWN


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.28.15-vke.19", VkeVersion(1, 28, 15, 19, "")),
        ("1.30.4-vke.3", VkeVersion(1, 30, 4, 3, "")),
        ("v1.36.3", VkeVersion(1, 36, 3, None, "")),
        ("v1.36.3+abc", VkeVersion(1, 36, 3, None, "")),
        ("v1.30.4-vke.3+abc.1", VkeVersion(1, 30, 4, 3, "")),
        ("v1.28.15-vke.19-dirty", VkeVersion(1, 28, 15, 19, "dirty")),
        ("v1.30.0-alpha.1", VkeVersion(1, 30, 0, None, "alpha.1")),
        ("v1.28.15-gke.1000", VkeVersion(1, 28, 15, None, "gke.1000")),
        ("v1.28.15-vke", VkeVersion(1, 28, 15, None, "vke")),
        ("v1.28.15-vke.019", VkeVersion(1, 28, 15, None, "vke.019")),
        ("v2.0.0", VkeVersion(2, 0, 0, None, "")),
    ],
)
def test_parses_kubernetes_versions(text: str, version: VkeVersion) -> None:
    assert parse_vke_version(text) == version


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v",
        "v1.28",
        "1.28+",
        "v1.28.15.1",
        "v1.028.15",
        "V1.28.15",
        " v1.28.15",
        "v1.28.15\n",
        "v1.28.15-",
        "v1.28.15+",
        "v1.28.-1",
        "v1.28.\u0661",
        "v1.28.1_0",
        "v1.28.1234567890",
        "v1.28.15-" + "a" * 200,
        "latest",
    ],
    ids=ascii,
)
def test_other_shapes_are_no_kubernetes_version(text: str) -> None:
    assert parse_vke_version(text) is None
    assert kubernetes_support(text, GATES) is UNKNOWN


@pytest.mark.parametrize(
    ("text", "support"),
    [
        ("v1.24.17-vke.38", SUPPORTED),
        ("v1.24.17-vke.37", TOO_OLD),
        ("v1.26.15-vke.26", SUPPORTED),
        ("v1.26.15-vke.25", TOO_OLD),
        ("v1.28.15-vke.19", SUPPORTED),
        ("v1.28.15-vke.100", SUPPORTED),
        ("v1.28.15-vke.18", TOO_OLD),
        ("v1.28.3-vke.99", TOO_OLD),
        ("v1.28.16-vke.1", SUPPORTED),
        ("v1.28.16", SUPPORTED),
        ("v1.28.14", TOO_OLD),
        ("v1.28.15", UNKNOWN),
        ("v1.28.15+abc", UNKNOWN),
        ("v1.28.15-vke.19+abc", SUPPORTED),
        ("v1.28.15-vke.19-dirty", UNKNOWN),
        ("v1.28.15-gke.1000", UNKNOWN),
        ("1.30.4-vke.3", SUPPORTED),
        ("1.30.4-vke.2", TOO_OLD),
        ("v1.30.3-vke.99", TOO_OLD),
        ("v1.30.0-alpha.1", UNKNOWN),
        ("v1.31.0", SUPPORTED),
        ("v1.31.0-alpha.1", SUPPORTED),
        ("v1.32.0-vke.1", SUPPORTED),
        ("v1.36.3", SUPPORTED),
        ("v1.22.15-vke.99", UNKNOWN),
        ("v1.23.17", UNKNOWN),
        ("v1.25.16-vke.99", UNKNOWN),
        ("v1.27.16-vke.99", UNKNOWN),
        ("v1.29.15-vke.99", UNKNOWN),
        ("v0.36.3", UNKNOWN),
        ("v2.36.3", UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_kubernetes_gates(text: str | None, support: Support) -> None:
    assert kubernetes_support(text, GATES) is support
    assert kubernetes_support(text, tuple(reversed(GATES))) is support


def test_a_gate_without_a_build_takes_plain_versions() -> None:
    gates = (KubernetesGate(30, 4, 0),)
    assert kubernetes_support("v1.30.4", gates) is SUPPORTED
    assert kubernetes_support("v1.30.3", gates) is TOO_OLD


def test_without_gates_nothing_is_known() -> None:
    assert kubernetes_support("v1.36.3-vke.1", ()) is UNKNOWN


DOTTED = [
    ("0.07.35.23", "0.07.35.23", SUPPORTED),
    ("0.7.35.23", "0.07.35.23", SUPPORTED),
    ("0.07.35.22", "0.07.35.23", TOO_OLD),
    ("0.07.35.100", "0.07.35.23", SUPPORTED),
    ("0.07.35", "0.07.35.23", TOO_OLD),
    ("0.07.36", "0.07.35.23", SUPPORTED),
    ("0.10.0.0", "0.07.35.23", SUPPORTED),
    ("1.0", "0.07.35.23", SUPPORTED),
    ("0.07.35.23.0", "0.07.35.23", SUPPORTED),
    ("v0.6.0", "v0.6.0", SUPPORTED),
    ("0.6", "v0.6.0", SUPPORTED),
    ("v0.6.0", "0.6", SUPPORTED),
    ("v0.5.99", "v0.6.0", TOO_OLD),
    ("v0.10.0", "v0.6.0", SUPPORTED),
    ("v0.6.0-rc.1", "v0.6.0", TOO_OLD),
    ("v0.6.0-rc1", "v0.6.0", TOO_OLD),
    ("v0.6.0-Beta", "v0.6.0", TOO_OLD),
    ("v0.6.1-rc.1", "v0.6.0", SUPPORTED),
    ("v0.6.0+build.5", "v0.6.0", SUPPORTED),
    ("v0.6.0-rc.1+build.5", "v0.6.0", TOO_OLD),
    ("v0.6.0-20240901-abcdef", "v0.6.0", UNKNOWN),
    ("v0.6.0-release", "v0.6.0", UNKNOWN),
    ("v0.6.0-prefixed", "v0.6.0", UNKNOWN),
    ("v0.6.1-20240901-abcdef", "v0.6.0", SUPPORTED),
    ("v0.5.9-20240901-abcdef", "v0.6.0", TOO_OLD),
    ("v0.6.0", "v0.6.0-rc.1", SUPPORTED),
    ("v0.6.0-rc.1", "v0.6.0-rc.1", SUPPORTED),
    ("v0.6.0-rc.2", "v0.6.0-rc.1", UNKNOWN),
    ("v0.6.0", "v0.6.0-20240901", UNKNOWN),
    ("v1.20.0", "v1.20.0", SUPPORTED),
    ("v1.19.9", "v1.20.0", TOO_OLD),
    (None, "v0.6.0", UNKNOWN),
    ("v0.6.0", "newest", UNKNOWN),
]


@pytest.mark.parametrize(("text", "minimum", "support"), DOTTED)
def test_dotted_versions(text: str | None, minimum: str, support: Support) -> None:
    assert dotted_support(text, minimum) is support


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v",
        "latest",
        "20240901",
        "v6",
        "abcdef0",
        "0.6.",
        ".6.0",
        "0..6",
        "0.6.0 ",
        "0.6.0\n",
        "vv0.6.0",
        "0.6.x",
        "0.-6",
        "0.6.0-",
        "0.\u0666.0",
        "0.\u00b2",
        "0.1234567890",
        "0.6.0.0.0.0.0.0.0",
        "0.6.0-" + "a" * 200,
    ],
    ids=ascii,
)
def test_other_shapes_are_no_dotted_version(text: str) -> None:
    assert parse_dotted(text) is None
    assert dotted_support(text, "v0.6.0") is UNKNOWN


NUMBERS = st.lists(st.integers(min_value=0, max_value=999_999_999), min_size=2, max_size=8)


@given(NUMBERS, NUMBERS)
def test_dotted_versions_are_compared_part_by_part(have: list[int], need: list[int]) -> None:
    padded_have, padded_need = (parts + [0] * (8 - len(parts)) for parts in (have, need))
    expected = SUPPORTED if padded_have >= padded_need else TOO_OLD
    assert dotted_support(".".join(map(str, have)), ".".join(map(str, need))) is expected


@given(st.integers(0, 40), st.integers(0, 30), st.integers(0, 60))
def test_a_later_build_is_never_worse(minor: int, patch: int, build: int) -> None:
    now = kubernetes_support(f"v1.{minor}.{patch}-vke.{build}", GATES)
    later = kubernetes_support(f"v1.{minor}.{patch}-vke.{build + 1}", GATES)
    assert later is now or (now, later) == (TOO_OLD, SUPPORTED)
