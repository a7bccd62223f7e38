"""The generation of one answer: prefill, decode, streamed text, statistics."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.api.chat import Prompt
from engine.api.declarations import checked
from engine.api.messages import Event, Finished, FinishReason, Generate, GenerationStats, TextGenerated, TextKind
from engine.api.settings import SEED_MAX
from engine.cache.manager import AppendResult
from engine.text.look import Interrupted
from engine.text.stream import AnswerStream, Part, PartKind
from engine.worker.backend import Sampler
from engine.worker.reading import Reading, rate_of

if TYPE_CHECKING:
    from engine.worker.loaded_model import LoadedModel

RATE_PERIOD_S = 0.5
"""How fast an answer is written is measured over so long: single tokens come unevenly."""

_TEXT_KINDS = {PartKind.ANSWER: TextKind.ANSWER, PartKind.REASONING: TextKind.REASONING}


class Answer:
    """Executes one Generate; its events end with Finished, or EngineError is raised."""

    def __init__(
        self,
        loaded: LoadedModel,
        request: Generate,
        emit: Callable[[Event], None],
        is_cancelled: Callable[[], bool],
        when_fed: Callable[[], None] = lambda: None,
    ) -> None:
        self._loaded = loaded
        self._manager = loaded.manager
        self._request = request
        self._sampling = checked(request.sampling)
        self._emit = emit
        self._is_cancelled = is_cancelled
        self._when_fed = when_fed
        self._seed = self._sampling.seed if self._sampling.seed is not None else secrets.randbelow(SEED_MAX + 1)
        self._ids: list[int] = []
        self._text: dict[TextKind, list[str]] = {kind: [] for kind in TextKind}
        self._reading = Reading(loaded, request, emit, is_cancelled)
        self._rate_since: tuple[int, float] | None = None
        self._rate_now: float | None = None
        self._first_token_at: float | None = None

    def give(self) -> None:
        """Prefill the chat and generate; raises EngineError."""
        started = time.perf_counter()
        request_id = self._request.request_id
        reading = self._reading
        try:
            prompt = reading.read()
        except Interrupted:
            # Cancelled while queued or during tokenization: the cache is unchanged.
            nothing = GenerationStats.nothing(self._seed)
            self._emit(Finished(request_id, FinishReason.CANCELLED, nothing, "", "", ()))
            return
        self._when_fed()
        reason = FinishReason.CANCELLED
        answer_started = time.perf_counter()
        if self._manager.is_fed and not self._is_cancelled():
            reason = self._generate(prompt)
        ended = time.perf_counter()
        reading.tell_usage(now=True)
        stats = replace(
            reading.stats(self._seed),
            n_generated=len(self._ids),
            decode_tps=rate_of(len(self._ids), ended - answer_started),
            ttft_ms=None if self._first_token_at is None else 1000 * (self._first_token_at - started),
        )
        is_whole = reason is not FinishReason.STOP_STRING
        self._emit(
            Finished(
                request_id,
                reason,
                stats,
                "".join(self._text[TextKind.ANSWER]),
                "".join(self._text[TextKind.REASONING]),
                tuple(self._ids) if is_whole else (),
            )
        )

    def _generate(self, prompt: Prompt) -> FinishReason:
        vocabulary = self._loaded.model.vocabulary
        stops = (*self._request.stop, *self._loaded.template.stop_strings)
        stream = AnswerStream(vocabulary, stop_strings=stops, reasoning_opened=prompt.reasoning_opened)
        sampler = self._loaded.context.sampler(self._sampling, self._seed, prompt.tokens)
        try:
            reason = self._sample(sampler, stream)
        finally:
            sampler.close()
        self._tell(stream.finish())
        return reason

    def _sample(self, sampler: Sampler, stream: AnswerStream) -> FinishReason:
        context, manager, sampling = self._loaded.context, self._manager, self._sampling
        vocabulary = self._loaded.model.vocabulary
        while True:
            token = context.sample(sampler)
            if vocabulary.is_end_of_generation(token) and not sampling.ignore_eos:
                return FinishReason.END_OF_TURN
            if self._first_token_at is None:
                self._first_token_at = time.perf_counter()
            self._ids.append(token)
            self._tell(stream.feed(token))
            if stream.stop_string is not None:
                return FinishReason.STOP_STRING
            if sampling.max_tokens is not None and len(self._ids) >= sampling.max_tokens:
                return FinishReason.MAX_TOKENS
            if self._is_cancelled():
                return FinishReason.CANCELLED
            result = manager.append(token, self._is_cancelled)
            if result is AppendResult.FULL:
                return FinishReason.CACHE_FULL
            if result is AppendResult.INTERRUPTED:
                return FinishReason.CANCELLED
            self._reading.tell_usage(self._current_rate)

    def _tell(self, parts: list[Part]) -> None:
        for part in parts:
            kind = _TEXT_KINDS.get(part.kind)
            if kind is not None:
                self._text[kind].append(part.text)
                self._emit(TextGenerated(self._request.request_id, kind, part.text))

    def _current_rate(self) -> float | None:
        """The current decode speed in tokens per second; None before there are enough tokens."""
        n_tokens, now = len(self._ids), time.perf_counter()
        since = self._rate_since
        if n_tokens == 0:
            return None
        if since is None:
            self._rate_since = (n_tokens, now)
            return None
        if now - since[1] >= RATE_PERIOD_S:
            self._rate_now = rate_of(n_tokens - since[0], now - since[1])
            self._rate_since = (n_tokens, now)
        return self._rate_now
