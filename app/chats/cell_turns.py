"""Leads from the cells of the cache to the messages they hold, and back to their words."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.cache.cells_section import excerpt
from app.cache.panel import CachePanel
from app.chats.chat_session import ChatSession
from app.transcript.transcript import Transcript
from engine.api.messages import Span


class CellTurns(QObject):
    """A cell that is pressed scrolls to its message, and shows words of it."""

    def __init__(self, panel: CachePanel, chat: ChatSession, transcript: Transcript) -> None:
        super().__init__(panel)
        self._panel, self._chat, self._transcript = panel, chat, transcript
        panel.span_pressed.connect(self._on_span_pressed)
        panel.set_text_of(self._text_of)
        show: Callable[[], None] = lambda: panel.show_chat(chat.open_chat.head.id)  # noqa: E731
        chat.opened.connect(show)
        show()

    def _on_span_pressed(self, span: Span) -> None:
        turn_id = self._turn_id(span)
        if turn_id is not None:
            self._transcript.scroll_to_turn(turn_id)

    def _turn_id(self, span: Span) -> str | None:
        """The turn of a span; what belongs to no message, such as marks of the template, has none."""
        is_answer = span.message_index is None and span.role == "assistant"
        if span.message_index is None and not is_answer:
            return None
        return self._chat.turn_id_of(span.message_index)

    def _text_of(self, span: Span, index: int) -> str:
        """Words of the message near a token: where it stands among the message's tokens says about where they are."""
        usage = self._panel.facts.usage
        if usage is None:
            return ""
        turn_id = self._turn_id(span)
        turn = next((turn for turn in self._transcript.turns if turn.id == turn_id), None)
        if turn_id is None or turn is None:
            return excerpt(self._chat.settings.system_prompt, 0.0) if span.role == "system" else ""
        parts = [one for one in usage.spans if one.message_index == span.message_index and one.role == span.role]
        start, end = min(one.start for one in parts), max(one.end for one in parts)
        return excerpt(turn.reasoning + turn.text, (index - start) / max(1, end - start))
