"""Brings together the chats on disk, the sidebar that lists them, and the one that is open."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import date, datetime
from functools import partial

from PySide6.QtCore import QObject

from app.chats.chat_saver import ChatSaver
from app.chats.chat_session import ChatSession
from app.chats.sampling_controller import SamplingController
from app.chats.sidebar import Sidebar
from app.chats.turn_actions import TurnActions
from app.link.session import EngineSession
from app.store.records import Turn, WholeChat
from app.store.writer import StoreProblem, StoreProblemKind
from app.widgets.notices import Level, Notices
from engine.api.messages import EngineReady, Event

_LEVELS = {
    StoreProblemKind.DAMAGED: Level.WARNING,
    StoreProblemKind.EXCHANGED: Level.WARNING,
    StoreProblemKind.FROM_THE_FUTURE: Level.WARNING,
    StoreProblemKind.DISK_FULL: Level.ERROR,
    StoreProblemKind.NOT_WRITABLE: Level.ERROR,
    StoreProblemKind.SAVED_AGAIN: Level.INFO,
    StoreProblemKind.LEFT_OUT: Level.WARNING,
}
log = logging.getLogger("kvasir")


class ChatsController(QObject):
    """``saver`` has the chats, ``sidebar`` shows them."""

    def __init__(
        self,
        saver: ChatSaver,
        chat: ChatSession,
        turn_actions: TurnActions,
        sidebar: Sidebar,
        sampling: SamplingController,
        notices: Notices,
    ) -> None:
        super().__init__(sidebar)
        self._chat = chat
        self._turn_actions = turn_actions
        self._notices = notices
        self._sampling = sampling
        self._listed: date | None = None
        self._refusal = ""
        self.sidebar = sidebar
        self.saver = saver
        self.saver.problem.connect(self._on_problem)
        self.saver.chats_changed.connect(self._on_chats_changed)
        chat.opened.connect(self._on_opened)
        turn_actions.deleted.connect(self._on_turns_deleted)
        turn_actions.copied.connect(self._on_copied)
        sidebar.open_requested.connect(self.open)
        sidebar.rename_requested.connect(self.saver.rename)
        sidebar.pin_requested.connect(self.saver.pin)
        sidebar.delete_requested.connect(self.delete)
        sidebar.set_source(self.saver.chats, self.saver.search)

    def keep_engine_informed(self, engine: EngineSession) -> None:
        """Let the engine forget what is kept of chats that are gone for good."""
        self.saver.purged.connect(partial(_forget, engine))
        self.sidebar.forget_requested.connect(engine.forget_chat)
        engine.event_received.connect(partial(_tell_known, engine, self.saver))

    def new_chat(self) -> None:
        """Start an empty chat."""
        self._flush()
        self._chat.new_chat()

    def open(self, chat_id: str, turn_id: int | None = None) -> None:
        """Open a chat, at a turn if there is one."""
        self._flush()
        at_work = next((chat for chat in self._chat.chats if chat.head.id == chat_id), None)
        whole = WholeChat(at_work.head) if at_work is not None else self.saver.load(chat_id)
        if whole is not None:
            self._chat.open(whole, turn_id)

    def open_draft(self) -> None:
        """Open the latest chat if it is one of which only a draft was kept."""
        chats = self.saver.chats()
        latest = max(chats, key=lambda chat: chat.changed, default=None)
        whole = self.saver.load(latest.id) if latest is not None else None
        if whole is not None and whole.chat.draft and not whole.turns:
            self._chat.open(whole)

    def delete(self, chat_id: str) -> None:
        """Delete a chat, and offer to undo it."""
        if self.sidebar.model.index_of(chat_id).isValid():
            was_open = self._chat.open_chat.head.id == chat_id
            self.saver.delete(chat_id)
            self._chat.close_chat(chat_id)
            self._notices.tell(
                Level.INFO,
                self.tr("The chat was deleted."),
                action=(self.tr("Undo"), lambda: self._restore(chat_id, was_open=was_open)),
            )

    # The open chat

    def open_neighbour(self, step: int) -> None:
        """Open the chat so many places below this one in the list."""
        chat_id = self.sidebar.neighbour(self._chat.open_chat.head.id, step)
        if chat_id is not None:
            self.open(chat_id)

    def rename_open(self) -> None:
        """Let the person type another title."""
        self.sidebar.rename(self._chat.open_chat.head.id)

    def delete_open(self) -> None:
        """Delete the open chat, and offer to undo it."""
        self.delete(self._chat.open_chat.head.id)

    def pin_open(self) -> None:
        """Keep the open chat at the top, or no longer."""
        chat_id = self._chat.open_chat.head.id
        pinned = next((chat.is_pinned for chat in self.saver.chats() if chat.id == chat_id), None)
        if pinned is not None:
            self.saver.pin(chat_id, not pinned)

    # What happens

    def _restore(self, chat_id: str, *, was_open: bool) -> None:
        self.saver.restore(chat_id)
        if was_open:
            self.open(chat_id)

    def _flush(self) -> None:
        """What was typed a moment ago belongs to the chat that is left."""
        self._sampling.flush()
        self.saver.save()

    def _on_opened(self) -> None:
        self._sampling.show()
        self.sidebar.set_opened(self._chat.open_chat.head.id)

    def look_again(self) -> None:
        """Another day may have begun."""
        if datetime.now().astimezone().date() != self._listed:
            self._on_chats_changed()

    def _on_chats_changed(self) -> None:
        self._listed = datetime.now().astimezone().date()
        self.sidebar.refresh()
        self.sidebar.set_opened(self._chat.open_chat.head.id)

    def _on_turns_deleted(self, chat_id: str, removed: tuple[Turn, ...]) -> None:
        self._notices.tell(
            Level.INFO,
            self.tr("%Ln message(s) deleted.", "", len(removed)),
            action=(self.tr("Undo"), lambda: self._turn_actions.restore(chat_id, removed)),
        )

    def _on_copied(self, whole: WholeChat) -> None:
        self.saver.add_copy(whole)
        self._chat.open(whole)

    def _on_problem(self, problem: StoreProblem) -> None:
        log.warning("chats: %s %s %s", problem.kind, problem.path, problem.detail)
        level, sentence = _LEVELS[problem.kind], self._sentence(problem).format(problem.path)
        if level is Level.ERROR:
            self._refusal = sentence
        elif problem.kind is StoreProblemKind.SAVED_AGAIN:
            self._notices.take_back(self._refusal)
        self._notices.tell(level, sentence, problem.detail)

    def _sentence(self, problem: StoreProblem) -> str:
        return {
            StoreProblemKind.DAMAGED: self.tr(
                "The file of the chats was damaged. %Ln message(s) were brought over; the old file is {0}.",
                "",
                problem.n_messages,
            ),
            StoreProblemKind.EXCHANGED: self.tr(
                "The file of the chats was put aside or exchanged. What is open here is kept in the new one: {0}."
            ),
            StoreProblemKind.FROM_THE_FUTURE: self.tr(
                "The chats were written by a newer Kvasir, so this one leaves them alone and keeps nothing. "
                "Update Kvasir to see them."
            ),
            StoreProblemKind.DISK_FULL: self.tr(
                "The disk is full, so what is said now is not kept yet. "
                "Free some space: it is written as soon as there is room."
            ),
            StoreProblemKind.NOT_WRITABLE: self.tr(
                "The chats can't be written to {0}, so what is said now is not kept yet. "
                "Check the folder's permissions."
            ),
            StoreProblemKind.SAVED_AGAIN: self.tr("Everything that was said is kept again."),
            StoreProblemKind.LEFT_OUT: self.tr(
                "Something of this chat could not be kept, because of a mistake in Kvasir. "
                "Copy what matters to you before you close the window."
            ),
        }[problem.kind]


def _forget(engine: EngineSession, chat_ids: Iterable[str]) -> None:
    for chat_id in chat_ids:
        engine.forget_chat(chat_id)


def _tell_known(engine: EngineSession, saver: ChatSaver, event: Event) -> None:
    """Send a new engine the ids of all chats: it deletes the snapshots of any other, which were deleted meanwhile."""
    known = saver.known_ids() if isinstance(event, EngineReady) else None
    if known is not None:
        engine.forget_other_chats(known)
