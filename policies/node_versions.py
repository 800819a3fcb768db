"""What the version of a part of an mGPU node says: the one judgement of the driver and the add-on rules."""

from collections.abc import Iterator

from policies.facts import NodeViolation
from policies.node import MODE_MGPU
from policies.versions import Support, dotted_support


def version_violations(
    part: str, version: str | None, least: str, mode: str
) -> Iterator[NodeViolation]:
    """A violation for a version below `least`, an unknown one for a version that cannot be compared.

    Only an mGPU node needs the fact: in another mode its absence says nothing.
    """
    match dotted_support(version, least):
        case Support.SUPPORTED:
            return
        case Support.TOO_OLD:
            yield NodeViolation(f"{part} {version}, older than {least}")
        case Support.UNKNOWN:
            if mode == MODE_MGPU:
                shown = f' "{version}"' if version else ""
                yield NodeViolation(f"an unknown {part} version{shown}", is_unknown=True)
