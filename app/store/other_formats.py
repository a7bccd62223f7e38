"""Reads the chats that ChatGPT and llama.cpp's WebUI export."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from app.store.history import healed
from app.store.json_format import FormatError, seconds
from app.store.records import MAX_TEXT, MAX_TITLE, Attachment, Chat, ChatSettings, Turn, WholeChat, composed, now
from app.store.rows import moment_of
from app.store.titles import title_of
from engine.api.messages import Message


@dataclass
class _Node:
    """A message of a foreign tree; one without text only passes its parent on. ``order`` is when it was written."""

    key: str
    parent: str | None
    role: str
    text: str
    order: float
    reasoning: str = ""
    attachments: tuple[Attachment, ...] = ()


def chatgpt_chats(plain: list[Any]) -> tuple[list[WholeChat], list[str]]:
    """The conversations of a ``conversations.json``, and what had to be left out of them; raises FormatError if there
    is none."""
    has_mapping = lambda one: isinstance(one, dict) and isinstance(one.get("mapping"), dict)  # noqa: E731
    return _each(plain, has_mapping, _chatgpt_chat)


def _each(
    several: Iterable[Any], makes_sense: Callable[[Any], bool], chat_of: Callable[[Any], WholeChat]
) -> tuple[list[WholeChat], list[str]]:
    chats: list[WholeChat] = []
    left_out: list[str] = []
    for number, one in enumerate(several, 1):
        try:
            if not makes_sense(one):
                raise FormatError("no conversation")
            chats.append(chat_of(one))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            left_out.append(f"{number}: {error!r:.200}")
    if not chats:
        raise FormatError("; ".join(left_out)[:1000] or "no conversation")
    return chats, left_out


def _chatgpt_chat(plain: dict[str, Any]) -> WholeChat:
    nodes = [node for key, value in plain["mapping"].items() if (node := _chatgpt_node(key, value)) is not None]
    key = _key(plain.get("conversation_id")) or _key(plain.get("id"))
    times = (plain.get("create_time"), plain.get("update_time"))
    return _chat(f"chatgpt-{key}", _line(plain.get("title")), times, nodes, plain.get("current_node"))


def _chatgpt_node(key: str, value: Any) -> _Node | None:
    if not isinstance(value, dict):
        return None
    parent = value.get("parent")
    message = value.get("message")
    node = _Node(key, parent if isinstance(parent, str) else None, "", "", 0.0)
    if not isinstance(message, dict):
        return node
    author, content, metadata = (_dict(message.get(name)) for name in ("author", "content", "metadata"))
    node.order = seconds(message.get("create_time")) or 0.0
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
    # What is said to a tool, and by it, is not part of what was said.
    is_to_tool = message.get("recipient", "all") not in ("all", None)
    role = author.get("role")
    if role not in ("user", "assistant", "system") or is_hidden or is_to_tool:
        return node
    node.role = role
    node.text = _chatgpt_text(content)
    return node


def _chatgpt_text(content: dict[str, Any]) -> str:
    kind = content.get("content_type")
    if kind in ("text", "multimodal_text"):
        parts = content.get("parts")
        texts = parts if isinstance(parts, list) else []
        spoken = (one.get("text") if isinstance(one, dict) else one for one in texts)
        return "\n".join(one for one in spoken if isinstance(one, str) and one)[:MAX_TEXT]
    if kind == "code" and isinstance(content.get("text"), str):
        return f"```\n{content['text']}\n```"[:MAX_TEXT]
    return ""


def is_webui(plain: object) -> bool:
    """Whether a JSON value is a conversation of llama.cpp's WebUI."""
    return isinstance(plain, dict) and isinstance(plain.get("conv"), dict) and isinstance(plain.get("messages"), list)


def webui_records(lines: Iterable[Any]) -> list[dict[str, Any]]:
    """The conversations of the WebUI's JSON Lines: a line for a session, then one for each of its messages."""
    sessions: list[dict[str, Any]] = []
    for record in lines:
        kind = record.get("type") if isinstance(record, dict) else None
        if kind == "session":
            sessions.append({"conv": record, "messages": []})
        elif kind == "message" and sessions:
            sessions[-1]["messages"].append(record.get("message"))
    return sessions


def webui_chats(plain: Iterable[Any]) -> tuple[list[WholeChat], list[str]]:
    """The WebUI's conversations, and what had to be left out of them; raises FormatError if there is none."""
    return _each(plain, is_webui, _webui_chat)


