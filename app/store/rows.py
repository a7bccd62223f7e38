"""Converts between records and rows of the database, whose columns may hold anything once a bit has flipped."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, cast

from app.store.records import (
    MAX_LATER_ID,
    MAX_TITLE,
    Attachment,
    Chat,
    ChatLine,
    ChatSettings,
    Turn,
    TurnState,
    composed,
)
from app.store.schema import DamagedError
from app.store.token_ids import are_foreign, pack, unpack
from engine.api.declarations import from_mapping, to_mapping
from engine.api.messages import FinishReason, GenerationStats, Message
from engine.api.settings import PolicySettings, SamplingSettings
from engine.api.valid import valid_text
from engine.disk.foreign_json import read_json

LINE = "id, title, is_pinned, changed"
CHAT = "id, title, is_named, is_pinned, created, changed, settings, draft"
TURN = "id, parent, is_chosen, role, text, reasoning, token_ids, model, state, reason, stats, created, attachments"
MAX_COUNT = 2**53
"""Beyond any number that an answer has, and below what a number of Qt holds."""
Role = Literal["system", "user", "assistant"]
ROLES = ("system", "user", "assistant")
Row = sqlite3.Row | Mapping[str, Any]


def text_of(value: object) -> str:
    """The text of a column."""
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)


def chat_id_of(value: object) -> str:
    """The id of a chat, which can be asked for; raises DamagedError."""
    if not isinstance(value, str) or not value:
        raise DamagedError(f"the id {value!r:.80} of a chat")
    return value


def turn_id_of(value: object) -> int:
    """The id of a message; raises DamagedError."""
    if not isinstance(value, int) or not 0 <= value < MAX_LATER_ID:
        raise DamagedError(f"the id {value!r:.80} of a message")
    return value


def line_of(row: Iterable[Any]) -> ChatLine:
    """The line in a row of the columns LINE."""
    chat_id, title, is_pinned, changed = row
    return ChatLine(chat_id_of(chat_id), text_of(title)[:MAX_TITLE], bool(is_pinned), moment_of(changed))


def chat_of(row: Row) -> Chat:
    """The chat in a row of the columns CHAT."""
    return Chat(
        id=chat_id_of(row["id"]),
        title=text_of(row["title"]),
        is_named=bool(row["is_named"]),
        is_pinned=bool(row["is_pinned"]),
        created=moment_of(row["created"]),
        changed=moment_of(row["changed"]),
        settings=settings_of(_object(row["settings"])),
        draft=text_of(row["draft"]),
    )


def chat_values(chat: Chat) -> tuple[Any, ...]:
    """The values for the columns CHAT."""
    settings = valid_text(json.dumps(settings_mapping(chat.settings), ensure_ascii=False))
    created, changed = chat.created.timestamp(), chat.changed.timestamp()
    title, draft = valid_text(chat.title), valid_text(chat.draft)
    return (chat.id, title, int(chat.is_named), int(chat.is_pinned), created, changed, settings, draft)


def turn_of(row: Row) -> Turn:
    """The turn in a row of the columns TURN. What makes no sense in a field is left out, the text never."""
    attachments = _attachments(row["attachments"])
    role = cast("Role", row["role"] if row["role"] in ROLES else "user")
    typed = text_of(row["text"])
    text = composed(attachments, typed) if attachments else typed
    packed = row["token_ids"] if isinstance(row["token_ids"], bytes) else None
    ids = unpack(packed)
    return Turn(
        id=turn_id_of(row["id"]),
        message=Message(role, text, text_of(row["reasoning"]), ids, ids is not None and are_foreign(packed)),
        state=state_of(row["state"]),
        reason=reason_of(row["reason"]),
        stats=stats_of(_object(row["stats"])),
        moment=moment_of(row["created"]),
        parent=row["parent"] if isinstance(row["parent"], int) else None,
        is_chosen=bool(row["is_chosen"]),
        model=text_of(row["model"]),
        attachments=attachments,
        typed=typed if attachments else "",
    )


def turn_values(turn: Turn) -> tuple[Any, ...]:
    """The values for the columns TURN."""
    message = turn.message
    stats = json.dumps(dataclasses.asdict(turn.stats)) if turn.stats is not None else None
    attachments = None
    if turn.attachments:
        attachments = json.dumps([{"name": valid_text(a.name), "text": valid_text(a.text)} for a in turn.attachments])
    return (
        turn.id,
        turn.parent,
        int(turn.is_chosen),
        message.role,
        valid_text(turn.own_text),
        valid_text(message.reasoning),
        pack(message.token_ids, are_foreign=message.has_foreign_ids),
        valid_text(turn.model),
        turn.state.value,
        turn.reason.value if turn.reason is not None else None,
        stats,
        turn.moment.timestamp(),
        attachments,
    )


def searched_text(text: object, attachments: object) -> str:
    """What a search finds of a message, from its columns."""
    return "\n".join([text_of(text), *(f"{one.name}\n{one.text}" for one in _attachments(attachments))])


def settings_mapping(settings: ChatSettings) -> dict[str, Any]:
    """JSON-ready."""
    return {
        "system_prompt": settings.system_prompt,
        "sampling": to_mapping(settings.sampling),
        "policy": to_mapping(settings.policy) if settings.policy is not None else None,
    }


def settings_of(plain: Mapping[str, Any]) -> ChatSettings:
    """From JSON; what makes no sense is at its default."""
    system_prompt = plain.get("system_prompt")
    sampling, policy = plain.get("sampling"), plain.get("policy")
    return ChatSettings(
        system_prompt if isinstance(system_prompt, str) else "",
        from_mapping(SamplingSettings, sampling if isinstance(sampling, dict) else {})[0],
        from_mapping(PolicySettings, policy)[0] if isinstance(policy, dict) else None,
    )


def stats_of(plain: Mapping[str, Any]) -> GenerationStats | None:
    """From JSON; None unless every number is there, and one that an answer can have."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(GenerationStats):
        value = plain.get(field.name)
        is_number = isinstance(value, int if field.type == "int" else int | float) and not isinstance(value, bool)
        if is_number and 0 <= value < MAX_COUNT:  # type: ignore[operator]
            values[field.name] = value
        elif value is None and str(field.type).endswith("| None"):
            values[field.name] = None
        elif field.default is dataclasses.MISSING:
            return None
    return GenerationStats(**values)


def attachments_of(plain: list[Any]) -> tuple[Attachment, ...]:
    """From JSON."""
    entries = [one for one in plain if isinstance(one, dict)]
    return tuple(Attachment(str(one.get("name", "")), str(one.get("text", ""))) for one in entries)


def state_of(word: object) -> TurnState:
    """The state with this name. An answer that was being written when the program ended has failed."""
    states = {state.value: state for state in TurnState if state is not TurnState.STREAMING}
    return states.get(str(word), TurnState.FAILED)


def reason_of(word: object) -> FinishReason | None:
    """The reason with this name."""
    return next((reason for reason in FinishReason if reason.value == word), None)


def moment_of(seconds: object) -> datetime:
    """The moment this many seconds after 1970; the year 1970 for what is no moment."""
    try:
        return datetime.fromtimestamp(seconds, UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _attachments(column: object) -> tuple[Attachment, ...]:
    """What a column holds; one that is no JSON any more is an attachment as it is, since a person may need its text."""
    text = text_of(column)
    plain = _json(text)
    return attachments_of(plain) if isinstance(plain, list) else (Attachment("", text),) if text else ()


def _object(column: object) -> dict[str, Any]:
    plain = _json(text_of(column))
    return plain if isinstance(plain, dict) else {}


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return None
