"""The fake answers as the real API server does."""

import pytest

from tests.webhook.controller.fake_api import FakeApi
from tests.webhook.controller.object_api_contract import ObjectApiContract


class TestFakeApi(ObjectApiContract):
    @pytest.fixture
    def api(self) -> FakeApi:
        return FakeApi()

    @pytest.fixture
    def name(self) -> str:
        return "contract-node"
