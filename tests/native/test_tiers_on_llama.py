"""Warm chats on llama.cpp itself, with a tiny model of every kind of memory."""

from __future__ import annotations

import pytest

from tests.engine.snapshots.tiers_contract import TiersContract
from tests.native.contexts import ContextMaker, native_log, new_context
from tests.native.test_manager_on_llama import SPECS, LlamaLab

__all__ = ["native_log", "new_context"]


class TestTiersOnLlama(TiersContract):
    @pytest.fixture(params=SPECS)
    def lab(self, request: pytest.FixtureRequest, new_context: ContextMaker) -> LlamaLab:
        return LlamaLab(new_context, request.param)
