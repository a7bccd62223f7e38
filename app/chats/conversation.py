"""The open chat: the turns of all its versions, the answer under way, and what may be done next."""

from __future__ import annotations

import secrets
import time
from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.store.history import healed
from app.store.records import Attachment, Changes, Turn, TurnState, composed
from engine.api.messages import Finished, FinishReason, Message, TextGenerated, TextKind


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
        reasoning = self.before.reasoning + "".join(self.reasoning)
        # Some of the ids are those it began with.
        is_foreign = self.before.has_foreign_ids and token_ids is not None
        return Message("assistant", text, reasoning, token_ids, is_foreign)


class Conversation:
    """Turns form a tree, of which one version is open; at most one answer is under way. Events of any other request
    change nothing. ``model`` is the file that answers: only its own token ids mean anything to it."""

    def __init__(self, chat_id: str, turns: Iterable[Turn] = (), model: str = "") -> None:
        self.chat_id = chat_id
        self.model = model
        self._dirty: set[int] = set()
        self._deleted: set[int] = set()
        self._answer: _Answer | None = None
        self._all = {turn.id: turn for turn in healed(turns)}
        self._versions: dict[int | None, list[int]] = {}
        for turn in self._all.values():
            self._versions.setdefault(turn.parent, []).append(turn.id)
        self._chosen = {turn.parent: turn.id for turn in self._all.values() if turn.is_chosen}
        self._path: list[int] = []
        self._extend()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The open version; the text of an answer under way is in it only once it has ended."""
        return tuple(self._all[turn_id] for turn_id in self._path)

    def shown_turns(self) -> tuple[Turn, ...]:
        """The open version, with what has come of an answer under way."""
        return tuple(self._as_kept(turn) for turn in self.turns)

    @property
    def request_id(self) -> int | None:
        """The request under way."""
        return self._answer.request_id if self._answer else None

    @property
    def last(self) -> Turn | None:
        """The newest turn."""
        return self._all[self._path[-1]] if self._path else None

    @property
    def last_of_user(self) -> Turn | None:
        """The newest turn the person wrote."""
        return next((turn for turn in reversed(self.turns) if turn.message.role == "user"), None)

    def turn(self, turn_id: int) -> Turn | None:
        """The turn with this id, of any version."""
        return self._all.get(turn_id)

    def version_of(self, turn_id: int) -> tuple[int, int]:
        """Which of how many versions a turn is, from 1."""
        versions = self._versions[self._all[turn_id].parent]
        return versions.index(turn_id) + 1, len(versions)

    def can_answer(self) -> bool:
        """Whether a request may begin."""
        return self._answer is None and bool(self._path)

    def can_continue(self) -> bool:
        """Whether the last answer may go on where it ended."""
        return self._answer is None and self.last is not None and self.last.message.role == "assistant"

    def messages(self, system_prompt: str) -> tuple[Message, ...]:
        """The open version as the engine wants it. A blank system prompt is none."""
        system = (Message("system", system_prompt),) if system_prompt.strip() else ()
        return (*system, *map(self._readable, self.turns))

    def turn_ids(self, system_prompt: str) -> tuple[int | None, ...]:
        """Whose message each of ``messages(system_prompt)`` is; None is the system prompt."""
        return (*((None,) if system_prompt.strip() else ()), *self._path)

    # What is said

    def add_user(self, text: str, attachments: Sequence[Attachment] = ()) -> Turn:
        """Append what the person wrote."""
        message = Message("user", composed(attachments, text) if attachments else text)
        return self._append(message, attachments=tuple(attachments), typed=text if attachments else "")

    def begin_answer(self, request_id: int) -> Turn:
        """Append the answer that this request will write."""
        turn = self._append(Message("assistant", ""), state=TurnState.STREAMING, model=self.model)
        self._answer = _Answer(request_id, turn.id, turn.message)
        return turn

    def begin_continuation(self, request_id: int) -> Turn:
        """The last answer goes on under this request."""
        turn = self._all[self._path[-1]]
        self._answer = _Answer(request_id, turn.id, self._readable(turn))
        return self._put(replace(turn, state=TurnState.STREAMING, message=self._answer.before, model=self.model))

    def receive(self, event: TextGenerated) -> int | None:
        """Take streamed text; the id of the turn it belongs to, or None if it is not the request under way."""
        answer = self._answer
        if answer is None or answer.request_id != event.request_id:
            return None
        (answer.reasoning if event.kind is TextKind.REASONING else answer.text).append(event.text)
        self._dirty.add(answer.turn_id)
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

    # Versions

    def branch_at(self, turn_id: int) -> None:
        """The next turn becomes another version of this one; the turn and what follows it are kept."""
        if turn_id in self._path:
            del self._path[self._path.index(turn_id) :]

    def show_version(self, turn_id: int, step: int) -> int | None:
        """Open the version so many steps after that of a turn; the id of the turn now in its place, None if there is
        no such version."""
        turn = self._all[turn_id]
        versions = self._versions[turn.parent]
        place = versions.index(turn_id) + step
        if not 0 <= place < len(versions):
            return None
        self._choose(turn.parent, versions[place])
        return versions[place]

    def show_turn(self, turn_id: int) -> bool:
        """Open the version that a turn is in; whether it is still there."""
        if turn_id not in self._all:
            return False
        at: int | None = turn_id
        while at is not None:
            turn = self._all[at]
            self._choose(turn.parent, at)
            at = turn.parent
        return True

    def delete(self, turn_id: int) -> tuple[Turn, ...]:
        """Take a turn and all that follow it, in any version, out of the chat; another version takes its place."""
        if turn_id not in self._all:
            return ()
        parent = self._all[turn_id].parent
        gone = {turn_id}
        for turn in sorted(self._all.values(), key=lambda turn: turn.id):
            if turn.parent in gone:
                gone.add(turn.id)
        removed = tuple(self._as_kept(self._all[one]) for one in sorted(gone))
        for turn in removed:
            del self._all[turn.id]
            self._versions[turn.parent].remove(turn.id)
            self._chosen.pop(turn.id, None)
        self._deleted |= gone
        self._dirty -= gone
        versions = self._versions[parent]
        if versions:
            self._choose(parent, versions[-1] if self._chosen.get(parent) in gone else self._chosen[parent])
        else:
            self._chosen.pop(parent, None)
            self._extend()
        return removed

    def restore(self, turns: Sequence[Turn]) -> None:
        """Undo a deletion."""
        for turn in turns:
            self._put(turn)
            self._deleted.discard(turn.id)
            if turn.is_chosen or turn.parent not in self._chosen:
                self._choose(turn.parent, turn.id)

    # For whoever keeps it

    def take_changes(self) -> Changes:
        """What changed since this was last asked; an answer under way as far as it has come."""
        saved = tuple(self._as_kept(self._all[turn_id]) for turn_id in sorted(self._dirty))
        deleted = tuple(sorted(self._deleted))
        self._dirty, self._deleted = set(), set()
        return Changes(saved, deleted)

    def touch_all(self) -> None:
        """Count every turn as one that is not kept: the file it was in is a new one."""
        self._dirty |= set(self._all)

    def kept_turns(self) -> tuple[Turn, ...]:
        """All turns of all versions."""
        return tuple(self._as_kept(self._all[turn_id]) for turn_id in sorted(self._all))

    # Inside

    def _append(self, message: Message, **fields: object) -> Turn:
        # Ids grow with time, so that none is used again whose turn was deleted and may come back; by chance where what
        # is there is from a clock that was ahead.
        turn_id = time.time_ns() // 1000
        if turn_id <= (newest := max(self._all, default=0)):
            turn_id = newest + 1 + secrets.randbelow(2**20)
        parent = self._path[-1] if self._path else None
        turn = self._put(Turn(turn_id, message, parent=parent, **fields))  # type: ignore[arg-type]
        self._choose(parent, turn.id)
        return turn

    def _put(self, turn: Turn) -> Turn:
        if turn.id not in self._all:
            insort(self._versions.setdefault(turn.parent, []), turn.id)
        self._all[turn.id] = turn
        self._dirty.add(turn.id)
        return turn

    def _choose(self, parent: int | None, turn_id: int) -> None:
        if self._chosen.get(parent) != turn_id:
            self._chosen[parent] = turn_id
            self._dirty.update(self._versions[parent])
        cut = 0 if parent is None else self._path.index(parent) + 1 if parent in self._path else len(self._path)
        del self._path[cut:]
        self._extend()

    def _extend(self) -> None:
        """Follow the chosen turns to the end."""
        at = self._path[-1] if self._path else None
        while at is not None and at not in self._all:
            self._path.pop()
            at = self._path[-1] if self._path else None
        while (found := self._chosen.get(at)) is not None:
            self._path.append(found)
            at = found

    def _readable(self, turn: Turn) -> Message:
        message = turn.message
        is_own = message.token_ids is None or turn.model == self.model
        return message if is_own else replace(message, token_ids=None)

    def _as_kept(self, turn: Turn) -> Turn:
        answer = self._answer
        if answer is not None and answer.turn_id == turn.id:
            turn = replace(turn, message=answer.message())
        return replace(turn, is_chosen=self._chosen.get(turn.parent) == turn.id)

    def _end(self, answer: _Answer, message: Message, state: TurnState, event: Finished | None) -> Turn:
        self._answer = None
        turn = replace(
            self._all[answer.turn_id],
            message=message,
            state=state,
            reason=event.reason if event else None,
            stats=event.stats if event else None,
        )
        if turn.is_empty:
            self.delete(turn.id)
        else:
            self._put(turn)
        return turn


def plain_text(turns: Sequence[Turn], names: Mapping[str, str]) -> str:
    """A chat as Markdown, with the names of the roles."""
    return "\n\n".join(f"**{names[turn.message.role]}**\n\n{turn.message.text}" for turn in turns)
