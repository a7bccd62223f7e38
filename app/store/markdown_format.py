"""A chat as a Markdown file to read, and back as far as Markdown can say it."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal, cast

from app.store.history import chosen_path
from app.store.records import MAX_TITLE, Chat, ChatSettings, Turn, WholeChat, now
from app.store.titles import title_of
from engine.api.messages import Message

NAMES = {"user": "You", "assistant": "Assistant", "system": "System prompt"}
_HEADING = re.compile(r"^## (You|User|Assistant|System prompt|System)\s*$", re.IGNORECASE)
_ROLES = {
    "you": "user",
    "user": "user",
    "assistant": "assistant",
    "system prompt": "system",
    "system": "system",
}
# Also behind the mark of a list or a quotation, where a model likes to begin its code.
_FENCE = re.compile(r"^[\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})")


def to_markdown(whole: WholeChat) -> str:
    """The chosen version of a chat; lines that look like its own headings are escaped."""
    parts = [f"# {whole.chat.title or 'Chat'}"]
    if whole.chat.settings.system_prompt.strip():
        parts += [f"## {NAMES['system']}", _escaped(whole.chat.settings.system_prompt)]
    for turn in chosen_path(whole.turns):
        parts += [f"## {NAMES[turn.message.role]}", _escaped(turn.message.text)]
    return "\n\n".join(parts) + "\n"


def from_markdown(text: str, chat_id: str, first_id: int = 1) -> WholeChat | None:
    """The chat in a Markdown file with headings as `to_markdown` writes them; None if there is no message in it."""
    title, system = "", ""
    sections: list[tuple[str, list[str]]] = []
    fence = ""
    for line in text.splitlines():
        heading = None if fence else _HEADING.match(line)
        fence = _fence_after(fence, line)
        if heading is not None:
            sections.append((_ROLES[heading[1].lower()], []))
        elif sections:
            sections[-1][1].append(re.sub(r"^\\(\\*## )", r"\1", line) if not fence else line)
        elif line.startswith("# ") and not title:
            title = line[2:].strip()
    turns: list[Turn] = []
    moment = now()
    for role, lines in sections:
        body = "\n".join(lines).strip("\n")
        if role == "system":
            system = body
        elif body:
            turns.append(_turn(first_id + len(turns), role, body, turns[-1].id if turns else None, moment))
    if not turns:
        return None
    title = title[:MAX_TITLE] or title_of(turns[0].message.text)
    return WholeChat(Chat(chat_id, title, is_named=True, settings=ChatSettings(system)), tuple(turns))


def _turn(turn_id: int, role: str, text: str, parent: int | None, moment: datetime) -> Turn:
    known = cast('Literal["user", "assistant"]', role)
    return Turn(turn_id, Message(known, text), moment=moment, parent=parent)


def _escaped(text: str) -> str:
    lines = []
    fence = ""
    for line in text.strip("\n").split("\n"):
        is_ours = not fence and re.match(r"^\\*## ", line) is not None
        fence = _fence_after(fence, line)
        lines.append("\\" + line if is_ours else line)
    if fence:
        # An open block of code would swallow the next heading.
        lines.append(fence)
    return "\n".join(lines)


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after a line, given the one before it."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    closes = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not line[match.end(1) :].strip()
    return "" if closes else fence
