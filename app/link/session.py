"""The window's one way to the engine: it sends commands, keeps the status, and passes events on."""

from __future__ import annotations

import logging
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from app.link.bridge import EngineBridge
from app.link.status import EngineState, EngineStatus
from engine.api.errors import internal_error
from engine.api.messages import (
    Cancel,
    Command,
    CountTokens,
    Event,
    Failed,
    ForgetAllChats,
    ForgetChat,
    ForgetOtherChats,
    Generate,
    LoadModel,
    Message,
    RestoreChat,
    SetTierBudgets,
)
from engine.api.settings import LoadSettings, TierSettings

log = logging.getLogger("kvasir")


class Engine(Protocol):
    """What the window asks of an engine client."""

    def next_request_id(self) -> int: ...
    def start(self) -> None: ...
    def send(self, command: Command) -> None: ...
    def unload(self) -> None: ...
    def close(self) -> None: ...


class EngineSession(QObject):
    """``status_changed`` carries an EngineStatus, ``event_received`` every event.

    ``noted`` carries an event before either: who keeps something that others look at when they hear of the event takes
    note of it then, and does nothing else. So nothing depends on who hears of it first.
    """

    noted = Signal(object)
    status_changed = Signal(object)
    event_received = Signal(object)

    def __init__(self, engine: Engine, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._bridge = bridge
        self._heard = self._told = EngineStatus()
        self._expected: str | None = None
        self._is_noting = False
        bridge.received.connect(self._on_event)

    @property
    def status(self) -> EngineStatus:
        """The engine as last heard of; a load that is expected counts as begun."""
        return self._heard if self._expected is None else self._heard.expecting(self._expected)

    def start(self) -> None:
        """Start the engine process."""
        self._engine.start()

    def restart(self) -> None:
        """Start the engine again after the client gave up."""
        self._engine.start()
        self._set(EngineStatus())

    def expect(self, path: str | None) -> None:
        """A load of this file will follow, once it is known with which settings; None: no more.

        What is loaded stays until then, but an answer under way is stopped.
        """
        if path is not None and path != self._expected:
            self._make_way()
        self._expected = path
        self._tell()

    def load(self, path: str, settings: LoadSettings) -> int:
        """Load a model in place of the one before; the id of the request. An answer under way is stopped, and its text
        stays."""
        self._make_way()
        request_id = self._engine.next_request_id()
        self._send(LoadModel(request_id, path, settings))
        self._expected = None
        self._set(self._heard.when_loading(request_id, path))
        return request_id

    def _make_way(self) -> None:
        if self._heard.state is EngineState.STOPPED:
            self.restart()
        self.stop()

    def unload(self) -> None:
        """Give the model's memory back."""
        self._engine.unload()

    def generate(self, request: Generate) -> None:
        """Ask for an answer; ``request.request_id`` comes from ``next_request_id``."""
        self._send(request)
        self._set(self._heard.when_answering(request.request_id))

    def next_request_id(self) -> int:
        """A fresh id."""
        return self._engine.next_request_id()

    def stop(self) -> None:
        """Stop the answer under way; it ends with Finished."""
        if self._heard.answer_request is not None:
            self._send(Cancel(self._heard.answer_request))

    def restore(self, request: RestoreChat) -> None:
        """Have a chat in the context; where nothing is evaluated, nobody is kept waiting and the status stays."""
        self._send(request)
        if request.evaluate:
            self._set(self._heard.when_answering(request.request_id))

    def cancel(self, request_id: int) -> None:
        """A request is not wanted any more."""
        self._send(Cancel(request_id))

    def count_tokens(self, messages: tuple[Message, ...], draft: str) -> int:
        """Ask for the size of a draft; the id that TokensCounted will carry."""
        request_id = self._engine.next_request_id()
        self._send(CountTokens(request_id, messages, draft))
        return request_id

    def forget_chat(self, chat_id: str) -> None:
        """Free the cells of a chat that nobody will go on with."""
        self._send(ForgetChat(chat_id))

    def forget_other_chats(self, chat_ids: tuple[str, ...]) -> None:
        """Delete what is kept of all chats but these."""
        self._send(ForgetOtherChats(chat_ids))

    def forget_all_chats(self) -> None:
        """Free all cells and delete every chat's kept cache; the texts stay."""
        self._send(ForgetAllChats())

    def set_tier_budgets(self, budgets: TierSettings) -> None:
        """Keep the caches of chats within these budgets from now on."""
        self._send(SetTierBudgets(budgets))

    def _send(self, command: Command) -> None:
        """A request that can't be sent has failed, and its chat is free again."""
        try:
            self._engine.send(command)
        except Exception as error:
            request_id = getattr(command, "request_id", None)
            log.exception("%s could not be sent", type(command).__name__)
            if request_id is not None and not isinstance(command, Cancel):
                mistake = internal_error(error)
                self._bridge.post(Failed(request_id, mistake.code, mistake.sentence, mistake.detail))

    def _set(self, heard: EngineStatus) -> None:
        self._heard = heard
        self._tell()

    def _tell(self) -> None:
        status = self.status
        if status != self._told and not self._is_noting:
            self._told = status
            self.status_changed.emit(status)

    def _on_event(self, event: Event) -> None:
        self._heard = self._heard.after(event)
        self._is_noting = True
        self.noted.emit(event)
        self._is_noting = False
        self._tell()
        self.event_received.emit(event)
