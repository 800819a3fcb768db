"""How long the properties are searched: `check` for every run, `soak` for `make soak`.

HYPOTHESIS_PROFILE chooses. `check` always draws the same pods, so that nobody's change fails for a pod
that is not of its making; `soak` draws new ones and fifty times as many, and shrinks a pod that fails,
which can take longer than the timeout of an ordinary test.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

CHECK_EXAMPLES = 80
SOAK_FACTOR = 12
SOAK_TIMEOUT_SECONDS = 3600
HERE = Path(__file__).parent

# Phase.explain is in neither: on documents of this size it takes minutes and says little.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
# A slow or busy machine is no fault of a property: neither a deadline nor a health check may say so.
settings.register_profile(
    "check",
    max_examples=CHECK_EXAMPLES,
    derandomize=True,
    deadline=None,
    phases=PHASES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    max_examples=CHECK_EXAMPLES * SOAK_FACTOR,
    derandomize=False,
    deadline=None,
    phases=(*PHASES, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "check")
settings.load_profile(PROFILE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a soak a test may take longer than the suite's timeout allows."""
    if PROFILE != "soak":
        return
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(SOAK_TIMEOUT_SECONDS))
