"""A session in this process on llama.cpp itself, with a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.options import EngineOptions
from engine.worker.library import LlamaCpp
from tests.engine.worker.session_contract import SessionContract
from tests.tiny import TinySpec, write_tiny_model


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("session") / "tiny.gguf", TinySpec(chat_template=None))


class TestSessionOnLlama(SessionContract):
    @pytest.fixture
    def backend(self) -> LlamaCpp:
        return LlamaCpp(EngineOptions(log_path=""), write_to=None)
