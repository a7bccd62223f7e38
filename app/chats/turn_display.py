"""Turns of a conversation as the transcript shows them, in the words of the language in force."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PySide6.QtCore import QObject

from app.chats.conversation import Conversation
from app.look import language
from app.models.file_names import model_name, name_of_file
from app.store.records import Turn, TurnState
from app.transcript.turns import ShownState, ShownTurn
from engine.api.messages import FinishReason, ModelFacts
from engine.api.settings import SamplingSettings

_QUANTIZATION = re.compile(r"[-._](?:I?Q\d\w*|BF16|F16|F32|MXFP4\w*)$", re.IGNORECASE)


class TurnDisplay(QObject):
    """Makes transcript turns; what it says is in the language in force at the time."""

    def shown(
        self, conversation: Conversation, turn: Turn, sampling: SamplingSettings, facts: ModelFacts | None
    ) -> ShownTurn:
        """What the transcript shows of a turn."""
        text = turn.own_text
        if turn.attachments:
            names = "\n".join(f"📎 {_escaped(one.name)}" for one in turn.attachments)
            text = f"{names}\n\n{text}" if text.strip() else names
        return ShownTurn(
            str(turn.id),
            turn.message.role,
            text,
            turn.message.reasoning,
            state_of(turn),
            author=author_of(turn, facts) if turn.message.role == "assistant" else "",
            time=_time_of(turn),
            facts=self.facts_of(turn, sampling),
            note=self.note_of(turn),
            variant=version_of(conversation, turn.id),
        )

    def words(self, shown: Iterable[Turn], sampling: SamplingSettings) -> dict[str, tuple[str, tuple[str, ...], str]]:
        """What is said about turns in the language in force: time, facts, note."""
        return {str(turn.id): (_time_of(turn), self.facts_of(turn, sampling), self.note_of(turn)) for turn in shown}

    def facts_of(self, turn: Turn, sampling: SamplingSettings) -> tuple[str, ...]:
        """What the answer cost."""
        stats = turn.stats
        if stats is None:
            return ()
        facts = [self.tr("%Ln token(s)", "", stats.n_generated)]
        if stats.decode_tps > 0:
            facts.append(self.tr("{0} tok/s").format(language.number(stats.decode_tps, 1)))
        if stats.n_reused > 0:
            facts.append(self.tr("{0} reused").format(language.number(stats.n_reused)))
        if sampling.seed is None and sampling.temperature > 0:
            facts.append(self.tr("seed {0}").format(stats.seed))
        return tuple(facts)

    def note_of(self, turn: Turn) -> str:
        """A sentence about an answer that did not end by itself."""
        if turn.state is TurnState.FAILED:
            return self.tr("The answer broke off here. Its text is safe; it can be continued or answered again.")
        return {
            FinishReason.CANCELLED: self.tr("Stopped"),
            FinishReason.MAX_TOKENS: self.tr("The longest answer allowed was reached."),
            FinishReason.CACHE_FULL: self.tr("The cache is full."),
        }.get(turn.reason or FinishReason.END_OF_TURN, "")


def state_of(turn: Turn) -> ShownState:
    """How far the transcript shows a turn to be."""
    return ShownState(turn.state.value)


def version_of(conversation: Conversation, turn_id: int) -> tuple[int, int] | None:
    """Which of several versions a turn is."""
    number, count = conversation.version_of(turn_id)
    return (number, count) if count > 1 else None


def author_of(turn: Turn, facts: ModelFacts | None) -> str:
    """The name of the model that answered."""
    if facts is not None and facts.path == turn.model:
        return model_name(facts)
    return _QUANTIZATION.sub("", name_of_file(turn.model))


def _time_of(turn: Turn) -> str:
    return language.time_text(turn.moment.astimezone())


def _escaped(name: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", name)
