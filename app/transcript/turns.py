"""A turn of a chat as the transcript shows it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ShownState(Enum):
    """How far a turn has come."""

    STREAMING = "streaming"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class Visibility(Enum):
    """How much of a turn still has cells, so that the model sees it."""

    ALL = "all"
    PARTLY = "partly"
    NONE = "none"


class Action(Enum):
    """What a person can ask of a turn with the buttons under it."""

    COPY = "copy"
    EDIT = "edit"
    REGENERATE = "regenerate"
    CONTINUE = "continue"
    BRANCH = "branch"
    DELETE = "delete"
    PREVIOUS = "previous"
    NEXT = "next"


@dataclass
class ShownTurn:
    """One message.

    `role` is "user", "assistant" or "system". `author` and `time` are shown in its header, `facts` under it, as they
    are. `note` is a sentence about a turn that failed or was stopped. `variant` is (number, count) where a turn has
    alternatives, from 1.
    """

    id: str
    role: str
    text: str = ""
    reasoning: str = ""
    state: ShownState = ShownState.DONE
    author: str = ""
    time: str = ""
    facts: tuple[str, ...] = ()
    visibility: Visibility = Visibility.ALL
    note: str = ""
    variant: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        self.text = clean(self.text)
        self.reasoning = clean(self.reasoning)


def clean(text: str) -> str:
    """Text with line ends as "\\n" and without NULs, whose offsets the Markdown reader keeps."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def default_actions(turn: ShownTurn, is_last: bool) -> tuple[Action, ...]:
    """Copy for all; edit for what the user wrote; regenerate and, at the end of a chat, continue for answers."""
    if turn.role == "user":
        return (Action.COPY, Action.EDIT)
    if turn.role == "system":
        return (Action.COPY,)
    return (Action.COPY, Action.REGENERATE, Action.CONTINUE) if is_last else (Action.COPY, Action.REGENERATE)
