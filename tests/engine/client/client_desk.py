"""A client on an engine that is played, and what a test says to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.api.messages import Cancel, Command, Generate, LoadModel
from engine.client.client import EngineClient, EngineOptions, Recovery
from tests.engine.client import fake_workers
from tests.engine.client.fake_workers import message
from tests.engine.client.listener import Listener


class Desk:
    """A client on a fake engine, with what tests say to it."""

    def __init__(self, folder: Path, run: Callable[..., None], recovery: Recovery | None) -> None:
        self.log_path = folder / "engine.log"
        self.heard = Listener()
        self.client = EngineClient(
            self.heard.hear, EngineOptions(log_path=str(self.log_path)), recovery=recovery, run=run
        )

    def send(self, make: Callable[[int], Command]) -> int:
        request_id = self.client.next_request_id()
        self.client.send(make(request_id))
        return request_id

    def load(self, path: str = "model") -> int:
        return self.send(lambda request_id: LoadModel(request_id, path))

    def ask(self, text: str) -> int:
        return self.send(lambda request_id: Generate(request_id, "chat", message(text)))

    def stop(self, request_id: int) -> None:
        self.client.send(Cancel(request_id))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    desks: list[Desk] = []

    def open_desk(
        run: Callable[..., None] = fake_workers.run, *, recovery: Recovery | None = None, start: bool = True
    ) -> Desk:
        desks.append(Desk(tmp_path, run, recovery))
        if start:
            desks[-1].client.start()
        return desks[-1]

    yield open_desk
    for one in desks:
        one.client.close()
