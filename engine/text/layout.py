"""Locates the text of each message in a rendered chat."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.api.chat import Message, PromptNotice, PromptNoticeCode, Role
from engine.api.errors import EngineError
from engine.api.sentences import say
from engine.text.conversation import SHAPES, Field, Shape, entries_of, write_entries
from engine.text.spellings import ControlSpellings

if TYPE_CHECKING:
    from engine.text.template import TemplateCode

_MAX_PREFIXES = 8  # renderings of a part of the chat, to find the ends of turns of one kind
_MAX_MISSES = 100  # texts changed by the template, each of which is searched for in the whole chat
_STEP = 4096  # characters compared at once
_ESCAPED = PromptNotice(
    PromptNoticeCode.TEXT_ESCAPED,
    say("Your text holds control words of this model; an invisible space in them keeps them text."),
)
_PROBE = (Message("user", "1"), Message("assistant", "2"), Message("user", "3"))
_PROBE_WITH_SYSTEM = (Message("system", "0"), Message("user", "1"))


@dataclass(frozen=True)
class MessageSpan:
    """`text[start:end]` is the text, or the reasoning, of the message with this index."""

    index: int
    field: Field
    start: int
    end: int


@dataclass(frozen=True)
class TurnText:
    """One turn, from the character `start` to the start of the next turn."""

    start: int
    role: Role
    index: int | None


@dataclass(frozen=True)
class Layout:
    """A rendered chat. Everything outside the spans was written by the template.

    `is_exact` is False if the template changed the messages' texts, so that spans were found by a search and may be
    missing. The last turn is the generation prompt.
    """

    text: str
    spans: tuple[MessageSpan, ...]
    turns: tuple[TurnText, ...]
    is_exact: bool


@dataclass(frozen=True)
class _Unit:
    """The messages of one turn, their entry, and their range of characters."""

    role: Role
    indices: tuple[int, ...]
    n_entry: int
    start: int
    end: int


@dataclass(frozen=True)
class _Probe:
    """An artificial chat that probes what a template does, with one unit per message."""

    rendering: ChatRendering
    units: list[_Unit]


class ChatRendering:
    """One chat rendered with one template and shape, plainly and with marks around every message's text.

    The plain rendering becomes the prompt; the marked one identifies the messages' texts in it.
    """

    def __init__(
        self, template: TemplateCode, messages: Sequence[Message], shape: Shape, control: ControlSpellings
    ) -> None:
        """Raises EngineError(TEMPLATE_FAILED) if the template does not take the messages in this shape."""
        self._template = template
        self._messages = messages
        self._entries = entries_of(messages, shape)
        self._shape = shape
        self._control = control
        self._mark = _unused_mark([template.source, *(text for m in messages for text in (m.text, m.reasoning))])
        self._pattern = re.compile(re.escape(self._mark) + r"([0-9]{1,9})([tr])([()])")
        self.plain = self._render(len(self._entries), is_marked=False, add_generation_prompt=True)
        self._marked = self._render(len(self._entries), is_marked=True, add_generation_prompt=True)

    def n_dropped(self) -> int:
        """The number of non-empty messages that are missing from the rendering."""
        found = {int(match[1]) for match in self._pattern.finditer(self._marked) if match[2] == Field.TEXT.value}
        return sum(bool(m.text.strip()) and index not in found for index, m in enumerate(self._messages))

    def layout(self) -> Layout:
        """The plain rendering with spans and turns."""
        spans = self._aligned_spans()
        is_exact = spans is not None
        spans = self._searched_spans() if spans is None else spans
        turns = self._with_own_system(self._turns(spans), spans)
        return Layout(self.plain, tuple(spans), tuple(turns), is_exact)

    def _render(self, n_entries: int, *, is_marked: bool, add_generation_prompt: bool) -> str:
        def write(index: int, field: Field, text: str) -> str:
            if not is_marked or not text:
                return text
            return f"{self._mark}{index}{field.value}({text}{self._mark}{index}{field.value})"

        written = write_entries(self._entries[:n_entries], self._messages, self._shape, write)
        return self._template.render(written, add_generation_prompt=add_generation_prompt)

    # --- spans ---

    def _aligned_spans(self) -> list[MessageSpan] | None:
        """Align the marked rendering with the plain one; None if they differ in more than white space."""
        parts = self._parts()
        if parts is None:
            return None
        literals, contents = parts
        if not self.plain.startswith(literals[0]):
            return None
        spans: list[MessageSpan] = []
        position = len(literals[0])
        for (index, field, content), literal in zip(contents, literals[1:], strict=True):
            # A template that trims texts does so in the plain rendering, but not across marks.
            for trimmed in (content, content.rstrip(), content.lstrip(), content.strip()):
                end = position + len(trimmed)
                if self.plain.startswith(trimmed, position) and self.plain.startswith(literal, end):
                    spans.append(MessageSpan(index, field, position, end))
                    position = end + len(literal)
                    break
            else:
                return None
        return spans if position == len(self.plain) else None

    def _parts(self) -> tuple[list[str], list[tuple[int, Field, str]]] | None:
        """Split the marked rendering into literals and, between each two of them, a message's content."""
        literals: list[str] = []
        contents: list[tuple[int, Field, str]] = []
        position = 0
        marks = list(self._pattern.finditer(self._marked))
        if len(marks) % 2:
            return None
        for opening, closing in zip(marks[::2], marks[1::2], strict=True):
            if (opening[1], opening[2], opening[3], closing[3]) != (closing[1], closing[2], "(", ")"):
                return None
            literals.append(self._marked[position : opening.start()])
            contents.append((int(opening[1]), Field(opening[2]), self._marked[opening.end() : closing.start()]))
            position = closing.end()
        literals.append(self._marked[position:])
        return literals, contents

    def _searched_spans(self) -> list[MessageSpan]:
        spans: list[MessageSpan] = []
        position = n_missed = 0
        for index in (index for entry in self._entries for index in entry.indices):
            text = self._messages[index].text.strip()
            start = self.plain.find(text, position) if text else -1
            if start >= 0:
                position = start + len(text)
                spans.append(MessageSpan(index, Field.TEXT, start, position))
            elif text:
                n_missed += 1
                if n_missed == _MAX_MISSES:
                    break
        return spans

    # --- turns ---

    def _turns(self, spans: Sequence[MessageSpan]) -> list[TurnText]:
        units = self._units(spans)
        turns: list[TurnText] = []
        borders: dict[tuple[Role, Role, str], int | None] = {}
        start = 0
        for unit, following in itertools.zip_longest(units, units[1:]):
            turns.append(TurnText(start, unit.role, unit.indices[0]))
            if following is None:
                start = self._end_of_chat(unit.end)
                break
            gap = self.plain[unit.end : following.start]
            kind = (unit.role, following.role, gap)
            if kind not in borders:
                borders[kind] = self._n_closing(unit, gap) if len(borders) < _MAX_PREFIXES else None
            n_closing = borders[kind]
            start = following.start if n_closing is None else unit.end + n_closing
        turns.append(TurnText(start, "assistant", None))
        return turns

    def _with_own_system(self, turns: list[TurnText], spans: Sequence[MessageSpan]) -> list[TurnText]:
        """Split a default system prompt, written by the template itself, off as a separate turn."""
        if turns[0].role == "system":
            return turns
        before_messages = self.plain[: spans[0].start] if spans else self.plain
        own = self._template.own_systems.get(self._shape)
        # A default system prompt found earlier may contain another day's date.
        if own is None or not before_messages.startswith(own):
            own = self._template.own_systems[self._shape] = self._own_system()
        if not own or not before_messages.startswith(own):
            return turns
        return [TurnText(0, "system", None), replace(turns[0], start=len(own)), *turns[1:]]

    def _own_system(self) -> str:
        """The template's default system prompt, for a chat without one; "" if it has none.

        It precedes a first question, but not a later one::

            first     <|im_start|>system You are … <|im_end|> | <|im_start|>user | question
            later                   … answer <|im_end|>       | <|im_start|>user | question
        """
        probe = self._probe(_PROBE)
        if probe is None:
            return ""
        first, answer, later = probe.units
        before = probe.rendering.plain[: first.start]
        closing, opening = probe.rendering._border(answer, later)
        own = before[: len(before) - self._n_common_end(before, opening)]
        if not self._says_something(own):
            return ""
        if not closing and (beside := self._probe(_PROBE_WITH_SYSTEM)) is not None:
            # Some templates (gpt-oss) end an answer differently in the last turn: use a system prompt's end instead.
            closing, opening = beside.rendering._border(*beside.units)
            if closing and opening and before.endswith(opening):
                return before.removesuffix(opening)
        return own

    def _probe(self, messages: Sequence[Message]) -> _Probe | None:
        """Render another chat with the same template and shape; None if it fails or changes the texts."""
        try:
            rendering = ChatRendering(self._template, messages, self._shape, self._control)
        except EngineError:
            return None
        units = rendering._units(rendering._aligned_spans() or ())
        is_whole = [unit.indices for unit in units] == [(index,) for index in range(len(messages))]
        return _Probe(rendering, units) if is_whole else None

    def _border(self, before: _Unit, question: _Unit) -> tuple[str, str]:
        """The template's text between two messages: the end of the first one, and the beginning of the second."""
        between = self.plain[before.end : question.start]
        n_closing = self._n_closing(before, between) or 0
        return between[:n_closing], between[n_closing:]

    def _says_something(self, text: str) -> bool:
        """Whether the text has words besides control tokens."""
        control = {n for start, end in self._control.find(text, 0, len(text)) for n in range(start, end)}
        return any(character.isalnum() and n not in control for n, character in enumerate(text))

    def _units(self, spans: Sequence[MessageSpan]) -> list[_Unit]:
        units: list[_Unit] = []
        spans_of: dict[int, list[MessageSpan]] = {}
        for span in spans:
            spans_of.setdefault(span.index, []).append(span)
        for n_entry, entry in enumerate(self._entries):
            is_system = [self._messages[index].role == "system" for index in entry.indices]
            # A system prompt inside a user turn is a separate turn, so that it can be kept in the cache alone.
            n_system = sum(is_system) if entry.role == "user" else 0
            parts: tuple[tuple[Role, tuple[int, ...]], ...] = (
                ("system", entry.indices[:n_system]),
                (entry.role, entry.indices[n_system:]),
            )
            for role, indices in parts:
                own = [span for index in indices for span in spans_of.get(index, ())]
                if own:
                    start, end = min(span.start for span in own), max(span.end for span in own)
                    units.append(_Unit(role, indices, n_entry, start, end))
        return sorted(units, key=lambda unit: unit.start)

    def _n_closing(self, unit: _Unit, gap: str) -> int | None:
        """How many characters of `gap`, which follows `unit`, still belong to its turn.

        They are what the template writes when the chat ends there; None if it can't render such a chat.
        """
        try:
            marked = self._render(unit.n_entry + 1, is_marked=True, add_generation_prompt=False)
        except EngineError:
            return None
        marks = [match for match in self._pattern.finditer(marked) if int(match[1]) in unit.indices]
        if not marks:
            return None
        return self._n_common(self._pattern.sub("", marked[marks[-1].end() :]), gap)

    def _end_of_chat(self, at_least: int) -> int:
        """The index at which the generation prompt begins."""
        try:
            ended = self._render(len(self._entries), is_marked=False, add_generation_prompt=False)
        except EngineError:
            return len(self.plain)
        return max(at_least, self._n_common(ended, self.plain))

    def _n_common(self, ended: str, text: str) -> int:
        """The length of the common prefix, without a partial control token at its end."""
        n_common = _n_equal(ended, text)
        around = (max(0, n_common - self._control.longest), n_common + self._control.longest)
        inside = [start for start, end in self._control.find(text, *around) if start < n_common < end]
        return min([n_common, *inside])

    def _n_common_end(self, text: str, opening: str) -> int:
        """The length of the common suffix, without a partial control token at its start."""
        pairs = enumerate(zip(reversed(text), reversed(opening), strict=False))
        n_common = next((n for n, (a, b) in pairs if a != b), min(len(text), len(opening)))
        start = len(text) - n_common
        around = (max(0, start - self._control.longest), start + self._control.longest)
        return len(text) - max([start, *(b for a, b in self._control.find(text, *around) if a < start < b)])


