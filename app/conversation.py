"""The open chat: its turns, the answer under way, and what may be done next."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.chat.turns import TurnState
from engine.messages import Finished, FinishReason, GenerationStats, Message, TextGenerated, TextKind


def _now() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True)
class Turn:
    """One message of the chat and what became of it; ``stats`` only for a finished answer."""

    id: int
    message: Message
    state: TurnState = TurnState.DONE
    reason: FinishReason | None = None
    stats: GenerationStats | None = None
    moment: datetime = field(default_factory=_now)

    @property
    def is_empty(self) -> bool:
        """Nothing was said: no text, no reasoning, no token."""
        return not (self.message.text or self.message.reasoning or self.message.token_ids)


@dataclass
class _Answer:
    """The answer under way: the message it began with, and what came since."""

    request_id: int
    turn_id: int
    before: Message
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)

    def message(self, token_ids: tuple[int, ...] | None = None) -> Message:
        text = self.before.text + "".join(self.text)
        return Message("assistant", text, self.before.reasoning + "".join(self.reasoning), token_ids)


class Conversation:
    """Turns in order, at most one answer under way. Events of any other request change nothing."""

    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id
        self._ids = itertools.count(1)
        self._turns: list[Turn] = []
        self._answer: _Answer | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The chat so far; the text of an answer under way is in it only once it has ended."""
        return tuple(self._turns)

    @property
    def request_id(self) -> int | None:
        """The request under way."""
        return self._answer.request_id if self._answer else None

    @property
    def last(self) -> Turn | None:
        """The newest turn."""
        return self._turns[-1] if self._turns else None

    @property
    def last_of_user(self) -> Turn | None:
        """The newest turn the person wrote."""
        return next((turn for turn in reversed(self._turns) if turn.message.role == "user"), None)

    def can_answer(self) -> bool:
        """Whether a request may begin."""
        return self._answer is None and bool(self._turns)

    def can_continue(self) -> bool:
        """Whether the last answer may go on where it ended."""
        last = self.last
        return self._answer is None and last is not None and last.message.role == "assistant"

    def messages(self, system_prompt: str) -> tuple[Message, ...]:
        """The whole chat as the engine wants it. A blank system prompt is none."""
        system = (Message("system", system_prompt),) if system_prompt.strip() else ()
        return (*system, *(turn.message for turn in self._turns))

    def turn_ids(self, system_prompt: str) -> tuple[int | None, ...]:
        """Whose message each of ``messages(system_prompt)`` is; None is the system prompt."""
        return (*((None,) if system_prompt.strip() else ()), *(turn.id for turn in self._turns))

    def add_user(self, text: str) -> Turn:
        """Append what the person wrote."""
        turn = Turn(next(self._ids), Message("user", text))
        self._turns.append(turn)
        return turn

    def begin_answer(self, request_id: int) -> Turn:
        """Append the answer that this request will write."""
        turn = Turn(next(self._ids), Message("assistant", ""), TurnState.STREAMING)
        self._turns.append(turn)
        self._answer = _Answer(request_id, turn.id, turn.message)
        return turn

    def begin_continuation(self, request_id: int) -> Turn:
        """The last answer goes on under this request."""
        turn = replace(self._turns[-1], state=TurnState.STREAMING)
        self._turns[-1] = turn
        self._answer = _Answer(request_id, turn.id, turn.message)
        return turn

    def receive(self, event: TextGenerated) -> int | None:
        """Take streamed text; the id of the turn it belongs to, or None if it is not the request under way."""
        answer = self._answer
        if answer is None or answer.request_id != event.request_id:
            return None
        (answer.reasoning if event.kind is TextKind.REASONING else answer.text).append(event.text)
        return answer.turn_id

    def finish(self, event: Finished) -> Turn | None:
        """The answer ended as it should, or was stopped. An empty one leaves the chat; its turn is still returned."""
        answer = self._answer
        if answer is None or answer.request_id != event.request_id:
            return None
        # An answer cut at a stop string comes without ids: its text is not all that was sampled.
        ids = event.token_ids or None
        if answer.before.text or answer.before.reasoning:
            # Ids are only known for the whole message if they were known for its beginning.
            before = answer.before.token_ids
            ids = before + ids if before is not None and ids is not None else None
        message = answer.message(ids)
        state = TurnState.STOPPED if event.reason is FinishReason.CANCELLED else TurnState.DONE
        return self._end(answer, message, state, event)

    def fail(self, request_id: int) -> Turn | None:
        """The answer can't go on; what was streamed stays. An empty one leaves the chat."""
        answer = self._answer
        if answer is None or answer.request_id != request_id:
            return None
        is_untouched = not (answer.text or answer.reasoning)
        return self._end(answer, answer.before if is_untouched else answer.message(), TurnState.FAILED, None)

    def remove_from(self, turn_id: int) -> tuple[Turn, ...]:
        """Take a turn and all that follow out of the chat."""
        index = next((i for i, turn in enumerate(self._turns) if turn.id == turn_id), len(self._turns))
        removed = tuple(self._turns[index:])
        del self._turns[index:]
        return removed

    def forget_token_ids(self) -> None:
        """Another model answers from now on: what it can read is the text."""
        self._turns = [replace(turn, message=replace(turn.message, token_ids=None)) for turn in self._turns]

    def _end(self, answer: _Answer, message: Message, state: TurnState, event: Finished | None) -> Turn:
        self._answer = None
        index = next(i for i, turn in enumerate(self._turns) if turn.id == answer.turn_id)
        turn = replace(
            self._turns[index],
            message=message,
            state=state,
            reason=event.reason if event else None,
            stats=event.stats if event else None,
        )
        if turn.is_empty:
            del self._turns[index]
        else:
            self._turns[index] = turn
        return turn


def plain_text(turns: Sequence[Turn], names: Mapping[str, str]) -> str:
    """A chat as Markdown, with the names of the roles."""
    return "\n\n".join(f"**{names[turn.message.role]}**\n\n{turn.message.text}" for turn in turns)
