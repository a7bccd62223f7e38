"""Kvasir's own file of chats: JSON that loses nothing, described in docs/chats-format.md."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar, cast

from app.store.history import with_sound_ids
from app.store.records import Attachment, Chat, PromptPreset, Turn, TurnState, WholeChat, composed, now
from app.store.rows import ROLES, reason_of, settings_mapping, settings_of, state_of, stats_of
from app.store.schema import SERIAL_BITS
from engine import __version__
from engine.api.declarations import is_finite_number
from engine.api.messages import Message
from engine.api.valid import valid_text

FORMAT = "kvasir-chats"
VERSION = 1
MAX_TURNS = 2**SERIAL_BITS - 2
"""As many as the database has places for."""
_Value = TypeVar("_Value")


class FormatError(ValueError):
    """A file is not what it should be; the text says where, in English, for the log."""


def pieces(chats: Iterable[WholeChat], presets: Iterable[PromptPreset] = ()) -> Iterator[str]:
    """The text of a file, chat by chat, so that a large collection need not be in memory at once."""
    head = {"format": FORMAT, "version": VERSION, "kvasir": __version__, "exported": _moment_text(datetime.now(UTC))}
    yield json.dumps(head, ensure_ascii=False)[:-1] + ',\n"presets": '
    yield _text([dataclasses.asdict(preset) for preset in presets]) + ',\n"chats": ['
    separator = "\n"
    for chat in chats:
        yield separator + _text(chat_mapping(chat))
        separator = ",\n"
    yield "\n]}\n"


def chat_mapping(whole: WholeChat) -> dict[str, Any]:
    """One chat, JSON-ready."""
    chat = whole.chat
    return {
        "id": chat.id,
        "title": chat.title,
        "is_named": chat.is_named,
        "is_pinned": chat.is_pinned,
        "created": _moment_text(chat.created),
        "changed": _moment_text(chat.changed),
        "settings": settings_mapping(chat.settings),
        "draft": chat.draft,
        "turns": [_turn_mapping(turn) for turn in whole.turns],
    }


def _turn_mapping(turn: Turn) -> dict[str, Any]:
    message = turn.message
    # An answer that took no time at all has endless tokens per second.
    stats = stats_of(dataclasses.asdict(turn.stats)) if turn.stats is not None else None
    mapping: dict[str, Any] = {
        "id": turn.id,
        "parent": turn.parent,
        "is_chosen": turn.is_chosen,
        "role": message.role,
        "text": turn.own_text,
        "reasoning": message.reasoning,
        "state": turn.state.value,
        "created": _moment_text(turn.moment),
        "model": turn.model,
        "token_ids": None if message.token_ids is None else list(message.token_ids),
        "reason": turn.reason.value if turn.reason is not None else None,
        "stats": dataclasses.asdict(stats) if stats is not None else None,
    }
    if turn.attachments:
        mapping["attachments"] = [dataclasses.asdict(one) for one in turn.attachments]
    return mapping


def is_ours(plain: object) -> bool:
    """Whether a JSON value is a file of this format, of any version."""
    return isinstance(plain, dict) and plain.get("format") == FORMAT


def chats_of(plain: dict[str, Any]) -> tuple[list[WholeChat], list[PromptPreset], list[str]]:
    """The chats and presets in a file, and what had to be left out of them, for the log; raises FormatError where
    nothing can be read."""
    version = plain.get("version")
    if version != VERSION:
        raise FormatError(f"version {_shown(version)}")
    reader = _Reader()
    found = [reader.chat(one, n) for n, one in enumerate(reader.objects(plain, "chats"), 1)]
    chats = [chat for chat in found if chat is not None]
    presets = [
        PromptPreset(reader.text(one, "name"), reader.text(one, "text")) for one in reader.objects(plain, "presets")
    ]
    if reader.left_out and not chats and not presets:
        raise FormatError("; ".join(reader.left_out)[:1000])
    return chats, presets, reader.left_out


class _Reader:
    """Takes what makes sense and notes in ``left_out`` what does not. What is missing takes its default."""

    def __init__(self) -> None:
        self.left_out: list[str] = []

    def chat(self, plain: dict[str, Any], number: int) -> WholeChat | None:
        """A chat; None for something without a word in it."""
        turns: list[Turn] = []
        for one in self.objects(plain, "turns"):
            if (turn := self._turn(one, turns[-1].id if turns else None)) is not None:
                turns.append(turn)
        if len(turns) > MAX_TURNS:
            self._refuse("turns", len(turns), None)
        title, draft, chat_id = self.text(plain, "title"), self.text(plain, "draft"), self.text(plain, "id")
        if not (chat_id or turns or title or draft):
            return None
        settings = plain.get("settings", {})
        if not isinstance(settings, dict):
            settings = self._refuse("settings", settings, {})
        chat = Chat(
            id=chat_id or f"imported-{number}",
            title=title,
            is_named=self._flag(plain, "is_named", default=False),
            is_pinned=self._flag(plain, "is_pinned", default=False),
            created=self._moment(plain, "created"),
            changed=self._moment(plain, "changed"),
            settings=settings_of(settings),
            draft=draft,
        )
        return WholeChat(chat, with_sound_ids(turns[:MAX_TURNS]))

    def objects(self, plain: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """The objects of a list."""
        values = plain.get(name, [])
        if not isinstance(values, list):
            values = self._refuse(name, values, [])
        return [one for one in values if isinstance(one, dict) or self._refuse(name, one, False)]

    def text(self, plain: dict[str, Any], name: str) -> str:
        """A text, or an empty one."""
        value = plain.get(name, "")
        return value if isinstance(value, str) else self._refuse(name, value, "")

    def _turn(self, plain: dict[str, Any], before: int | None) -> Turn | None:
        role, text = plain.get("role"), plain.get("text", "")
        if not isinstance(role, str) or role not in ROLES or not isinstance(text, str):
            return self._refuse("turns", role if isinstance(text, str) else text, None)
        attachments = tuple(
            Attachment(self.text(one, "name"), self.text(one, "text")) for one in self.objects(plain, "attachments")
        )
        stats = plain.get("stats")
        ids = self._token_ids(plain.get("token_ids"))
        return Turn(
            id=self._whole_number(plain.get("id"), "id", -1),
            message=Message(
                cast('Literal["user", "assistant", "system"]', role),
                composed(attachments, text) if attachments else text,
                self.text(plain, "reasoning"),
                ids,
                has_foreign_ids=ids is not None,
            ),
            state=state_of(plain.get("state", TurnState.DONE.value)),
            reason=reason_of(plain.get("reason")),
            stats=stats_of(stats) if isinstance(stats, dict) else None,
            moment=self._moment(plain, "created"),
            parent=None if plain.get("parent") is None else self._whole_number(plain["parent"], "parent", before),
            is_chosen=self._flag(plain, "is_chosen", default=True),
            model=self.text(plain, "model"),
            attachments=attachments,
            typed=text if attachments else "",
        )

    def _refuse(self, name: str, value: object, instead: _Value) -> _Value:
        self.left_out.append(f"{name}: {_shown(value)}")
        return instead

    def _moment(self, plain: dict[str, Any], name: str) -> datetime:
        text = self.text(plain, name)
        try:
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return self._refuse(name, text, now()) if text else now()

    def _flag(self, plain: dict[str, Any], name: str, *, default: bool) -> bool:
        value = plain.get(name, default)
        return value if isinstance(value, bool) else self._refuse(name, value, default)

    def _whole_number(self, value: object, name: str, default: _Value) -> int | _Value:
        return value if isinstance(value, int) and not isinstance(value, bool) else self._refuse(name, value, default)

    def _token_ids(self, value: object) -> tuple[int, ...] | None:
        if value is None:
            return None
        if isinstance(value, list) and all(type(one) is int and 0 <= one < 2**32 for one in value):
            return tuple(value)
        return self._refuse("token_ids", value, None)


def _shown(value: object) -> str:
    return repr(value[:80] if isinstance(value, str) else value) if not isinstance(value, list | dict) else "…"


def _text(value: Any) -> str:
    return valid_text(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def seconds(value: object) -> float | None:
    """A number of seconds or milliseconds since 1970, as other programs write them; None for anything else."""
    if not is_finite_number(value) or value <= 0:
        return None
    return float(value) / 1000 if value > 1e11 else float(value)
