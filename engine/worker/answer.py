"""One answer: from a chat to streamed text, with what it cost."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.api.messages import (
    CacheChanged,
    Event,
    Finished,
    FinishReason,
    Generate,
    GenerationStats,
    Notice,
    NoticeCode,
    PrefillProgress,
    TextGenerated,
    TextKind,
)
from engine.api.sentences import Sentence, say
from engine.api.settings import SEED_MAX, checked
from engine.cache.manager import AppendResult, Feed, RecomputeReason
from engine.native.sampler import Sampler
from engine.text.look import Interrupted, looking
from engine.text.stream import AnswerStream, Part, PartKind

if TYPE_CHECKING:
    from engine.worker.loaded_model import LoadedModel

RATE_PERIOD_S = 0.5
"""How fast an answer is written is measured over so long: single tokens come unevenly."""
USAGE_PERIOD_S = 0.05
"""At most twenty usage events a second."""
MEASURABLE_TOKENS = 32
"""The speed of reading fewer tokens than this says nothing about a longer prompt."""
RECOMPUTE_NOTICE_TOKENS = 64
"""Evaluating fewer tokens again than this is not worth a word."""

_TEXT_KINDS = {PartKind.ANSWER: TextKind.ANSWER, PartKind.REASONING: TextKind.REASONING}


class Answer:
    """Answers one Generate; its events end in Finished, or in the EngineError that is raised."""

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
        self._next_usage = 0.0
        self._rate_since: tuple[int, float] | None = None
        self._rate_now: float | None = None
        self._first_token_at: float | None = None

    def give(self) -> None:
        """Feed the chat and generate; raises EngineError."""
        started = time.perf_counter()
        request_id = self._request.request_id
        look = looking(self._is_cancelled)
        try:
            look()
            prompt = self._loaded.prompt(self._request.messages, continue_last=self._request.continue_last, look=look)
        except Interrupted:
            # Stopped while it waited or became tokens: the cache stays as it is.
            nothing = GenerationStats.nothing(self._seed)
            self._emit(Finished(request_id, FinishReason.CANCELLED, nothing, "", "", ()))
            return
        policy = checked(self._request.policy)
        self._loaded.active.make_ready(self._request.chat_id, prompt.tokens, self._is_cancelled)
        feed = self._manager.begin(prompt, policy)
        n_saved = min(feed.n_reused, self._manager.sequence.n_cached)
        self._loaded.active.take(self._request.chat_id)
        self._emit(PrefillProgress(request_id, feed.n_prompt - feed.n_fed, feed.n_prompt, feed.n_reused))
        for notice in self._loaded.untold(prompt):
            self._emit(Notice(NoticeCode.TEMPLATE, notice.sentence, notice.code))
        self._tell_recompute(feed)
        feed_started = time.perf_counter()
        n_done = 0
        for n_done in self._manager.feed(self._is_cancelled):
            n_in_cache = feed.n_prompt - feed.n_fed + n_done
            self._emit(PrefillProgress(request_id, n_in_cache, feed.n_prompt, feed.n_reused))
            self._tell_usage(feed)
        self._loaded.context.synchronize()
        fed = time.perf_counter()
        self._when_fed()
        reason = FinishReason.CANCELLED
        if self._manager.is_fed and not self._is_cancelled():
            reason = self._generate(prompt.reasoning_opened, prompt.tokens, feed)
        ended = time.perf_counter()
        self._tell_usage(feed, now=True)
        counts = self._manager.counts
        # Who stopped it while the prompt was read had no more read than that.
        n_fed = feed.n_fed if self._manager.is_fed else n_done
        prefill_tps = _rate(n_fed, fed - feed_started)
        if n_fed >= MEASURABLE_TOKENS:
            self._loaded.read_tps = prefill_tps
        read_tps = self._loaded.read_tps
        stats = GenerationStats(
            n_prompt=feed.n_prompt,
            n_reused=feed.n_reused,
            n_skipped=feed.n_skipped,
            n_fed=n_fed,
            n_generated=len(self._ids),
            n_evicted=counts.n_evicted,
            n_recomputed=counts.n_recomputed,
            prefill_tps=prefill_tps,
            decode_tps=_rate(len(self._ids), ended - fed),
            ttft_ms=None if self._first_token_at is None else 1000 * (self._first_token_at - started),
            seed=self._seed,
            read_tps=read_tps,
            reuse_saved_ms=1000 * n_saved / read_tps if read_tps else None,
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

    def _generate(self, reasoning_opened: bool, prompt_tokens: tuple[int, ...], feed: Feed) -> FinishReason:
        vocabulary = self._loaded.model.vocabulary
        stops = (*self._request.stop, *self._loaded.template.stop_strings)
        stream = AnswerStream(vocabulary, stop_strings=stops, reasoning_opened=reasoning_opened)
        sampler = Sampler(self._sampling, self._seed, n_vocab=self._loaded.context.n_vocab, recent_tokens=prompt_tokens)
        try:
            reason = self._sample(sampler, stream, feed)
        finally:
            sampler.close()
        self._tell(stream.finish())
        return reason

    def _sample(self, sampler: Sampler, stream: AnswerStream, feed: Feed) -> FinishReason:
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
            self._tell_usage(feed)

    def _tell(self, parts: list[Part]) -> None:
        for part in parts:
            kind = _TEXT_KINDS.get(part.kind)
            if kind is not None:
                self._text[kind].append(part.text)
                self._emit(TextGenerated(self._request.request_id, kind, part.text))

    def _tell_recompute(self, feed: Feed) -> None:
        if feed.reason is not None and feed.n_recomputed >= RECOMPUTE_NOTICE_TOKENS:
            self._emit(Notice(NoticeCode.CACHE, _recomputed(feed.reason, feed.n_recomputed)))

    def _tell_usage(self, feed: Feed, *, now: bool = False) -> None:
        clock = time.monotonic()
        if now or clock >= self._next_usage:
            self._next_usage = clock + USAGE_PERIOD_S
            rate = None if now else self._current_rate()
            self._emit(CacheChanged(self._loaded.usage(self._request.chat_id, feed.n_reused, rate)))

    def _current_rate(self) -> float | None:
        """Tokens a second over the last moments; None before there are enough."""
        n_tokens, now = len(self._ids), time.perf_counter()
        since = self._rate_since
        if n_tokens == 0:
            return None
        if since is None:
            self._rate_since = (n_tokens, now)
            return None
        if now - since[1] >= RATE_PERIOD_S:
            self._rate_now = _rate(n_tokens - since[0], now - since[1])
            self._rate_since = (n_tokens, now)
        return self._rate_now


def _rate(n_tokens: int, seconds: float) -> float:
    return n_tokens / seconds if n_tokens and seconds > 0 else 0.0


def _recomputed(reason: RecomputeReason, n_tokens: int) -> Sentence:
    return {
        RecomputeReason.NO_CHECKPOINT: say(
            "This model can't go back to the change alone, so {0} tokens are read again.", n_tokens
        ),
        RecomputeReason.EVICTED_BEFORE_CHANGE: say(
            "What stands before the change had left, so {0} tokens are read again.", n_tokens
        ),
        RecomputeReason.CACHE_FULL: say(
            "The cache was full: the oldest turns were dropped and {0} tokens are read again.", n_tokens
        ),
    }[reason]
