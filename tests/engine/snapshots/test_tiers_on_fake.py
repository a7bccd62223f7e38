"""Warm chats on memory without a model, whose cells know what they have seen."""

from __future__ import annotations

import pytest

from tests.engine.cache.test_manager_on_fake import LABS, FakeLab
from tests.engine.snapshots.tiers_contract import TiersContract


class TestTiersOnFake(TiersContract):
    @pytest.fixture(params=LABS.values(), ids=LABS.keys())
    def lab(self, request: pytest.FixtureRequest) -> FakeLab:
        return request.param
