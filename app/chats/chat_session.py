"""Sends what is typed, streams what is answered, and keeps transcript and conversation equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.chats.conversation import Conversation
from app.chats.editing import Editing
from app.chats.open_chat import OpenChat, kept_chat, new_chat
from app.chats.requests import Requests
from app.chats.turn_display import TurnDisplay, state_of
from app.composer.composer import Composer
from app.composer.draft_counter import DraftCounter
from app.link.session import EngineSession
from app.link.status import EngineState, EngineStatus
from app.store.preferences import Preferences
from app.store.records import ChatSettings, Turn, WholeChat, composed
from app.transcript.transcript import Transcript
from app.transcript.turns import ShownState, ShownTurn
from engine.api.errors import ErrorCode
from engine.api.messages import (
    EngineLost,
    Event,
    Failed,
    Finished,
    FinishReason,
    Message,
    ModelLoaded,
    TextGenerated,
    TextKind,
)
from engine.api.settings import PolicySettings


class ChatSession(QObject):
    """The open chat at work, and one that was left while its answer was being written.

    ``failed`` carries the Failed of an answer; ``must_choose_model`` asks for one before anything can be sent;
    ``editing_changed`` tells whether a message is being edited; ``answer_ended`` comes once for each answer in the open
    chat, with whether it ended as it should; ``had_no_room`` when it ended for want of cells, with whether the message
    alone was too long, which then is back where it was typed; ``changed`` when what can be done next may have changed;
    ``touched`` when there is something to keep; ``opened`` when another chat is open; ``let_go`` carries an OpenChat no
    longer at work.
    """

    failed = Signal(object)
    must_choose_model = Signal()
    editing_changed = Signal(bool)
    answer_ended = Signal(bool)
    had_no_room = Signal(bool)
    changed = Signal()
    touched = Signal()
    opened = Signal()
    let_go = Signal(object)

    def __init__(
        self,
        session: EngineSession,
        transcript: Transcript,
        composer: Composer,
        preferences: Callable[[], Preferences],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._transcript = transcript
        self._composer = composer
        self._preferences = preferences
        self._open = new_chat(self._first_settings(), "")
        self._left: OpenChat | None = None
        self._queued = False
        self._editing = Editing(composer)
        self.requests = Requests(session, preferences)
        self._display = TurnDisplay(self)
        self._counter = DraftCounter(session, self._messages_before_draft, self)
        self._counter.counted.connect(composer.set_room)
        self._counter.unknown.connect(lambda: composer.set_room(None, None))
        composer.text_changed.connect(self._on_draft)
        composer.send_requested.connect(self.send)
        composer.stop_requested.connect(self.stop)
        session.noted.connect(self._note_model)
        session.event_received.connect(self._on_event)
        session.status_changed.connect(self._on_status)

    # What can be done

    @property
    def open_chat(self) -> OpenChat:
        """The open chat."""
        return self._open

    @property
    def chats(self) -> tuple[OpenChat, ...]:
        """The chats at work: the open one, and one that was left while its answer was being written."""
        return (self._open, self._left) if self._left is not None else (self._open,)

    @property
    def conversation(self) -> Conversation:
        """The turns of the open chat."""
        return self._open.conversation

    @property
    def settings(self) -> ChatSettings:
        """What holds for the open chat."""
        return self._open.head.settings

    @property
    def policy(self) -> PolicySettings:
        """What leaves the cache when it is full, in the open chat."""
        return self.requests.policy(self._open)

    @property
    def is_editing(self) -> bool:
        """Whether the composer holds a message for editing."""
        return self._editing.turn_id is not None

    def can_stop(self) -> bool:
        """Whether there is anything that Stop would end."""
        return self.conversation.request_id is not None or self.requests.is_reading or self._queued or self.is_editing

    def can_regenerate(self) -> bool:
        """Whether the last message can be answered, or answered again."""
        return self.conversation.can_answer() and self._session.status.can_answer

    def can_continue(self) -> bool:
        """Whether the last answer can go on."""
        return self.conversation.can_continue() and self._session.status.can_answer

    def turn_id_of(self, message_index: int | None) -> str | None:
        """Which turn a message of the last request belongs to (None: the answer to it); None for the system prompt,
        and for a request of another chat."""
        return self.requests.sent.turn_id(self.conversation, message_index)

    def can_edit(self) -> bool:
        """Whether there is a last message to edit, and nothing under way."""
        return self.conversation.request_id is None and self.conversation.last_of_user is not None

    # What is done

    def set_settings(self, settings: ChatSettings) -> None:
        """What holds for the open chat from the next request on."""
        if settings != self.settings:
            self._open.head = replace(self._open.head, settings=settings)
            self.touched.emit()

    def send(self, text: str) -> None:
        """Send a message; it stays in the composer while a model is on its way or another answer is ending."""
        status = self._session.status
        if status.can_answer and self.conversation.request_id is None:
            self._send_now(text)
        elif status.state is EngineState.STOPPED or status.state is EngineState.NO_MODEL:
            self.must_choose_model.emit()
        else:
            self._set_queued(True)
            self.requests.stop_reading()

    def read_again(self) -> None:
        """Have the open chat in the cache before the next message needs it; a message sent meanwhile takes over."""
        if self._session.status.can_answer and self.conversation.can_answer():
            self.requests.restore(self._open, evaluate=True)
            self.changed.emit()

    def restore(self) -> None:
        """Have what is kept of the open chat in the cache; nothing is evaluated, and nothing waits for it."""
        if self._session.status.can_answer and self.conversation.can_answer():
            self.requests.restore(self._open)

    def stop(self) -> None:
        """End what is under way: the answer, the wait for the model, or the editing."""
        if self._queued:
            self._set_queued(False)
        elif self.conversation.request_id is not None or self.requests.is_reading:
            self._session.stop()
        elif self.is_editing:
            self._end_editing(restore=True)

    def regenerate(self, turn_id: int | None = None) -> None:
        """Answer again, by default the last message of the person; the answer that was there stays a version."""
        if not self.can_regenerate():
            return
        path = self.conversation.turns
        place = len(path) if turn_id is None else next((i for i, turn in enumerate(path) if turn.id == turn_id), 0)
        asked = next((i for i in reversed(range(min(place + 1, len(path)))) if path[i].message.role == "user"), None)
        if asked is not None:
            if asked + 1 < len(path):
                self.conversation.branch_at(path[asked + 1].id)
                self._transcript.remove_turns_from(str(path[asked + 1].id))
            self._answer()

    def continue_answer(self) -> None:
        """Let the last answer go on."""
        if not self.can_continue():
            return
        request_id = self._session.next_request_id()
        messages = self.requests.messages(self._open)
        turn = self.conversation.begin_continuation(request_id)
        self._transcript.update_turn(str(turn.id), state=ShownState.STREAMING, note="", facts=())
        self._generate(request_id, messages, continue_last=True)

    def edit(self, turn_id: int) -> None:
        """Put a message into the composer; sent again, it becomes another version."""
        turn = self.conversation.turn(turn_id)
        if turn is None or not self.can_edit() or self.is_editing:
            return
        self._editing.begin(turn)
        self.editing_changed.emit(True)
        self.changed.emit()

    def new_chat(self) -> None:
        """Start an empty chat; an empty one stays open."""
        if self._open.conversation.turns or self._open.head.draft or self._open.kept_head is not None:
            self._leave_for(new_chat(self._first_settings(), self.conversation.model))
        else:
            self._open.head = replace(self._open.head, settings=self._first_settings())
            self.opened.emit()
        self._composer.focus()

    def open(self, whole: WholeChat, turn_id: int | None = None) -> None:
        """Open a chat out of the store, at a turn if there is one."""
        at_work = next((chat for chat in self.chats if chat.head.id == whole.chat.id), None)
        if at_work is not self._open:
            self._leave_for(at_work or kept_chat(whole, self.conversation.model))
        if turn_id is not None and self.conversation.request_id is None and self.conversation.show_turn(turn_id):
            self.show_again(turn_id)

    def show_again(self, turn_id: int | None = None) -> None:
        """Show what was changed from outside, at a turn if there is one."""
        self._show(turn_id)
        self.touched.emit()

    def close_chat(self, chat_id: str) -> None:
        """Leave a chat that was deleted: nothing more of it is kept."""
        self.requests.stop()
        for chat in self.chats:
            if chat.head.id == chat_id and chat.conversation.request_id is not None:
                self._session.stop()
        if self._left is not None and self._left.head.id == chat_id:
            self._left = None
        if self._open.head.id == chat_id:
            self._open = new_chat(self._first_settings(), self.conversation.model)
            self._show_opened()

    # Chats

    def _first_settings(self) -> ChatSettings:
        return ChatSettings(self._preferences().system_prompt, self._preferences().sampling)

    def _leave_for(self, other: OpenChat) -> None:
        self.requests.stop()
        if self._queued:
            self._set_queued(False)
        if self.is_editing:
            self._end_editing(restore=True)
        if self.conversation.request_id is not None:
            self._left = self._open
            if not self._preferences().finish_when_left:
                self._session.stop()
        self.let_go.emit(self._open)
        self._open = other
        if self._left is other:
            self._left = None
        self._show_opened()

    def _show_opened(self) -> None:
        self._composer.set_attachments(())
        self._composer.set_text(self._open.head.draft)
        self._show()
        self.opened.emit()

    def _show(self, at: int | None = None) -> None:
        """Show the open version from the beginning on, and go to a turn, or to the end."""
        self._transcript.set_turns([self.shown(turn) for turn in self.conversation.shown_turns()])
        self._transcript.set_visibility(self.requests.sent.seen(self.conversation))
        if at is not None:
            self._transcript.scroll_to_turn(str(at))
        self._composer.set_busy(self.conversation.request_id is not None)
        self.changed.emit()

    def shown(self, turn: Turn) -> ShownTurn:
        """A turn of the open chat as the transcript shows it."""
        return self._display.shown(self.conversation, turn, self.settings.sampling, self._session.status.facts)

    # Requests

    def _messages_before_draft(self) -> tuple[Message, ...]:
        prompt = self.settings.system_prompt
        return self._editing.before(self.conversation.messages(prompt), self.conversation.turn_ids(prompt))

    def _send_now(self, text: str) -> None:
        attachments = self._composer.attachments
        if not text.strip() and not attachments:
            return
        if (edited := self._editing.turn_id) is not None:
            self.conversation.branch_at(edited)
            self._transcript.remove_turns_from(str(edited))
            self._end_editing(restore=False)
        turn = self.conversation.add_user(text, attachments)
        self._transcript.append_turn(self.shown(turn))
        self._composer.clear()
        self._answer()

    def _answer(self) -> None:
        request_id = self._session.next_request_id()
        messages = self.requests.messages(self._open)
        turn = self.conversation.begin_answer(request_id)
        self._transcript.append_turn(self.shown(turn))
        self._generate(request_id, messages)

    def _generate(self, request_id: int, messages: tuple[Message, ...], *, continue_last: bool = False) -> None:
        self._open.touch()
        self._composer.set_busy(True)
        self.requests.answer(self._open, request_id, messages, continue_last=continue_last)
        self.touched.emit()
        self.changed.emit()

    def _set_queued(self, queued: bool) -> None:
        self._queued = queued
        self._composer.set_queued(queued)
        self.changed.emit()

    def _end_editing(self, *, restore: bool) -> None:
        self._editing.end(restore=restore)
        self.editing_changed.emit(False)
        self.changed.emit()

    # What happens

    def _on_draft(self) -> None:
        text = self._composer.text()
        self._counter.set_draft(composed(self._composer.attachments, text) if self._composer.attachments else text)
        if text != self._open.head.draft:
            self._open.set_draft(text)
            self.touched.emit()

    def _on_status(self, status: EngineStatus) -> None:
        if self._queued:
            if status.can_answer and self.conversation.request_id is None:
                self._set_queued(False)
                self._send_now(self._composer.text())
            elif status.state in (EngineState.NO_MODEL, EngineState.STOPPED):
                self._set_queued(False)
        self.changed.emit()

    def _note_model(self, event: Event) -> None:
        if isinstance(event, ModelLoaded):
            for chat in self.chats:
                chat.conversation.model = event.facts.path

    def _on_event(self, event: Event) -> None:
        if self.requests.take(event):
            self.changed.emit()
        self._transcript.set_visibility(self.requests.sent.seen_after(event, self.conversation))
        if isinstance(event, TextGenerated):
            self._on_text(event)
        elif isinstance(event, Finished):
            is_full = event.reason is FinishReason.CACHE_FULL and event.request_id == self.conversation.request_id
            for chat in self.chats:
                self._on_ended(chat, chat.conversation.finish(event), is_good=True)
            if is_full:
                self.had_no_room.emit(False)
        elif isinstance(event, Failed):
            self._on_failed(event)
        elif isinstance(event, EngineLost):
            for request_id in event.request_ids:
                for chat in self.chats:
                    self._on_ended(chat, chat.conversation.fail(request_id), is_good=False)

    def _on_text(self, event: TextGenerated) -> None:
        for chat in self.chats:
            turn_id = chat.conversation.receive(event)
            if turn_id is not None:
                if chat is self._open:
                    texts = ("", event.text) if event.kind is TextKind.REASONING else (event.text,)
                    self._transcript.append_text(str(turn_id), *texts)
                self.touched.emit()

    def _on_failed(self, event: Failed) -> None:
        if event.request_id is None:
            return
        for chat in self.chats:
            turn = chat.conversation.fail(event.request_id)
            if turn is not None:
                is_too_long = event.code is ErrorCode.PROMPT_TOO_LONG and turn.is_empty
                self._on_ended(chat, turn, is_good=False, takes_back=is_too_long)
                self.failed.emit(event)
                if event.code is ErrorCode.PROMPT_TOO_LONG and chat is self._open:
                    self.had_no_room.emit(True)

    def _on_ended(self, chat: OpenChat, turn: Turn | None, *, is_good: bool, takes_back: bool = False) -> None:
        if turn is None:
            return
        chat.touch()
        self.touched.emit()
        if chat is not self._open:
            self._left = None
            self.let_go.emit(chat)
            self.changed.emit()
            return
        self._composer.set_busy(False)
        if turn.is_empty:
            asked = self.conversation.last
            if takes_back and asked is not None and asked.message.role == "user":
                # A message that alone is too long goes back to where it was typed, before what was typed since.
                self.conversation.delete(asked.id)
                self._editing.give_back(asked)
            # Another version may stand in its place now.
            self._show()
        else:
            facts, note = self._display.facts_of(turn, self.settings.sampling), self._display.note_of(turn)
            self._transcript.finish_turn(str(turn.id), state_of(turn), facts, note)
        self.changed.emit()
        self.answer_ended.emit(is_good)
