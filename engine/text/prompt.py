"""Builds a chat's prompt tokens: template text with control tokens, message text always literal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from engine.api.chat import Message, Prompt, PromptTurn
from engine.api.valid import valid_text
from engine.text.conversation import Field
from engine.text.layout import Layout, MessageSpan, TurnText
from engine.text.look import Look, look_nowhere
from engine.text.reasoning import ReasoningTags, opened_reasoning, tags_of_template
from engine.text.spellings import ControlSpellings
from engine.text.stream import PartKind, ReasoningSplitter, visible_piece
from engine.text.template import Template
from engine.text.tokens import Segment, SegmentTokenizer
from engine.text.vocabulary import Vocabulary

_STEP = 65_536  # characters of a message that are searched at once


@dataclass(frozen=True)
class _Sampled:
    """`text[start:end]` was sampled as `ids`."""

    start: int
    end: int
    ids: tuple[int, ...]


def build_prompt(
    vocabulary: Vocabulary,
    template: Template,
    messages: Sequence[Message],
    *,
    continue_last: bool = False,
    look: Look = look_nowhere,
) -> Prompt:
    """Tokenize a chat up to the start of the next answer.

    With `continue_last` the last message is an answer to be continued: nothing follows its text. Message text never
    becomes a control token. An answer's sampled ids are used wherever the template keeps its text verbatim; ids from
    a file only if none of them is a control token. `look` is called repeatedly and may raise to cancel. Raises
    EngineError(TEMPLATE_FAILED, TEMPLATE_TIMEOUT) if the template accepts the chat in no shape.
    """
    if continue_last and (not messages or messages[-1].role != "assistant"):
        raise ValueError("only an answer can be continued")
    control = template.control
    messages = [_usable(message, vocabulary, control) for message in messages]
    tokenizer = SegmentTokenizer(vocabulary, control)
    chat = messages[:-1] if continue_last else messages
    layout, notices = template.lay_out(chat, look)
    is_reasoning = opened_reasoning(layout.text[layout.turns[-1].start :]) is not None
    sampled = _sampled_stretches(layout, chat, vocabulary, look)
    if continue_last:
        tags = tags_of_template(template.source)
        layout, continued, is_reasoning = _with_answer(layout, messages[-1], len(chat), tags, vocabulary)
        sampled.extend(continued)
    tokenized = tokenizer.tokenize(_segments(layout, sampled, control, look), look)
    tokens, n_added = _with_one_bos(vocabulary, tokenized.tokens)
    borders = [bisect_left(tokenized.starts, start) + n_added for start in _byte_starts(layout)]
    borders[0] = 0
    turns = tuple(
        PromptTurn(start, end, turn.role, turn.index)
        for start, end, turn in zip(borders, [*borders[1:], len(tokens)], layout.turns, strict=True)
    )
    return Prompt(tuple(tokens), turns, (*template.notices, *notices), is_reasoning)


def _usable(message: Message, vocabulary: Vocabulary, control: ControlSpellings) -> Message:
    """The message with text that is valid UTF-8 (no lone surrogates), and without unusable ids."""
    if message.token_ids and not _can_use_ids(message, vocabulary, control):
        message = replace(message, token_ids=None)
    return replace(message, text=valid_text(message.text), reasoning=valid_text(message.reasoning))


def _can_use_ids(message: Message, vocabulary: Vocabulary, control: ControlSpellings) -> bool:
    """Whether the ids may be used for the text: only answers have sampled ids, those of a chat from another machine
    may belong to another vocabulary, and those from a file are untrusted and may contain control tokens."""
    ids = message.token_ids or ()
    if message.role != "assistant" or not 0 <= min(ids) <= max(ids) < vocabulary.n_tokens:
        return False
    # Tokens without any text would be invisible.
    return not message.has_foreign_ids or all(
        vocabulary.piece(token) and vocabulary.spelling(token) not in control for token in set(ids)
    )


def _byte_starts(layout: Layout) -> Iterator[int]:
    """The start of each turn, in bytes of UTF-8."""
    n_characters = n_bytes = 0
    for turn in layout.turns:
        n_bytes += len(layout.text[n_characters : turn.start].encode())
        n_characters = turn.start
        yield n_bytes


def _with_answer(
    layout: Layout, answer: Message, index: int, tags: ReasoningTags, vocabulary: Vocabulary
) -> tuple[Layout, list[_Sampled], bool]:
    """The layout with the partial answer appended to the generation prompt; whether it ends inside reasoning."""
    start = len(layout.text)
    turns = (*layout.turns[:-1], replace(layout.turns[-1], index=index))
    opened = opened_reasoning(layout.text[turns[-1].start :])
    if answer.token_ids:
        generated = _decode(answer.token_ids, vocabulary)
        splitter = ReasoningSplitter(opened=opened is not None)
        parts = [*splitter.feed(generated), *splitter.flush()]
        shown = "".join(part.text for part in parts if part.kind is PartKind.ANSWER)
        # Otherwise the text was edited, and the ids belong to the old text.
        if answer.text in {shown, generated}:
            text = layout.text + generated
            sampled = _Sampled(start, len(text), answer.token_ids)
            return replace(layout, text=text, turns=turns), [sampled], splitter.is_reasoning
    spans = list(layout.spans)
    text = layout.text
    if answer.reasoning:
        tags = opened or tags
        text += "" if opened else tags.opener + "\n"
        spans.append(MessageSpan(index, Field.REASONING, len(text), len(text) + len(answer.reasoning)))
        text += answer.reasoning + (f"\n{tags.closer}\n\n" if answer.text else "")
    spans.append(MessageSpan(index, Field.TEXT, len(text), len(text) + len(answer.text)))
    is_reasoning = not answer.text and (opened is not None or bool(answer.reasoning))
    return replace(layout, text=text + answer.text, spans=tuple(spans), turns=turns), [], is_reasoning


# --- ids that are known ---


def _sampled_stretches(
    layout: Layout, messages: Sequence[Message], vocabulary: Vocabulary, look: Look
) -> list[_Sampled]:
    """The ranges of text whose ids are known, in order; each covers the whole text of its message."""
    prompt = layout.text[layout.turns[-1].start :]
    ends = [turn.start for turn in layout.turns[1:]]
    spans = {span.index: span for span in reversed(layout.spans) if span.field is Field.TEXT}
    sampled: list[_Sampled] = []
    for turn, end in zip(layout.turns, ends, strict=False):
        look()
        ids = None if turn.index is None else messages[turn.index].token_ids
        if turn.index is None or not ids or turn.index not in spans:
            continue
        stretch = _sampled_stretch(layout.text, turn, spans[turn.index], (prompt, ids), vocabulary)
        if stretch is not None and stretch.end <= end:
            sampled.append(stretch)
    return sampled


def _sampled_stretch(
    text: str,
    turn: TurnText,
    span: MessageSpan,
    generated: tuple[str, tuple[int, ...]],
    vocabulary: Vocabulary,
) -> _Sampled | None:
    prompt, ids = generated
    # The answer began right after the generation prompt; in turns that the template rewrites, at its span.
    behind_prompt = turn.start + len(prompt)
    begins = [behind_prompt] if text.startswith(prompt, turn.start) and behind_prompt <= span.start else []
    whole = _decode(ids, vocabulary)
    for start in (*begins, span.start):
        if text.startswith(whole, start) and start + len(whole) >= span.end:
            return _Sampled(start, start + len(whole), ids)
        kept = text[start : span.end].encode()
        n_ids, n_bytes = 0, 0
        while n_bytes < len(kept) and n_ids < len(ids):
            piece = visible_piece(vocabulary, ids[n_ids])
            if not kept.startswith(piece, n_bytes):
                break
            n_ids, n_bytes = n_ids + 1, n_bytes + len(piece)
        # Text that was trimmed at the end, or cut off by a stop string, had separate tokens.
        if n_ids and n_bytes == len(kept):
            return _Sampled(start, span.end, ids[:n_ids])
    return None


def _decode(ids: Sequence[int], vocabulary: Vocabulary) -> str:
    pieces = (visible_piece(vocabulary, token) for token in ids)
    return b"".join(pieces).decode("utf-8", errors="replace")


# --- segments ---


def _segments(layout: Layout, sampled: Sequence[_Sampled], control: ControlSpellings, look: Look) -> Iterator[Segment]:
    """The whole text, split only around known ids and where a message contains a control token's spelling."""
    literal, cuts = _control_in_messages(layout, sampled, control, look)
    literal_starts = {start for start, _ in literal}
    ids_from = {stretch.start: stretch for stretch in sampled}
    stretches = (*literal, *((stretch.start, stretch.end) for stretch in sampled))
    edges = {0, len(layout.text), *cuts, *(edge for stretch in stretches for edge in stretch)}
    skip_to = 0
    for start, end in pairwise(sorted(edges)):
        if start in ids_from:
            skip_to = ids_from[start].end
            yield Segment(layout.text[start:skip_to], ids=ids_from[start].ids)
        if start >= skip_to:
            yield Segment(layout.text[start:end], is_literal=start in literal_starts)


