"""What is kept of chats: plain values, free of Qt and of SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple

from engine.api.messages import FinishReason, GenerationStats, Message
from engine.api.settings import PolicySettings, SamplingSettings

MAX_TITLE = 200
"""Characters of a title that a person gives, and that a list shows."""
MAX_TEXT = 20_000_000
"""Characters of one message in another program's file; more is no chat."""
MAX_TURN_ID = 2**62 + 2**61
"""Ids that come in are below this."""
MAX_LATER_ID = MAX_TURN_ID + 2**60
"""Those of the turns that are said after them are below this, and the database holds them."""


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


class TurnState(Enum):
    """How far a turn has come."""

    STREAMING = "streaming"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class Attachment:
    """A file whose text goes into a turn."""

    name: str
    text: str


@dataclass(frozen=True)
class ChatSettings:
    """What holds for one chat alone; ``policy`` None: what its model is set to."""

    system_prompt: str = ""
    sampling: SamplingSettings = SamplingSettings()
    policy: PolicySettings | None = None


@dataclass(frozen=True)
class Turn:
    """One message of a chat and what became of it.

    ``parent`` is the id of the turn before; turns with the same parent are versions of each other, of which one
    ``is_chosen``. ``message`` is what the model gets: the attachments, then what was ``typed``. ``model`` is the file
    whose token ids the message holds. ``stats`` only for a finished answer.
    """

    id: int
    message: Message
    state: TurnState = TurnState.DONE
    reason: FinishReason | None = None
    stats: GenerationStats | None = None
    moment: datetime = field(default_factory=now)
    parent: int | None = None
    is_chosen: bool = True
    model: str = ""
    attachments: tuple[Attachment, ...] = ()
    typed: str = ""

    @property
    def is_empty(self) -> bool:
        """Nothing was said: no text, no reasoning, no token."""
        return not (self.message.text or self.message.reasoning or self.message.token_ids)

    @property
    def own_text(self) -> str:
        """What was typed or answered, without the attachments."""
        return self.typed if self.attachments else self.message.text


@dataclass(frozen=True)
class Chat:
    """A chat without its turns. ``is_named``: a person chose the title. ``draft`` is typed, and not sent."""

    id: str
    title: str = ""
    is_named: bool = False
    is_pinned: bool = False
    created: datetime = field(default_factory=now)
    changed: datetime = field(default_factory=now)
    settings: ChatSettings = ChatSettings()
    draft: str = ""


class ChatLine(NamedTuple):
    """What a list shows of a chat; thousands are made for one look at it."""

    id: str
    title: str
    is_pinned: bool
    changed: datetime


@dataclass(frozen=True)
class WholeChat:
    """A chat with all turns of all versions, in the order in which they were begun."""

    chat: Chat
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class PromptPreset:
    """A system prompt with a name."""

    name: str
    text: str


@dataclass(frozen=True)
class Changes:
    """What happened to the turns of a chat since it was last saved."""

    saved: tuple[Turn, ...] = ()
    deleted: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.saved or self.deleted)


@dataclass(frozen=True)
class Hit:
    """A chat found by a search; ``turn_id`` None is a hit in the title. ``snippet`` surrounds the first hit."""

    chat: ChatLine
    turn_id: int | None = None
    snippet: str = ""


def composed(attachments: Sequence[Attachment], typed: str) -> str:
    """The text of a turn with its attachments, each between two lines that say what it is."""
    parts = []
    for attachment in attachments:
        fence = "```"
        while fence in attachment.text:
            fence += "`"
        parts.append(f"{attachment.name}:\n{fence}\n{attachment.text.rstrip()}\n{fence}")
    return "\n\n".join([*parts, typed] if typed.strip() else parts)
