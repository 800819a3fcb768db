"""A stand-in for the API server."""

from collections.abc import Iterator

import pytest

from tests.webhook.cluster.standin import ApiStandIn


@pytest.fixture
def standin() -> Iterator[ApiStandIn]:
    with ApiStandIn() as running:
        yield running
