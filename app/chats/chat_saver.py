"""Saves the open chats to the store in the background, and reads from it."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.chats.chat_session import ChatSession
from app.chats.open_chat import OpenChat, kept_chat
from app.store.files import Imported, add_chats, export_from
from app.store.records import Changes, Chat, ChatLine, Hit, PromptPreset, WholeChat
from app.store.schema import FromTheFutureError
from app.store.store import ChatStore, open_to_read, refuses
from app.store.writer import ChatWriter, Job, StoreProblem, StoreProblemKind
from engine.api.valid import valid_text

SAVE_MS = 400
"""Changes are handed to the writer this long after the first of them."""
UNDO_SECONDS = 60.0
"""How long a deleted chat can be brought back."""
PURGE_DELAY_MS = 1000
"""How long after that it is gone for good."""

log = logging.getLogger("kvasir")
_Result = TypeVar("_Result")


class ChatSaver(QObject):
    """``chats_changed`` when the list may look different; ``problem`` carries a StoreProblem; ``purged`` the ids of
    chats that are gone for good. Questions are answered at once, from what is on disk and what is on its way there,
    which is long where the disk is full: searching alone finds only words that are on disk."""

    chats_changed = Signal()
    problem = Signal(object)
    purged = Signal(object)
    _wrote = Signal(object)

    def __init__(self, path: Path, chat: ChatSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._chat = chat
        self._reader: ChatStore | None = None
        self._n_in_flight = 0
        # Chats of which something may not be on disk yet, and those whose deletion may not be there.
        self._on_way: dict[str, OpenChat] = {}
        self._deleted: set[str] = set()
        self._is_closed = False
        self._is_checked = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_MS)
        self._timer.timeout.connect(self.save)
        self._purge_timer = QTimer(self)
        self._purge_timer.setSingleShot(True)
        # Others may ring a twentieth too early.
        self._purge_timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._purge_timer.setInterval(round(1000 * UNDO_SECONDS) + PURGE_DELAY_MS)
        self._purge_timer.timeout.connect(self._purge)
        self._wrote.connect(self._on_wrote)
        self.problem.connect(self._on_problem)
        self._writer = ChatWriter(path, self.problem.emit)
        chat.touched.connect(self._on_touched)
        chat.let_go.connect(self._on_let_go)
        self._purge()

    # Questions

    def chats(self) -> list[ChatLine]:
        """All chats: pinned ones first, then the latest."""
        lines: list[ChatLine] = self._ask(ChatStore.chats, [])
        if not self._on_way and not self._deleted:
            return lines
        heads = [chat.present_head() for chat in self._on_way.values() if chat.kept_head is not None]
        by_id = {line.id: line for line in lines}
        by_id |= {head.id: ChatLine(head.id, head.title, head.is_pinned, head.changed) for head in heads}
        visible = (line for line in by_id.values() if line.id not in self._deleted)
        return sorted(visible, key=lambda line: (line.is_pinned, line.changed), reverse=True)

    def search(self, wanted: str) -> list[Hit]:
        """Chats with all these words."""
        hits: list[Hit] = self._ask(lambda store: store.search(wanted), [])
        return [hit for hit in hits if hit.chat.id not in self._deleted]

    def load(self, chat_id: str) -> WholeChat | None:
        """A chat with its turns."""
        on_way = self._on_way.get(chat_id)
        if on_way is not None:
            return on_way.whole()
        whole = self._ask(lambda store: store.load(chat_id), None)
        if whole is None:
            listed: list[ChatLine] = self._ask(ChatStore.chats, [])
            if any(line.id == chat_id for line in listed):
                self.check()
        return whole

    def presets(self) -> list[PromptPreset]:
        """System prompts with names."""
        return self._ask(ChatStore.presets, [])

    def known_ids(self) -> tuple[str, ...] | None:
        """The ids of all chats there are, also of those whose deletion can be undone; None if that can't be read."""
        ids = self._ask(ChatStore.ids, None)
        return None if ids is None else tuple({*ids, *(chat.head.id for chat in self._chat.chats), *self._on_way})

    def unwritten(self) -> dict[str, WholeChat]:
        """The chats of which something may not be on disk yet, whole."""
        self.save()
        return {chat_id: chat.whole() for chat_id, chat in self._on_way.items() if chat_id not in self._deleted}

    def export(
        self, path: Path, chat_ids: list[str] | None, unwritten: Mapping[str, WholeChat]
    ) -> tuple[int, Exception | None]:
        """Write chats to a file, all by default, those that are ``unwritten`` as they are there; how many, and why some
        of what was said may not be among it. Raises OSError, sqlite3.Error. For any thread: it has a connection of its
        own."""
        return export_from(self._path, path, chat_ids, unwritten)

    @property
    def is_idle(self) -> bool:
        """Whether every write has ended."""
        return self._n_in_flight == 0 and not self._is_closed

    # Changes

    def rename(self, chat_id: str, title: str) -> None:
        """Give a chat a title that stays."""
        title = valid_text(title)
        for chat in self._at_hand(chat_id):
            chat.head = replace(chat.head, title=title, is_named=True)
        self._write(lambda store: store.rename(chat_id, title))

    def pin(self, chat_id: str, is_pinned: bool) -> None:
        """Keep a chat at the top, or no longer."""
        for chat in self._at_hand(chat_id):
            chat.head = replace(chat.head, is_pinned=is_pinned)
        self._write(lambda store: store.pin(chat_id, is_pinned))

    def delete(self, chat_id: str) -> None:
        """Take a chat out of the list, and out of the file once that can't be undone any more."""
        self.save()
        self._deleted.add(chat_id)
        self._write(lambda store: store.delete(chat_id), lambda _result: self._purge_later())
        self.chats_changed.emit()

    def restore(self, chat_id: str) -> None:
        """Undo a deletion."""
        self._deleted.discard(chat_id)
        self._write(lambda store: store.restore(chat_id))
        self.chats_changed.emit()

    def add_copy(self, whole: WholeChat) -> None:
        """Put a new chat into the store that begins as another does."""
        self._on_way[whole.chat.id] = kept_chat(whole, "")
        self._write(lambda store: store.save(whole.chat, Changes(whole.turns)))
        self.chats_changed.emit()

    def add(self, imported: Imported, done: Callable[[tuple[int, int]], object]) -> None:
        """Put chats into the store; ``done`` is called with how many are new, and how many were there already."""
        self._write(lambda store: add_chats(store, imported), done)  # type: ignore[arg-type]

    def save_preset(self, preset: PromptPreset) -> None:
        """Write a preset in place of one with the same name."""
        self._write(lambda store: store.save_preset(preset))

    def delete_preset(self, name: str) -> None:
        """Remove a preset."""
        self._write(lambda store: store.delete_preset(name))

    def save(self) -> None:
        """Hand all unsaved changes to the writer now."""
        self._timer.stop()
        for chat in self._chat.chats:
            self._save(chat)

    def close(self) -> None:
        """Write what is left and close the file."""
        if self._is_closed:
            return
        self._is_closed = True
        self._purge_timer.stop()
        self.save()
        if not self._writer.close():
            log.error("not everything that was said could be written to %s", self._path)
        self._let_go_of_reader()

    # Inside

    def _at_hand(self, chat_id: str | None = None) -> list[OpenChat]:
        """The chats at work and those on their way to the disk, or the one with this id."""
        at_hand = {**self._on_way, **{chat.head.id: chat for chat in self._chat.chats}}
        return [chat for one, chat in at_hand.items() if chat_id in (None, one) and one not in self._deleted]

    def _on_let_go(self, chat: OpenChat) -> None:
        self._save(chat)
        if chat.head.id in self._on_way:
            self.chats_changed.emit()

    def _save(self, chat: OpenChat) -> None:
        if not chat.is_worth_keeping:
            return
        conversation = chat.conversation
        head, changes = chat.present_head(), conversation.take_changes()
        before, chat.kept_head = chat.kept_head, head
        if before == head and not changes:
            return
        self._on_way[head.id] = chat
        self._deleted.discard(head.id)
        if not conversation.kept_turns() and not head.draft.strip():
            self._save_nothing(chat, head, changes)
            return
        looks_other = before is None or (before.title, before.changed) != (head.title, head.changed)

        self._write(lambda store: store.save(head, changes), looks_other=looks_other)

    def _save_nothing(self, chat: OpenChat, head: Chat, changes: Changes) -> None:
        """A draft that was taken back, or messages that were all deleted, leave nothing."""
        chat.kept_head = None

        def save(store: ChatStore) -> None:
            store.save(head, changes)
            store.delete(head.id)

        self._write(save)

    def _write(
        self,
        job: Job,
        done: Callable[[object], object] | None = None,
        *,
        looks_other: bool = True,
        only_reads: bool = False,
    ) -> None:
        self._n_in_flight += 1
        self._writer.do(job, lambda result: self._wrote.emit((done, result, looks_other)), only_reads=only_reads)

    def _on_wrote(self, outcome: tuple[Callable[[object], object] | None, object, bool]) -> None:
        done, result, looks_other = outcome
        self._n_in_flight -= 1
        if self._n_in_flight == 0:
            self._on_way.clear()
            self._deleted.clear()
        if done is not None:
            done(result)
        if looks_other and not self._is_closed:
            self.chats_changed.emit()

    def _on_touched(self) -> None:
        if not self._timer.isActive() and not self._is_closed:
            self._timer.start()

    def _purge_later(self) -> None:
        if not self._is_closed:
            self._purge_timer.start()

    def _purge(self) -> None:
        def done(gone: object) -> None:
            if gone:
                self.purged.emit(gone)

        self._write(lambda store: store.purge(UNDO_SECONDS), done)

    def _on_problem(self, problem: StoreProblem) -> None:
        if problem.kind in (StoreProblemKind.DAMAGED, StoreProblemKind.EXCHANGED):
            self._is_checked = False
            self._let_go_of_reader()
            for chat in self._at_hand():
                # What is at hand is known better than what could be read of it.
                chat.conversation.touch_all()
                chat.kept_head = None
                self._save(chat)

    def _ask(self, question: Callable[[ChatStore], _Result], otherwise: _Result) -> _Result:
        if self._is_closed or not self._path.exists():
            return otherwise
        try:
            if self._reader is None:
                self._reader = open_to_read(self._path)
            answer = question(self._reader)
            if not self._reader.can_write:
                # While it is open nobody else can write.
                self._let_go_of_reader()
            return answer
        except (FromTheFutureError, OSError) as error:
            log.info("the chats can't be read: %s", error)
        except sqlite3.Error as error:
            log.info("the chats can't be read: %s", error)
            self._let_go_of_reader()
            if not refuses(error):
                self.check()
        return otherwise

    def check(self) -> None:
        """Let the writer look for damage, which it repairs; once, since what it did not find it won't find."""
        if not self._is_checked:
            self._is_checked = True
            self._write(ChatStore.check, only_reads=True)

    def _let_go_of_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
