"""Sends what is typed, streams what is answered, and keeps transcript and conversation equal."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app import i18n
from app.cache.visibility import visibility
from app.chat import turns
from app.chat.composer import Composer
from app.chat.transcript import Transcript
from app.chat.turns import Action, TurnState
from app.conversation import Conversation, Turn, plain_text
from app.draft_counter import DraftCounter
from app.engine_session import EngineSession
from app.engine_status import EngineState, EngineStatus
from app.settings.preferences import Preferences
from app.top_bar import model_name
from engine.errors import ErrorCode
from engine.messages import (
    CacheChanged,
    CacheUsage,
    EngineLost,
    Event,
    Failed,
    Finished,
    FinishReason,
    Generate,
    Message,
    ModelLoaded,
    TextGenerated,
    TextKind,
)


class ChatSession(QObject):
    """The open chat at work.

    ``failed`` carries the Failed of an answer; ``must_choose_model`` asks for one before anything can be sent;
    ``editing_changed`` tells whether the composer holds the last message for editing; ``answer_ended`` comes once for
    each answer, with whether it ended as it should; ``changed`` when what can be done next may have changed.
    """

    failed = Signal(object)
    must_choose_model = Signal()
    editing_changed = Signal(bool)
    answer_ended = Signal(bool)
    changed = Signal()

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
        self._conversation = Conversation(uuid.uuid4().hex)
        self._queued = False
        self._editing: int | None = None
        self._draft_before_editing = ""
        self._answered_by = ""
        self._sent_turn_ids: tuple[int | None, ...] = ()
        self._seen_gone = (0, 0)
        self._counter = DraftCounter(session, self._messages_before_draft, self)
        self._counter.counted.connect(composer.set_room)
        self._counter.unknown.connect(lambda: composer.set_room(None, None))
        composer.text_changed.connect(self._counter.set_draft)
        composer.send_requested.connect(self.send)
        composer.stop_requested.connect(self.stop)
        composer.edit_last_requested.connect(self.edit_last)
        transcript.action_requested.connect(self._on_action)
        transcript.set_actions(self._actions_of)
        session.event_received.connect(self._on_event)
        session.status_changed.connect(self._on_status)

    # What can be done

    @property
    def conversation(self) -> Conversation:
        """The open chat."""
        return self._conversation

    @property
    def is_editing(self) -> bool:
        """Whether the composer holds the last message for editing."""
        return self._editing is not None

    def can_stop(self) -> bool:
        """Whether there is anything that Stop would end."""
        return self._conversation.request_id is not None or self._queued or self.is_editing

    def can_regenerate(self) -> bool:
        """Whether the last message can be answered, or answered again."""
        return self._conversation.can_answer() and self._session.status.can_answer

    def can_continue(self) -> bool:
        """Whether the last answer can go on."""
        return self._conversation.can_continue() and self._session.status.can_answer

    def turn_id_of(self, message_index: int | None) -> str | None:
        """Which turn a message of the last request belongs to (None: the answer to it); None for the system prompt."""
        ids = (*self._sent_turn_ids, self._conversation.last.id if self._conversation.last else None)
        found = ids[-1 if message_index is None else min(message_index, len(ids) - 1)]
        return None if found is None else str(found)

    def can_edit(self) -> bool:
        """Whether there is a last message to edit, and nothing under way."""
        return self._conversation.request_id is None and self._conversation.last_of_user is not None

    # What is done

    def send(self, text: str) -> None:
        """Send a message; it stays in the composer while a model is on its way or another answer is ending."""
        status = self._session.status
        if status.can_answer and self._conversation.request_id is None:
            self._send_now(text)
        elif status.state is EngineState.STOPPED or status.state is EngineState.NO_MODEL:
            self.must_choose_model.emit()
        else:
            self._set_queued(True)

    def stop(self) -> None:
        """End what is under way: the answer, the wait for the model, or the editing."""
        if self._queued:
            self._set_queued(False)
        elif self._conversation.request_id is not None:
            self._session.stop()
        elif self.is_editing:
            self._end_editing(restore=True)

    def regenerate(self) -> None:
        """Answer the last message of the person again."""
        asked = self._conversation.last_of_user
        if asked is None or not self.can_regenerate():
            return
        last = self._conversation.last
        if last is not None and last.message.role == "assistant":
            self._remove_from(last.id)
        self._answer()

    def continue_answer(self) -> None:
        """Let the last answer go on."""
        if not self.can_continue():
            return
        request_id = self._session.next_request_id()
        messages = self._messages()
        self._note_sent()
        turn = self._conversation.begin_continuation(request_id)
        self._transcript.update_turn(str(turn.id), state=TurnState.STREAMING, note="", facts=())
        self._generate(request_id, messages, continue_last=True)

    def edit_last(self) -> None:
        """Put the person's last message into the composer; it is replaced when it is sent again."""
        turn = self._conversation.last_of_user
        if turn is None or not self.can_edit() or self.is_editing:
            return
        self._draft_before_editing = self._composer.text()
        self._editing = turn.id
        self._composer.set_text(turn.message.text)
        self._composer.focus()
        self.editing_changed.emit(True)
        self.changed.emit()

    def new_chat(self) -> None:
        """Start an empty chat; the draft stays."""
        if self._conversation.request_id is not None:
            self._session.stop()
        if self._session.status.facts is not None:
            self._session.forget_chat(self._conversation.chat_id)
        if self.is_editing:
            self._end_editing(restore=True)
        self._conversation = Conversation(uuid.uuid4().hex)
        self._seen_gone = (0, 0)
        self._transcript.set_turns([])
        self._composer.set_busy(False)
        self._composer.focus()
        self.changed.emit()

    def copy_last(self) -> None:
        """Copy the last answer as Markdown."""
        answers = [turn for turn in self._conversation.turns if turn.message.role == "assistant"]
        if answers:
            QGuiApplication.clipboard().setText(answers[-1].message.text)

    def copy_chat(self) -> None:
        """Copy all messages as Markdown."""
        names = {"user": self.tr("You"), "assistant": self.tr("Assistant")}
        QGuiApplication.clipboard().setText(plain_text(self._conversation.turns, names))

    # Requests

    def _messages(self) -> tuple[Message, ...]:
        return self._conversation.messages(self._preferences().system_prompt)

    def _messages_before_draft(self) -> tuple[Message, ...]:
        if self._editing is None:
            return self._messages()
        ids = self._conversation.turn_ids(self._preferences().system_prompt)
        kept = ids.index(self._editing) if self._editing in ids else len(ids)
        return self._messages()[:kept]

    def _note_sent(self) -> None:
        self._sent_turn_ids = self._conversation.turn_ids(self._preferences().system_prompt)

    def _send_now(self, text: str) -> None:
        if not text.strip():
            return
        if self._editing is not None:
            self._remove_from(self._editing)
            self._end_editing(restore=False)
        turn = self._conversation.add_user(text)
        self._transcript.append_turn(
            turns.Turn(str(turn.id), "user", text, time=i18n.time_text(turn.moment)),
        )
        self._composer.clear()
        self._answer()

    def _answer(self) -> None:
        request_id = self._session.next_request_id()
        messages = self._messages()
        turn = self._conversation.begin_answer(request_id)
        self._note_sent()
        facts = self._session.status.facts
        author = model_name(facts) if facts else ""
        time = i18n.time_text(turn.moment)
        self._transcript.append_turn(
            turns.Turn(str(turn.id), "assistant", state=TurnState.STREAMING, author=author, time=time)
        )
        self._generate(request_id, messages)

    def _generate(self, request_id: int, messages: tuple[Message, ...], *, continue_last: bool = False) -> None:
        preferences = self._preferences()
        policy = preferences.setup(self._answered_by).policy
        chat_id = self._conversation.chat_id
        self._composer.set_busy(True)
        self._session.generate(
            Generate(request_id, chat_id, messages, preferences.sampling, policy, continue_last=continue_last)
        )
        self.changed.emit()

    def _remove_from(self, turn_id: int) -> None:
        if self._conversation.remove_from(turn_id):
            self._transcript.remove_turns_from(str(turn_id))

    def _set_queued(self, queued: bool) -> None:
        self._queued = queued
        self._composer.set_queued(queued)
        self.changed.emit()

    def _end_editing(self, *, restore: bool) -> None:
        self._editing = None
        self._composer.set_text(self._draft_before_editing if restore else "")
        self._draft_before_editing = ""
        self.editing_changed.emit(False)
        self.changed.emit()

    # What happens

    def _on_status(self, status: EngineStatus) -> None:
        if self._queued:
            if status.can_answer and self._conversation.request_id is None:
                self._set_queued(False)
                self._send_now(self._composer.text())
            elif status.state in (EngineState.NO_MODEL, EngineState.STOPPED):
                self._set_queued(False)
        self.changed.emit()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TextGenerated):
            self._on_text(event)
        elif isinstance(event, Finished):
            self._on_finished(event)
        elif isinstance(event, Failed):
            self._on_failed(event)
        elif isinstance(event, EngineLost):
            self._on_lost(event)
        elif isinstance(event, CacheChanged):
            self._on_cache(event.usage)
        elif isinstance(event, ModelLoaded):
            self._on_model(event.facts.path)

    def _on_model(self, path: str) -> None:
        # Token ids mean something only to the model that sampled them.
        if path != self._answered_by:
            self._answered_by = path
            self._conversation.forget_token_ids()

    def _on_text(self, event: TextGenerated) -> None:
        turn_id = self._conversation.receive(event)
        if turn_id is not None:
            is_reasoning = event.kind is TextKind.REASONING
            text, reasoning = ("", event.text) if is_reasoning else (event.text, "")
            self._transcript.append_text(str(turn_id), text, reasoning)

    def _on_finished(self, event: Finished) -> None:
        turn = self._conversation.finish(event)
        if turn is not None:
            self._show_ended(turn)
            self.answer_ended.emit(True)

    def _on_failed(self, event: Failed) -> None:
        turn = self._conversation.fail(event.request_id) if event.request_id is not None else None
        if turn is None:
            return
        self._show_ended(turn)
        if event.code is ErrorCode.PROMPT_TOO_LONG and turn.is_empty:
            self._take_back()
        self.failed.emit(event)
        self.answer_ended.emit(False)

    def _take_back(self) -> None:
        """A message that alone is too long goes back to where it was typed, before what was typed since."""
        asked = self._conversation.last
        if asked is not None and asked.message.role == "user":
            self._remove_from(asked.id)
            since = self._composer.text()
            self._composer.set_text(f"{asked.message.text}\n\n{since}" if since else asked.message.text)

    def _on_lost(self, event: EngineLost) -> None:
        for request_id in event.request_ids:
            turn = self._conversation.fail(request_id)
            if turn is not None:
                self._show_ended(turn)
                self.answer_ended.emit(False)

    def _show_ended(self, turn: Turn) -> None:
        self._composer.set_busy(False)
        turn_id = str(turn.id)
        if turn.is_empty:
            self._transcript.remove_turns_from(turn_id)
        else:
            self._transcript.finish_turn(turn_id, turn.state, self._facts(turn), self._note(turn))
        self.changed.emit()

    def _facts(self, turn: Turn) -> tuple[str, ...]:
        stats = turn.stats
        if stats is None:
            return ()
        facts = [self.tr("%Ln token(s)", "", stats.n_generated)]
        if stats.decode_tps > 0:
            facts.append(self.tr("{0} tok/s").format(i18n.number(stats.decode_tps, 1)))
        if stats.n_reused > 0:
            facts.append(self.tr("{0} reused").format(i18n.number(stats.n_reused)))
        if self._preferences().sampling.seed is None and self._preferences().sampling.temperature > 0:
            facts.append(self.tr("seed {0}").format(stats.seed))
        return tuple(facts)

    def _note(self, turn: Turn) -> str:
        if turn.state is TurnState.FAILED:
            return self.tr("The answer broke off here. Its text is safe; it can be continued or answered again.")
        return {
            FinishReason.CANCELLED: self.tr("Stopped"),
            FinishReason.MAX_TOKENS: self.tr("The longest answer allowed was reached."),
            FinishReason.CACHE_FULL: self.tr("The cache is full."),
        }.get(turn.reason or FinishReason.END_OF_TURN, "")

    def _on_cache(self, usage: CacheUsage) -> None:
        gone = (usage.n_evicted, usage.n_skipped)
        if usage.chat_id != self._conversation.chat_id or gone == self._seen_gone:
            return
        self._seen_gone = gone
        ids = self._sent_turn_ids
        self._transcript.set_visibility(
            {
                str(ids[index]): seen
                for index, seen in visibility(usage.spans).items()
                if index < len(ids) and ids[index] is not None
            }
        )

    # Buttons under a turn

    def _actions_of(self, turn: turns.Turn, is_last: bool) -> tuple[Action, ...]:
        if turn.state is TurnState.STREAMING:
            return ()
        if turn.role == "user":
            newest = self._conversation.last_of_user
            is_newest = newest is not None and str(newest.id) == turn.id
            actions = (Action.COPY, Action.EDIT) if is_newest else (Action.COPY,)
            return (*actions, Action.REGENERATE) if is_last else actions
        return (Action.COPY, Action.REGENERATE, Action.CONTINUE) if is_last else (Action.COPY,)

    def _on_action(self, _turn_id: str, action: Action) -> None:
        if action is Action.REGENERATE:
            self.regenerate()
        elif action is Action.CONTINUE:
            self.continue_answer()
        elif action is Action.EDIT:
            self.edit_last()
