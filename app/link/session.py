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
    ModelLoaded,
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
    """``status_changed`` carries an EngineStatus, ``event_received`` every event, after the status took note of it.

    ``load_failed`` carries (path, Failed); a load that the person cancelled does not fail.
    """

    status_changed = Signal(object)
    event_received = Signal(object)
    load_failed = Signal(str, object)

    def __init__(self, engine: Engine, bridge: EngineBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._bridge = bridge
        self._status = EngineStatus()
        self._loads: dict[int, str] = {}
        self._cancelled_loads: set[int] = set()
        self._prepared: int | None = None
        bridge.received.connect(self._on_event)

    @property
    def status(self) -> EngineStatus:
        """The engine as last heard of."""
        return self._status

    def start(self) -> None:
        """Start the engine process."""
        self._engine.start()

    def restart(self) -> None:
        """Start the engine again after the client gave up."""
        self._engine.start()
        self._set_status(EngineStatus())

    def load(self, path: str, settings: LoadSettings) -> None:
        """Load a model in place of the one before; an answer under way is stopped, and its text stays."""
        if self._status.state is EngineState.STOPPED:
            self.restart()
        self.stop()
        if self._prepared is None:
            self.cancel_load()
        self._prepared = None
        request_id = self._engine.next_request_id()
        self._loads[request_id] = path
        self._send(LoadModel(request_id, path, settings))
        self._set_status(self._status.when_loading(request_id, path))

    def prepare(self, path: str) -> int:
        """Say that a load of this file will follow, once it is known with which settings; the number of it.

        What is loaded stays until then.
        """
        if self._status.state is EngineState.STOPPED:
            self.restart()
        self.stop()
        self.cancel_load()
        self._prepared = self._engine.next_request_id()
        self._set_status(self._status.when_loading(self._prepared, path))
        return self._prepared

    def is_prepared(self, number: int) -> bool:
        """Whether nothing came between: no other load, and nobody gave this one up."""
        return self._prepared == number

    def end_preparation(self, number: int) -> None:
        """No load will follow."""
        if self._prepared == number:
            self._prepared = None
            self._set_status(self._status.when_not_loading())

    def cancel_load(self) -> None:
        """Give up a load under way, or one that is prepared."""
        if self._prepared is not None:
            self.end_preparation(self._prepared)
        elif self._status.model_path is not None and self._status.facts is None:
            self._cancelled_loads.add(self._status.load_request)
            self._send(Cancel(self._status.load_request))

    def unload(self) -> None:
        """Give the model's memory back."""
        if self._prepared is not None:
            self.end_preparation(self._prepared)
        self._engine.unload()

    def generate(self, request: Generate) -> None:
        """Ask for an answer; ``request.request_id`` comes from ``next_request_id``."""
        self._send(request)
        self._set_status(self._status.when_answering(request.request_id))

    def next_request_id(self) -> int:
        """A fresh id."""
        return self._engine.next_request_id()

    def stop(self) -> None:
        """Stop the answer under way; it ends with Finished."""
        if self._status.answer_request is not None:
            self._send(Cancel(self._status.answer_request))

    def restore(self, request: RestoreChat) -> None:
        """Have a chat in the context as far as it is kept; nobody is kept waiting for it, so the status stays."""
        self._send(request)

    def cancel_restore(self, request_id: int) -> None:
        """It is not wanted any more."""
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

    def _set_status(self, status: EngineStatus) -> None:
        if status != self._status:
            self._status = status
            self.status_changed.emit(status)

    def _on_event(self, event: Event) -> None:
        before = self._status
        self._set_status(before.after(event))
        if isinstance(event, ModelLoaded):
            self._loads.pop(event.request_id, None)
        if isinstance(event, Failed) and event.request_id is not None:
            path = self._loads.pop(event.request_id, None)
            if path is None and event.request_id == before.load_request and before.facts is None:
                # The client loads again by itself after a crash.
                path = before.model_path
            if path is not None and event.request_id not in self._cancelled_loads:
                self.load_failed.emit(path, event)
        self.event_received.emit(event)
