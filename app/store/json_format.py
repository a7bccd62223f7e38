"""Kvasir's own file of chats: JSON that loses nothing, described in docs/chats-format.md."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Literal, cast

from app.store.records import MAX_TEXT, MAX_TITLE, Attachment, Chat, Preset, Turn, WholeChat, composed
from app.store.rows import ROLES, clean, reason_of, settings_mapping, settings_of, state_of, stats_of
from app.transcript.turns import TurnState
from engine import __version__
from engine.api.messages import Message

FORMAT = "kvasir-chats"
VERSION = 1
MAX_ID = 2**62
MAX_TURNS = 1_000_000


class FormatError(ValueError):
    """A file is not what it should be; the text says where, in English, for the log."""


def pieces(chats: Iterable[WholeChat], presets: Iterable[Preset] = ()) -> Iterator[str]:
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
        "stats": dataclasses.asdict(turn.stats) if turn.stats is not None else None,
    }
    if turn.attachments:
        mapping["attachments"] = [dataclasses.asdict(one) for one in turn.attachments]
    return mapping


def is_ours(plain: object) -> bool:
    """Whether a JSON value is a file of this format, of any version."""
    return isinstance(plain, dict) and plain.get("format") == FORMAT


def chats_of(plain: dict[str, Any]) -> tuple[list[WholeChat], list[Preset]]:
    """What is in a file; raises FormatError."""
    version = plain.get("version")
    if version != VERSION:
        raise FormatError(f"version {version!r:.40}")
    chats = [_chat_of(_object(one, "chats")) for one in _list(plain.get("chats"), "chats")]
    presets = [
        Preset(_string(one, "name", MAX_TITLE), _string(one, "text", MAX_TEXT))
        for one in map(_as_preset, _list(plain.get("presets", []), "presets"))
    ]
    return chats, presets


def _as_preset(value: object) -> dict[str, Any]:
    return _object(value, "presets")


def _chat_of(plain: dict[str, Any]) -> WholeChat:
    settings = plain.get("settings", {})
    chat = Chat(
        id=_string(plain, "id", 200),
        title=_string(plain, "title", MAX_TEXT)[:MAX_TITLE],
        is_named=_flag(plain, "is_named", default=False),
        is_pinned=_flag(plain, "is_pinned", default=False),
        created=_moment(plain, "created"),
        changed=_moment(plain, "changed"),
        settings=settings_of(_object(settings, "settings")),
        draft=_string(plain, "draft", MAX_TEXT),
    )
    turns = tuple(_turn_of(_object(one, "turns")) for one in _list(plain.get("turns", []), "turns"))
    ids = {turn.id for turn in turns}
    if len(turns) > MAX_TURNS or len(ids) < len(turns):
        raise FormatError("turns: too many, or two with the same id")
    return WholeChat(chat, turns)


def _turn_of(plain: dict[str, Any]) -> Turn:
    role = plain.get("role")
    if role not in ROLES:
        raise FormatError(f"role: {role!r:.80}")
    text = _string(plain, "text", MAX_TEXT)
    attachments = tuple(
        Attachment(_string(one, "name", MAX_TITLE), _string(one, "text", MAX_TEXT))
        for one in (_object(value, "attachments") for value in _list(plain.get("attachments", []), "attachments"))
    )
    stats = plain.get("stats")
    ids = _token_ids(plain.get("token_ids"))
    known_role = cast('Literal["system", "user", "assistant"]', role)
    return Turn(
        id=_whole_number(plain.get("id"), "id"),
        message=Message(
            known_role,
            composed(attachments, text) if attachments else text,
            _string(plain, "reasoning", MAX_TEXT),
            ids,
            has_foreign_ids=ids is not None,
        ),
        state=state_of(plain.get("state", TurnState.DONE.value)),
        reason=reason_of(plain.get("reason")),
        stats=stats_of(stats) if isinstance(stats, dict) else None,
        moment=_moment(plain, "created"),
        parent=None if plain.get("parent") is None else _whole_number(plain["parent"], "parent"),
        is_chosen=_flag(plain, "is_chosen", default=True),
        model=_string(plain, "model", 10_000),
        attachments=attachments,
        typed=text if attachments else "",
    )


def _text(value: Any) -> str:
    return clean(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _moment(plain: dict[str, Any], name: str) -> datetime:
    try:
        moment = datetime.fromisoformat(_string(plain, name, 100))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise FormatError(f"{name}: {plain.get(name)!r:.80}") from None


def _object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{name}: {value!r:.80}")
    return value


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{name}: {value!r:.80}")
    return value


def _string(plain: dict[str, Any], name: str, limit: int) -> str:
    value = plain.get(name, "")
    if not isinstance(value, str) or len(value) > limit:
        raise FormatError(f"{name}: {value!r:.80}")
    return value


def _flag(plain: dict[str, Any], name: str, *, default: bool) -> bool:
    value = plain.get(name, default)
    if not isinstance(value, bool):
        raise FormatError(f"{name}: {value!r:.80}")
    return value


def _whole_number(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MAX_ID:
        raise FormatError(f"{name}: {value!r:.80}")
    return value


def _token_ids(value: object) -> tuple[int, ...] | None:
    if value is None:
        return None
    ids = _list(value, "token_ids")
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 2**32 for one in ids):
        raise FormatError("token_ids")
    return tuple(ids)


def seconds(value: object) -> float | None:
    """A number of seconds or milliseconds since 1970, as other programs write them; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return None
    return float(value) / 1000 if value > 1e11 else float(value)
