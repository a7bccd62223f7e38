"""The prefill of a chat: restores its snapshot, then evaluates the rest."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.api.chat import Prompt
from engine.api.declarations import checked
from engine.api.messages import (
    CacheChanged,
    ChatRestored,
    Event,
    Generate,
    GenerationStats,
    Notice,
    NoticeCode,
    PrefillProgress,
    RestoreChat,
)
from engine.api.sentences import Sentence, say
from engine.cache.manager import Feed, RecomputeReason
from engine.text.look import Interrupted, looking

if TYPE_CHECKING:
    from engine.worker.loaded_model import LoadedModel

USAGE_PERIOD_S = 0.05
"""At most twenty usage events a second."""
MEASURABLE_TOKENS = 32
"""The speed of reading fewer tokens than this says nothing about a longer prompt."""
RECOMPUTE_NOTICE_TOKENS = 64
"""A recompute of fewer tokens than this is not reported."""


class Reading:
    """Prefills the part of a chat that the cache does not hold, with progress events and statistics."""

    def __init__(
        self,
        loaded: LoadedModel,
        request: Generate | RestoreChat,
        emit: Callable[[Event], None],
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._loaded = loaded
        self._manager = loaded.manager
        self._request = request
        self._emit = emit
        self._is_cancelled = is_cancelled
        self._next_usage = 0.0
        self._feed = Feed(0, 0, 0, 0, 0, None)
        self._n_saved = self._n_fed = 0
        self._fed_s = 0.0

    def read(self) -> Prompt:
        """Prefill the chat's prompt; a Cancel ends it early, with correct statistics.

        Raises EngineError, and Interrupted if it was cancelled during tokenization: the cache is unchanged then.
        """
        request, manager = self._request, self._manager
        prompt = render(self._loaded, request, self._is_cancelled)
        policy = checked(request.policy)
        self._loaded.active.make_ready(request.chat_id, prompt.tokens, self._is_cancelled)
        feed = self._feed = manager.begin(prompt, policy)
        self._n_saved = min(feed.n_reused, manager.sequence.n_cached)
        self._loaded.active.take(request.chat_id)
        self._tell_progress(0)
        for notice in self._loaded.untold(prompt):
            self._emit(Notice(NoticeCode.TEMPLATE, notice.sentence, notice.code))
        if feed.reason is not None and feed.n_recomputed >= RECOMPUTE_NOTICE_TOKENS:
            self._emit(Notice(NoticeCode.CACHE, _recomputed(feed.reason, feed.n_recomputed)))
        started, n_done = time.perf_counter(), 0
        for n_done in manager.feed(self._is_cancelled):
            self._tell_progress(n_done)
            self.tell_usage()
        self._loaded.context.synchronize()
        self._fed_s = time.perf_counter() - started
        # If the prefill was cancelled, only these tokens were evaluated.
        self._n_fed = feed.n_fed if manager.is_fed else n_done
        if self._n_fed >= MEASURABLE_TOKENS:
            self._loaded.read_tps = rate_of(self._n_fed, self._fed_s)
        return prompt

    def _tell_progress(self, n_done: int) -> None:
        feed = self._feed
        n_in_cache = feed.n_prompt - feed.n_fed + n_done
        self._emit(PrefillProgress(self._request.request_id, n_in_cache, feed.n_prompt, feed.n_reused))

    def tell_usage(self, rate: Callable[[], float | None] = lambda: None, *, now: bool = False) -> None:
        """Emit CacheChanged, rate-limited unless ``now``; ``rate``: the decode speed in tokens per second."""
        clock = time.monotonic()
        if now or clock >= self._next_usage:
            self._next_usage = clock + USAGE_PERIOD_S
            self._emit(CacheChanged(self._loaded.usage(self._request.chat_id, self._feed.n_reused, rate())))

    def stats(self, seed: int = 0) -> GenerationStats:
        """The statistics up to now."""
        feed, counts, read_tps = self._feed, self._manager.counts, self._loaded.read_tps
        return GenerationStats(
            n_prompt=feed.n_prompt,
            n_reused=feed.n_reused,
            n_skipped=feed.n_skipped,
            n_fed=self._n_fed,
            n_generated=0,
            n_evicted=counts.n_evicted,
            n_recomputed=counts.n_recomputed,
            prefill_tps=rate_of(self._n_fed, self._fed_s),
            decode_tps=0.0,
            ttft_ms=None,
            seed=seed,
            read_tps=read_tps,
            reuse_saved_ms=1000 * self._n_saved / read_tps if read_tps else None,
        )


def restore(
    loaded: LoadedModel, command: RestoreChat, emit: Callable[[Event], None], is_cancelled: Callable[[], bool]
) -> None:
    """Execute RestoreChat: restore the chat's snapshot, and prefill the rest on demand. Raises EngineError."""
    stats = None
    with contextlib.suppress(Interrupted):
        if command.evaluate:
            reading = Reading(loaded, command, emit, is_cancelled)
            reading.read()
            reading.tell_usage(now=True)
            stats = reading.stats()
        else:
            prompt = render(loaded, command, is_cancelled)
            if loaded.active.open(command.chat_id, prompt, checked(command.policy), is_cancelled):
                # No prompt has reused any tokens yet.
                emit(CacheChanged(loaded.usage(command.chat_id, n_reused=0)))
    emit(ChatRestored(command.request_id, stats))


def render(loaded: LoadedModel, request: Generate | RestoreChat, is_cancelled: Callable[[], bool]) -> Prompt:
    """The prompt of a chat; raises Interrupted if it was cancelled."""
    look = looking(is_cancelled)
    look()
    return loaded.prompt(request.messages, continue_last=request.continue_last, look=look)


def rate_of(n_tokens: int, seconds: float) -> float:
    """Tokens per second; 0 if there is nothing to measure."""
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
