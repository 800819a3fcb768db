"""Versions against the least version that hybrid deployment needs.

Two forms. Kubernetes versions of VKE, `v1.28.15-vke.19`, are judged by a gate in each minor, for
the feature was carried back to older minors. Everything else (driver, add-on, webhook) is dotted
numbers against one minimum. A version that these do not decide is UNKNOWN, never a guess: the
policy says what unknown facts mean.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

NUMBER = r"(0|[1-9][0-9]{0,8})"
# The semantic version of a server's gitVersion or a kubelet.
KUBERNETES_VERSION = re.compile(
    rf"v?{NUMBER}\.{NUMBER}\.{NUMBER}(?:-vke\.{NUMBER})?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
# Two parts at least: one number alone is more often a date or a commit in an image tag.
DOTTED_VERSION = re.compile(
    r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){1,7})(?:-([0-9A-Za-z._-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
PRE_RELEASE = re.compile(r"(?:alpha|beta|rc|preview|pre|dev|snapshot)(?![a-z])", re.IGNORECASE)
MAX_LENGTH = 128
# A cluster has a handful of versions, and each is judged in every admission.
KNOWN_VERSIONS = 256


class Support(Enum):
    """Whether a version is new enough."""

    SUPPORTED = "supported"
    TOO_OLD = "too old"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class VkeVersion:
    """A Kubernetes version; `build` is the N of `-vke.N`, None where the version has none.

    `suffix` is any other part after a hyphen (`alpha.1`, `gke.100`, `dirty`), "" without one.
    """

    major: int
    minor: int
    patch: int
    build: int | None
    suffix: str


@dataclass(frozen=True, slots=True)
class KubernetesGate:
    """The least version of one minor: patch and VKE build, compared as integers in this order."""

    minor: int
    patch: int
    build: int


@dataclass(frozen=True, slots=True)
class DottedVersion:
    """Numbers without trailing zeros, and what follows the first hyphen ("" when nothing does)."""

    numbers: tuple[int, ...]
    suffix: str


def parse_vke_version(text: str) -> VkeVersion | None:
    """The version in a gitVersion or kubeletVersion; None when it is not `[v]X.Y.Z...`."""
    match = KUBERNETES_VERSION.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    major, minor, patch, build, suffix = match.groups()
    return VkeVersion(
        major=int(major),
        minor=int(minor),
        patch=int(patch),
        build=None if build is None else int(build),
        suffix=suffix or "",
    )


@lru_cache(maxsize=KNOWN_VERSIONS)
def kubernetes_support(text: str | None, gates: tuple[KubernetesGate, ...]) -> Support:
    """Whether a Kubernetes version passes the gate of its minor.

    Every minor above the newest gate is supported, whatever its patch, build or suffix. A minor
    without a gate below that is unknown. Inside a gate's minor, a suffix (a pre-release, another
    vendor's build) is unknown, and a missing `-vke.N` is so only where the build decides.
    """
    version = parse_vke_version(text) if text is not None else None
    if version is None or version.major != 1 or not gates:
        return Support.UNKNOWN
    if version.minor > max(gate.minor for gate in gates):
        return Support.SUPPORTED
    for gate in gates:
        if gate.minor == version.minor:
            return _in_gated_minor(version, gate)
    return Support.UNKNOWN


def _in_gated_minor(version: VkeVersion, gate: KubernetesGate) -> Support:
    if version.suffix:
        return Support.UNKNOWN
    if version.patch != gate.patch:
        return Support.SUPPORTED if version.patch > gate.patch else Support.TOO_OLD
    if version.build is None:
        return Support.UNKNOWN if gate.build > 0 else Support.SUPPORTED
    return Support.SUPPORTED if version.build >= gate.build else Support.TOO_OLD


def parse_dotted(text: str) -> DottedVersion | None:
    """A version of two to eight numbers, `0.07.35.23` or `v0.6.0-rc.1`; None for anything else.

    Leading zeros and trailing `.0` mean nothing, and `+build` is dropped.
    """
    match = DOTTED_VERSION.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return None
    numbers = [int(part) for part in match[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return DottedVersion(tuple(numbers), match[2] or "")


@lru_cache(maxsize=KNOWN_VERSIONS)
def dotted_support(text: str | None, minimum: str) -> Support:
    """Whether a driver, add-on or webhook version is at least `minimum`.

    Numbers decide first. Where they are equal, a pre-release (`-rc.1`) is older than the release.
    Any other suffix is part of an image tag (`-20240901-abcdef`), and whether that build is the
    release is unknown. Unknown too is a text, or a minimum, that is not a version.
    """
    version = parse_dotted(text) if text is not None else None
    least = parse_dotted(minimum)
    if version is None or least is None:
        return Support.UNKNOWN
    if version.numbers != least.numbers:
        return Support.SUPPORTED if version.numbers > least.numbers else Support.TOO_OLD
    if version.suffix == least.suffix:
        return Support.SUPPORTED
    if not version.suffix and PRE_RELEASE.match(least.suffix):
        return Support.SUPPORTED
    if not least.suffix and PRE_RELEASE.match(version.suffix):
        return Support.TOO_OLD
    return Support.UNKNOWN