def _n_equal(one: str, other: str) -> int:
    """The length of the common prefix; long texts are compared in steps."""
    end = min(len(one), len(other))
    start = next((n for n in range(0, end, _STEP) if one[n : n + _STEP] != other[n : n + _STEP]), end)
    return next((n for n in range(start, end) if one[n] != other[n]), end)


def _unused_mark(texts: Sequence[str]) -> str:
    """A string of private-use characters that occurs in none of the texts."""
    used = {match[1] for text in texts for match in re.finditer("\ue0a0([0-9]+)(?=\ue0a1)", text)}
    number = next(number for number in itertools.count() if str(number) not in used)
    return f"\ue0a0{number}\ue0a1"


def lay_out(
    template: TemplateCode, messages: Sequence[Message], control: ControlSpellings
) -> tuple[Layout, tuple[PromptNotice, ...]]:
    """Lay out the chat in the first shape that the template accepts; raises EngineError(TEMPLATE_FAILED)."""
    rendering, shape = _render(template, messages, control)
    layout = rendering.layout()
    if layout.is_exact:
        return layout, shape.notices()
    # Without exact spans the tokenizer can't keep texts from becoming control tokens, so escape them here.
    escaped = [replace(m, text=control.escape(m.text), reasoning=control.escape(m.reasoning)) for m in messages]
    if escaped == list(messages):
        return layout, shape.notices()
    rendering = ChatRendering(template, escaped, shape, control)
    return rendering.layout(), (*shape.notices(), _ESCAPED)


def _render(
    template: TemplateCode, messages: Sequence[Message], control: ControlSpellings
) -> tuple[ChatRendering, Shape]:
    """Render in the first shape in which the template drops no message, else in the one that drops the fewest."""
    best: tuple[int, ChatRendering, Shape] | None = None
    failure: EngineError | None = None
    for shape in SHAPES:
        try:
            rendering = ChatRendering(template, messages, shape, control)
        except EngineError as error:
            failure = failure or error
            continue
        n_dropped = rendering.n_dropped()
        if best is None or n_dropped < best[0]:
            best = (n_dropped, rendering, shape)
        if n_dropped == 0:
            break
    if best is None:
        assert failure is not None, "every shape either renders or fails"
        raise failure
    return best[1], best[2]
