"""Chats for tests."""

from __future__ import annotations

from app.store.records import Attachment, Chat, ChatSettings, Turn, TurnState, WholeChat
from engine.api.messages import FinishReason, Message
from engine.api.settings import Policy, PolicySettings, SamplingSettings
from tests.app.fake_engine import stats


def turn(turn_id: int, text: str, parent: int | None = None, role: str = "user", **fields) -> Turn:
    return Turn(turn_id, Message(role, text), parent=parent, **fields)


def small(chat_id: str = "a", title: str = "A title", *texts: str) -> WholeChat:
    """Question and answer in turns."""
    turns = tuple(
        turn(i + 1, text, i or None, "assistant" if i % 2 else "user") for i, text in enumerate(texts or ("Hi", "Yes"))
    )
    return WholeChat(Chat(chat_id, title), turns)


def full() -> WholeChat:
    """Everything that a chat can have, with two versions of the answer."""
    sampling = SamplingSettings(temperature=0.25, seed=5)
    settings = ChatSettings("Be brief.\n", sampling, PolicySettings(policy=Policy.SINKS, n_window=100))
    files = (Attachment("notes.md", "# Notes\n```\ncode\n```\n"), Attachment("b.txt", "plain"))
    from app.store.records import composed

    first = Turn(10, Message("user", composed(files, "Read this")), attachments=files, typed="Read this")
    old = Turn(
        11,
        Message("assistant", "One", "Hm.", (1, 70_000, 5)),
        TurnState.STOPPED,
        FinishReason.CANCELLED,
        stats(),
        parent=10,
        is_chosen=False,
        model="/models/a.gguf",
    )
    new = Turn(12, Message("assistant", "", "", ()), parent=10, model="/models/b.gguf")
    return WholeChat(
        Chat("full", "缓存 and cells", is_named=True, is_pinned=True, settings=settings), (first, old, new)
    )
