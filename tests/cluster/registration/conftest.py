"""The recording webhook, one per module; a test registers it with `registered`."""

from collections.abc import Iterator

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.registration.recording_webhook import RecordingWebhook


@pytest.fixture(scope="module")
def webhook(control_plane: ControlPlane) -> Iterator[RecordingWebhook]:
    """A running webhook that nothing calls until it is registered."""
    running = RecordingWebhook(control_plane.authority)
    yield running
    running.stop()
