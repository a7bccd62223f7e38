"""Chat messages and the tokenized prompts built from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from engine.api.sentences import Said, Sentence

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    """One message of a chat.

    `token_ids` are the ids an assistant message was sampled as: reasoning, its tags and the text, without the
    token that ended the turn. `text` is the visible answer as it was streamed, not stripped; `reasoning` is
    the text between the reasoning tags. `has_foreign_ids`: the ids were read from a file, so they are untrusted;
    they are used in place of the text only if none of them is a control token.
    """

    role: Role
    text: str
    reasoning: str = ""
    token_ids: tuple[int, ...] | None = None
    has_foreign_ids: bool = False


class PromptNoticeCode(StrEnum):
    """How a prompt deviates from the model's own chat template."""

    TEMPLATE_MISSING = "template_missing"
    TEMPLATE_UNUSABLE = "template_unusable"
    SYSTEM_MOVED = "system_moved"
    TURNS_MERGED = "turns_merged"
    TEXT_ESCAPED = "text_escaped"


@dataclass(frozen=True)
class PromptNotice(Said):
    """A deviation that the person should know about: a code for programs, a sentence for the person."""

    code: PromptNoticeCode
    sentence: Sentence


@dataclass(frozen=True)
class PromptTurn:
    """One message with its template tokens, the half-open range `[start, end)` of a prompt's tokens.

    `message_index` counts in the messages the prompt was built from; of merged messages it is the first. The
    generation prompt is a last turn of the assistant with None, and is empty where the template has none.
    """

    start: int
    end: int
    role: Role
    message_index: int | None


@dataclass(frozen=True)
class Prompt:
    """A chat as tokens: its turns cover all of them in order.

    `reasoning_opened`: the prompt ends inside a reasoning block, so only the block's end will be generated.
    """

    tokens: tuple[int, ...]
    turns: tuple[PromptTurn, ...]
    notices: tuple[PromptNotice, ...] = ()
    reasoning_opened: bool = False
