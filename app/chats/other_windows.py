"""Shows soon what another window on the same chats has written."""

from __future__ import annotations

import time
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.chats.chat_saver import ChatSaver
from app.chats.chat_session import ChatSession
from app.chats.open_chat import OpenChat
from app.store.records import Turn, TurnState, WholeChat
from app.transcript.transcript import Transcript
from app.widgets.notices import Level, Notices

LOOK_MS = 1000
SILENT_SECONDS = 30.0
"""An answer that another window writes has broken off if nothing of it came for so long."""


class OtherWindows(QObject):
    """Looks every second: ``wrote`` when the list of chats may be another one, ``settings_changed`` when those of the
    open chat are others.

    Nothing of an open chat is taken in while this window has words of its own on their way.
    """

    wrote = Signal()
    settings_changed = Signal()

    def __init__(self, saver: ChatSaver, chat: ChatSession, transcript: Transcript, notices: Notices) -> None:
        super().__init__(saver)
        self._saver = saver
        self._chat = chat
        self._transcript = transcript
        self._notices = notices
        self._seen: int | None = None
        self._is_due = False
        self._told_gone = ""
        self._grew: dict[int, tuple[Turn, float]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        # From here on; what was written before is read when it is opened.
        saver.ask_for_others(self._on_state)

    def look(self) -> None:
        """Ask whether another window has written."""
        if self._saver.is_idle:
            self._saver.ask_for_others(self._on_state)

    def _on_state(self, state: int) -> None:
        if self._seen not in (None, state):
            self._is_due = True
            self.wrote.emit()
        self._seen = state
        if self._is_due and self._saver.is_idle:
            left = [chat for chat in self._chat.chats if not self._take_in(chat)]
            self._is_due = bool(left)

    def _take_in(self, chat: OpenChat) -> bool:
        """Whether there is nothing left to look for."""
        if chat.kept_head is None:
            return True
        if not chat.conversation.can_take_in():
            return False
        chat_id = chat.head.id
        whole = self._saver.load(chat_id, is_live=True)
        if whole is None or all(one.id != chat_id for one in self._saver.chats()):
            self._tell_gone(chat_id)
            return True
        turns = tuple(turn for one in whole.turns if (turn := self._as_it_is(one)) is not None)
        settings = chat.head.settings
        is_other = chat.take_in(WholeChat(whole.chat, turns))
        if chat is self._chat.open_chat:
            if is_other:
                self._show()
            if chat.head.settings != settings:
                self.settings_changed.emit()
        return all(turn.state is not TurnState.STREAMING for turn in turns)

    def _show(self) -> None:
        """Only what is other than before is shown anew, and who reads further up goes on reading there."""
        transcript, bar = self._transcript, self._transcript.verticalScrollBar()
        is_following, place = transcript.is_following, bar.value()
        before = transcript.turns
        now = [self._chat.shown(turn) for turn in self._chat.conversation.shown_turns()]
        n_same = 0
        for old, new in zip(before, now, strict=False):
            if replace(old, visibility=new.visibility) != new:
                break
            n_same += 1
        if n_same < len(before):
            transcript.remove_turns_from(before[n_same].id)
        for turn in now[n_same:]:
            transcript.append_turn(turn)
        if not is_following:
            bar.setValue(place)
        self._chat.changed.emit()

    def _as_it_is(self, turn: Turn) -> Turn | None:
        """An answer that grows is one that is being written; None for one that has no word yet."""
        if turn.state is not TurnState.STREAMING:
            self._grew.pop(turn.id, None)
            return turn
        before = self._grew.get(turn.id)
        if before is None or before[0] != turn:
            self._grew[turn.id] = (turn, time.monotonic())
        elif time.monotonic() - before[1] > SILENT_SECONDS:
            turn = replace(turn, state=TurnState.FAILED)
        return None if turn.is_empty else turn

    def _tell_gone(self, chat_id: str) -> None:
        if self._told_gone != chat_id and chat_id == self._chat.open_chat.head.id:
            self._told_gone = chat_id
            self._notices.tell(
                Level.INFO, self.tr("This chat was deleted in another window. It is kept again once you go on with it.")
            )