def _control_in_messages(
    layout: Layout, sampled: Sequence[_Sampled], control: ControlSpellings, look: Look
) -> tuple[set[tuple[int, int]], set[int]]:
    """The ranges in messages that spell control tokens, and the message borders across which template text and
    message text together spell one.
    """
    literal: set[tuple[int, int]] = set()
    cuts: set[int] = set()
    stretch_at = {stretch.end: stretch for stretch in sampled}
    ends = sorted(stretch_at)
    for span in layout.spans:
        n_before = bisect_left(ends, span.end)
        if n_before < len(ends) and stretch_at[ends[n_before]].start <= span.start:
            continue
        for start, end in _found(layout.text, span, control, look):
            if span.start <= start and end <= span.end:
                literal.add((start, end))
            else:
                cuts.update(border for border in (span.start, span.end) if start < border < end)
    return literal, cuts


def _found(text: str, span: MessageSpan, control: ControlSpellings, look: Look) -> Iterator[tuple[int, int]]:
    """Control token spellings in and around a span, which is searched in steps."""
    end = span.end + control.longest
    for first in range(max(0, span.start - control.longest), end, _STEP):
        look()
        found = control.find(text, first, min(end, first + _STEP + control.longest))
        yield from ((start, stop) for start, stop in found if start < first + _STEP)


def _with_one_bos(vocabulary: Vocabulary, tokens: list[int]) -> tuple[list[int], int]:
    """The tokens with at most one leading BOS, and by how many tokens they grew."""
    if vocabulary.bos is None:
        return tokens, 0
    n_bos = next((n for n, token in enumerate(tokens) if token != vocabulary.bos), len(tokens))
    # If the template writes BOS, the model expects it.
    wanted = [vocabulary.bos] if n_bos or vocabulary.add_bos else []
    return [*wanted, *tokens[n_bos:]], len(wanted) - n_bos
