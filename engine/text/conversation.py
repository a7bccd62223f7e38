"""Adapts messages to the roles and the order that a chat template accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from engine.api.chat import Message, PromptNotice, PromptNoticeCode, Role
from engine.api.sentences import say

JOINT = "\n\n"
"""What stands between messages that share a turn."""


class Field(Enum):
    """The part of a message that a text comes from."""

    TEXT = "t"
    REASONING = "r"


Write = Callable[[int, Field, str], str]
"""Gives the text to put in place of a field of the message with this index."""


@dataclass(frozen=True)
class Entry:
    """One message as passed to the template: the indices of the chat's messages in it, none for a filler."""

    role: Role
    indices: tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """How the messages are adapted to a template.

    `system_moved`: system messages are prepended to the next user message. `alternating`: consecutive messages
    of one role are merged, and the first message is a user's. `typed`: contents are lists of typed parts.
    """

    system_moved: bool = False
    alternating: bool = False
    typed: bool = False

    def notices(self) -> tuple[PromptNotice, ...]:
        """The adaptations that the person should know about."""
        notices: list[PromptNotice] = []
        if self.system_moved:
            notices.append(
                PromptNotice(
                    PromptNoticeCode.SYSTEM_MOVED,
                    say("This model knows no system prompt: its text stands at the start of the first message."),
                )
            )
        if self.alternating:
            notices.append(
                PromptNotice(
                    PromptNoticeCode.TURNS_MERGED,
                    say("This model wants question and answer in turn: messages of one side in a row are joined."),
                )
            )
        return tuple(notices)


SHAPES = tuple(
    Shape(system_moved, alternating, typed)
    for typed in (False, True)
    for system_moved, alternating in ((False, False), (True, False), (False, True), (True, True))
)
"""All shapes, from the least to the most adapted."""


def entries_of(messages: Sequence[Message], shape: Shape) -> list[Entry]:
    """The messages grouped as passed to the template; every message is in exactly one entry."""
    entries = [Entry(message.role, (index,)) for index, message in enumerate(messages)]
    if shape.system_moved:
        entries = _with_system_moved(entries)
    if shape.alternating:
        entries = _alternating(entries)
    return entries


def write_entries(
    entries: Sequence[Entry], messages: Sequence[Message], shape: Shape, write: Write
) -> list[Mapping[str, Any]]:
    """The template's input: dictionaries with role, content and, if present, reasoning_content."""
    written: list[Mapping[str, Any]] = []
    for entry in entries:
        texts = [write(index, Field.TEXT, messages[index].text) for index in entry.indices]
        content = JOINT.join(texts)
        fields: dict[str, Any] = {
            "role": entry.role,
            "content": [{"type": "text", "text": content}] if shape.typed else content,
        }
        reasoned = [index for index in entry.indices if messages[index].reasoning]
        if reasoned:
            fields["reasoning_content"] = JOINT.join(
                write(index, Field.REASONING, messages[index].reasoning) for index in reasoned
            )
        written.append(fields)
    return written


def _with_system_moved(entries: Sequence[Entry]) -> list[Entry]:
    moved: list[Entry] = []
    waiting: tuple[int, ...] = ()
    for entry in entries:
        if entry.role == "system":
            waiting += entry.indices
        elif entry.role == "user" and waiting:
            moved.append(replace(entry, indices=waiting + entry.indices))
            waiting = ()
        else:
            moved.append(entry)
    if waiting:
        moved.append(Entry("user", waiting))
    return moved


def _alternating(entries: Sequence[Entry]) -> list[Entry]:
    joined: list[Entry] = []
    for entry in entries:
        if joined and joined[-1].role == entry.role:
            joined[-1] = replace(entry, indices=joined[-1].indices + entry.indices)
        else:
            joined.append(entry)
    n_system = sum(entry.role == "system" for entry in joined[:1])
    if len(joined) == n_system or joined[n_system].role == "assistant":
        joined.insert(n_system, Entry("user", ()))
    return joined
