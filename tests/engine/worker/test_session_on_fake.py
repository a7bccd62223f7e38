"""A session in this process without llama.cpp, where every step of a load can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import FinishReason, ModelLoaded, Notice, NoticeCode
from engine.api.settings import Policy, PolicySettings
from engine.cache.memory import MemoryKind
from tests.engine.worker.fake_backend import STEPS, FakeBackend
from tests.engine.worker.session_contract import LONG, SessionContract, SessionDesk, of
from tests.tiny import TinySpec, write_tiny_model


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("fake") / "tiny.gguf", TinySpec(chat_template=None))


class TestSessionOnFake(SessionContract):
    @pytest.fixture
    def backend(self) -> FakeBackend:
        return FakeBackend()

    @pytest.mark.parametrize("step", STEPS)
    def test_a_load_that_fails_leaves_nothing_open(self, desk: SessionDesk, backend: FakeBackend, step: str):
        backend.failing = step
        with pytest.raises(EngineError) as caught:
            desk.load()
        assert caught.value.detail == step
        assert backend.n_open == 0
        backend.failing = ""
        assert len(of(desk.load(), ModelLoaded)) == 1

    @pytest.mark.parametrize("step", STEPS)
    def test_a_failed_load_takes_no_chat_of_the_last_model_along(
        self, loaded: SessionDesk, backend: FakeBackend, step: str
    ):
        chat = []
        used = loaded.ask(chat, LONG).stats
        backend.failing = step
        with pytest.raises(EngineError):
            loaded.load()
        backend.failing = ""
        loaded.load()
        assert loaded.ask(chat, "hello").stats.n_reused >= used.n_prompt

    def test_a_decode_that_fails_loses_no_more_than_its_answer(self, loaded: SessionDesk, backend: FakeBackend):
        chat = []
        loaded.ask(chat, "hello")
        assert backend.context is not None
        backend.context.is_failing = True
        with pytest.raises(EngineError) as caught:
            loaded.ask(chat, "hello there")
        assert caught.value.code is ErrorCode.DECODE_FAILED
        chat.pop()
        assert loaded.ask(chat, "hello").reason is FinishReason.MAX_TOKENS

    def test_one_model_is_open_at_a_time_and_none_in_the_end(self, desk: SessionDesk, backend: FakeBackend):
        desk.load()
        desk.load()
        assert backend.n_open == 2, "a model and its context"
        desk.session.close()
        assert backend.n_open == 0

    def test_a_computer_without_a_gpu_hears_it_once(self, desk: SessionDesk):
        told = [one for one in of(desk.events, Notice) if one.code is NoticeCode.CPU_ONLY]
        assert [one.detail for one in told] == ["the end of the log"]

    def test_what_is_left_out_is_told(self, model_path: Path, tmp_path: Path):
        backend = FakeBackend()
        backend.damaged = ("libggml-vulkan.so",)
        desk = SessionDesk(model_path, tmp_path)
        desk.open(backend)
        told = [one.message for one in of(desk.events, Notice) if one.code is NoticeCode.BACKEND_UNUSABLE]
        desk.session.close()
        assert len(told) == 1
        assert "libggml-vulkan.so" in told[0]


@pytest.mark.parametrize("kind", [MemoryKind.RECURRENT, MemoryKind.HYBRID])
def test_a_model_with_a_state_is_asked_for_no_eviction(kind: MemoryKind, model_path: Path, tmp_path: Path):
    desk = SessionDesk(model_path, tmp_path)
    desk.open(FakeBackend(kind))
    (loaded,) = of(desk.load(), ModelLoaded)
    assert Policy.SINKS not in loaded.facts.policies
    with pytest.raises(EngineError) as caught:
        desk.ask([], "hello", policy=PolicySettings(policy=Policy.SINKS))
    assert caught.value.code is ErrorCode.SETTING_INVALID
    assert desk.ask([], "hello").reason is FinishReason.MAX_TOKENS
    desk.session.close()