def _webui_chat(plain: dict[str, Any]) -> WholeChat:
    conv = plain["conv"]
    nodes = [_webui_node(one) for one in plain["messages"] if isinstance(one, dict)]
    times = (min((node.order for node in nodes if node.order), default=None), conv.get("lastModified"))
    chat = _chat(f"webui-{_key(conv.get('id'))}", _line(conv.get("name")), times, nodes, conv.get("currNode"))
    return WholeChat(Chat(**{**vars(chat.chat), "is_pinned": conv.get("pinned") is True}), chat.turns)


def _webui_node(message: dict[str, Any]) -> _Node:
    parent = message.get("parent")
    role = message.get("role") if message.get("type") != "root" else ""
    reasoning = message.get("reasoningContent") or message.get("thinking")
    # Older versions count messages by numbers, newer ones by texts; -1 is the parent of none.
    return _Node(
        key=_key(message.get("id")),
        parent=None if parent in (None, -1) else _key(parent),
        role=role if role in ("user", "assistant", "system") else "",
        text=_body(message.get("content")),
        order=seconds(message.get("timestamp")) or 0.0,
        reasoning=_body(reasoning),
        attachments=tuple(_webui_files(message.get("extra"))),
    )


def _webui_files(extra: Any) -> Iterator[Attachment]:
    for one in extra if isinstance(extra, list) else []:
        if isinstance(one, dict) and isinstance(one.get("content"), str) and one["content"].strip():
            yield Attachment(_line(one.get("name")) or "file", one["content"][:MAX_TEXT])


def _chat(chat_id: str, title: str, times: tuple[Any, Any], nodes: list[_Node], current: Any) -> WholeChat:
    """A chat of nodes in any order. What is not user's or assistant's passes its place on; system texts become the
    system prompt. ``current`` is the last node of the version that was shown."""
    by_key = {node.key: node for node in nodes}
    shown = set(_ancestors(by_key, _key(current)))
    system = "\n\n".join(node.text for node in nodes if node.role == "system" and node.text.strip())
    numbers: dict[str, int] = {}
    turns: list[Turn] = []
    moment = now()
    ids = itertools.count(1)
    for node in _parents_first(by_key):
        text = composed(node.attachments, node.text) if node.attachments else node.text
        if node.role not in ("user", "assistant") or not (text.strip() or node.reasoning.strip()):
            continue
        parent = next((numbers[key] for key in _ancestors(by_key, node.parent) if key in numbers), None)
        numbers[node.key] = next(ids)
        turns.append(
            Turn(
                numbers[node.key],
                Message(cast('Literal["user", "assistant"]', node.role), text, node.reasoning),
                moment=moment_of(node.order) if node.order else moment,
                parent=parent,
                is_chosen=not shown or node.key in shown,
                attachments=node.attachments,
                typed=node.text if node.attachments else "",
            )
        )
    created, changed = (moment_of(stamp) if (stamp := seconds(one)) else None for one in times)
    first = next((turn for turn in turns if turn.message.role == "user"), None)
    chat = Chat(
        chat_id,
        (title or (title_of(first.message.text) if first else ""))[:MAX_TITLE],
        is_named=bool(title),
        created=created or moment,
        changed=changed or created or moment,
        settings=ChatSettings(system),
    )
    return WholeChat(chat, tuple(healed(turns)))


def _ancestors(by_key: dict[str, _Node], key: str | None) -> Iterator[str]:
    """A node and those before it; a circle ends where it closes."""
    seen: set[str] = set()
    while key is not None and key in by_key and key not in seen:
        seen.add(key)
        yield key
        key = by_key[key].parent


def _parents_first(by_key: dict[str, _Node]) -> list[_Node]:
    """By time, but never before the parent."""
    done: dict[str, _Node] = {}
    for node in sorted(by_key.values(), key=lambda node: node.order):
        line = []
        for key in _ancestors(by_key, node.key):
            if key in done:
                break
            line.append(key)
        for key in reversed(line):
            done[key] = by_key[key]
    return list(done.values())


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _key(value: Any) -> str:
    return str(value)[:MAX_TITLE] if isinstance(value, str | int) else ""


def _body(value: Any) -> str:
    return value[:MAX_TEXT] if isinstance(value, str) else ""


def _line(value: Any) -> str:
    return " ".join(value[:MAX_TITLE].split()) if isinstance(value, str) else ""
