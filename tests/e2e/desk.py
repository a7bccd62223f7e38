"""A client on a real engine, with what the tests say to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.api.messages import Cancel, Command, EngineReady, Event, Finished, Generate, LoadModel, Message, ModelLoaded
from engine.api.settings import LoadSettings, SamplingSettings
from engine.client.client import EngineClient, EngineOptions, Recovery
from tests.engine.client.listener import Listener

DEFAULTS = LoadSettings()
GREEDY = SamplingSettings(temperature=0.0, max_tokens=8)


class Desk:
    """Starts an engine; `heard` is what it says."""

    def __init__(self, log_path: Path, *, recovery: Recovery | None = None, **options: object) -> None:
        self.heard = Listener()
        engine_options = replace(EngineOptions(log_path=str(log_path)), **options)
        self.client = EngineClient(self.heard.hear, engine_options, recovery=recovery)
        self.client.start()

    @property
    def process_id(self) -> int:
        """The engine process that was ready last."""
        process_id = self.heard.of(EngineReady)[-1].process_id
        assert process_id is not None
        return process_id

    def send(self, make: Callable[[int], Command]) -> int:
        request_id = self.client.next_request_id()
        self.client.send(make(request_id))
        return request_id

    def load(self, path: Path | str, settings: LoadSettings = DEFAULTS) -> ModelLoaded:
        """Load a model, which must work."""
        answer = self.try_load(path, settings)
        assert isinstance(answer, ModelLoaded), answer
        return answer

    def try_load(self, path: Path | str, settings: LoadSettings = DEFAULTS) -> Event:
        return self.heard.wait_for_answer(self.send(lambda request_id: LoadModel(request_id, str(path), settings)))

    def ask(self, text: str, sampling: SamplingSettings = GREEDY, *, chat_id: str = "chat") -> int:
        """Ask the first question of a chat."""
        messages = (Message("user", text),)
        return self.send(lambda request_id: Generate(request_id, chat_id, messages, sampling))

    def answer(self, text: str, sampling: SamplingSettings = GREEDY, *, chat_id: str = "chat") -> Finished:
        """Ask, and wait for the answer, which must come."""
        answer = self.heard.wait_for_answer(self.ask(text, sampling, chat_id=chat_id))
        assert isinstance(answer, Finished), answer
        return answer

    def stop(self, request_id: int) -> None:
        self.client.send(Cancel(request_id))
