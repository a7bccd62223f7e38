"""The cache manager: decides by the policy which tokens of a chat are reused, fed, evicted or renumbered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.api.chat import Prompt, PromptTurn
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.api.settings import Policy, PolicySettings
from engine.cache import window
from engine.cache.cells import Cells, Interrupt
from engine.cache.memory import CacheMemory, StateBytes
from engine.cache.sequence import TokenSequence
from engine.cache.snapshot import Snapshot
from engine.cache.usage import CacheCounts
from engine.cache.window import Limits

CHECKPOINT_DISTANCE = 64
"""PromptTurn borders closer than this to the last checkpoint get none, unless they are the last two of a prompt."""
BATCH_AFTER_SHIFT = 32
"""Tokens decoded together with a K-shift, which must not be interrupted: few, so that a Stop is not kept waiting."""


class RecomputeReason(StrEnum):
    """Why a recompute is needed."""

    NO_CHECKPOINT = "no_checkpoint"
    """The change lies before the last checkpoint of a memory that can't be rolled back."""
    EVICTED_BEFORE_CHANGE = "evicted_before_change"
    """Tokens before the change have been evicted."""
    CACHE_FULL = "cache_full"
    """The policy recompute made room."""


class AppendResult(StrEnum):
    """What happened to appended tokens."""

    CACHED = "cached"
    FULL = "full"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Feed:
    """The cost of a prompt in tokens: ``n_prompt`` = ``n_reused`` + ``n_skipped`` + ``n_fed``.

    ``n_reused`` tokens were in the sequence, evicted ones among them, and need not be fed. ``n_recomputed`` of the fed
    tokens had been evaluated before; ``reason`` says why, where more than a checkpoint's distance must be again.
    """

    n_prompt: int
    n_reused: int
    n_skipped: int
    n_fed: int
    n_recomputed: int
    reason: RecomputeReason | None


class CacheManager:
    """The cells of one chat at a time.

    ``begin`` compares a prompt with the sequence and makes room, ``feed`` evaluates what is new, ``append`` adds
    sampled tokens. After each of them, and after an interruption or an error in any of them, the sequence says exactly
    which positions native memory holds.

    ``feed_size``: the most tokens evaluated between two checks of ``interrupt``. ``renumber_at``: the position before
    which kept tokens are renumbered, by default a measured distance.
    """

    def __init__(self, memory: CacheMemory, *, feed_size: int | None = None, renumber_at: int | None = None) -> None:
        self._wanted_renumber_at = renumber_at
        self._feed_size = min(feed_size or memory.n_batch, memory.n_batch)
        self._cells = Cells(memory)
        self._turns: tuple[PromptTurn, ...] = ()
        self._set_limits(window.limits(PolicySettings(), memory.traits, ()))
        self._pending: list[range] = []
        self._tokens: Sequence[int] = ()
        self._reason: RecomputeReason | None = None
        self.counts = CacheCounts()

    @property
    def sequence(self) -> TokenSequence:
        return self._cells.sequence

    @property
    def turns(self) -> tuple[PromptTurn, ...]:
        """The turns of the last prompt; the last one goes on to the end of the sequence."""
        return self._turns

    @property
    def limits(self) -> Limits:
        """The policy's limits, as resolved for the last prompt."""
        return self._limits

    @property
    def n_free(self) -> int:
        """Tokens that fit before the policy has to act."""
        return self._limits.capacity - self.sequence.n_cached

    def _set_limits(self, limits: Limits) -> None:
        self._limits = limits
        self._renumber_at = self._wanted_renumber_at or window.renumber_at(limits, self._cells.traits)

    # A prompt

    def begin(self, prompt: Prompt, settings: PolicySettings) -> Feed:
        """Roll back to the prompt's prefix and make room for the rest; returns what feeding will cost.

        Raises EngineError(PROMPT_TOO_LONG, SETTING_INVALID) before anything has changed.
        """
        tokens = prompt.tokens
        if not tokens:
            raise EngineError(ErrorCode.PROMPT_TOO_LONG, say("There is nothing to answer: write a message first."))
        limits = window.limits(settings, self._cells.traits, prompt.turns)
        window.check_room(len(tokens), limits, prompt.turns)
        if not self._cells.is_equal:
            self._cells.clear()
        n_same = self.sequence.common_prefix(tokens)
        self._set_limits(limits)
        self._turns, self._tokens, self._reason, self.counts = prompt.turns, tokens, None, CacheCounts()
        # At least the last token is fed, since its logits are needed.
        n_prefix = min(n_same, len(tokens) - 1)
        n_kept = self._cells.roll_back(n_prefix)
        if n_kept == 0 and n_prefix > 1:
            self._reason = RecomputeReason.NO_CHECKPOINT
        self._plan_feed(n_kept)
        return self._as_feed(n_same)

    def settle(self, prompt: Prompt, settings: PolicySettings) -> None:
        """Keep the cached prefix of a prompt with its turns, and drop the rest; nothing is fed."""
        self._set_limits(window.limits(settings, self._cells.traits, prompt.turns))
        self._turns, self._tokens, self._reason, self.counts = prompt.turns, prompt.tokens, None, CacheCounts()
        self._pending = []
        self._cells.roll_back(self.sequence.common_prefix(prompt.tokens))

    def _as_feed(self, n_same: int) -> Feed:
        n_prompt, n_held = len(self._tokens), len(self.sequence)
        n_fed = sum(len(part) for part in self._pending)
        n_fed_new = sum(max(0, part.stop - max(part.start, n_held)) for part in self._pending)
        n_skipped = n_prompt - n_held - n_fed_new
        n_recomputed = sum(max(0, min(part.stop, n_same) - part.start) for part in self._pending)
        if not n_recomputed:
            self._reason = None
        self.counts.n_recomputed = n_recomputed if self._reason else 0
        return Feed(n_prompt, n_prompt - n_fed - n_skipped, n_skipped, n_fed, n_recomputed, self._reason)

    def _plan_feed(self, n_kept: int) -> None:
        """Decide which tokens of the prompt are fed, in which order, and make room for them."""
        n_tokens, limits, sequence = len(self._tokens), self._limits, self.sequence
        n_new = n_tokens - n_kept
        is_whole = not self._has_lost_before(n_kept)
        n_sinks = sum(run.length for run in sequence.cached_runs(0, limits.n_sink))
        if is_whole and limits.policy is not Policy.RECOMPUTE and self.n_free < n_new <= limits.capacity - n_sinks:
            self._evict_for(n_new)
            # A large eviction may have taken the beginning of the newest message.
            is_whole = not self._has_lost_before(n_kept)
        if is_whole and n_new <= self.n_free:
            self._pending = [range(n_kept, n_tokens)]
            return
        if not is_whole:
            self._reason = RecomputeReason.EVICTED_BEFORE_CHANGE
        elif n_kept > n_sinks:
            self._reason = RecomputeReason.CACHE_FULL
        start = min(limits.n_sink, n_tokens)
        if n_tokens > limits.capacity:
            start = window.first_to_keep(n_tokens, limits, self._turns)
        self._rebuild(start, n_tokens)

    def _has_lost_before(self, n_kept: int) -> bool:
        """Whether tokens that an answer needs have left the cache.

        These are the sinks, the newest message (unless it alone is longer than the window), and the token right before
        the fed ones.
        """
        sequence, limits = self.sequence, self._limits
        n_sinks = min(n_kept, limits.n_sink)
        start = max(n_sinks, n_kept - 1)
        newest = window.newest_message_start(self._turns)
        if newest is not None and len(self._tokens) - max(newest, limits.n_sink) <= limits.n_window:
            start = max(n_sinks, min(start, newest))
        return not (sequence.is_cached(0, n_sinks) and sequence.is_cached(start, n_kept))

    def _evict_for(self, n_new: int) -> None:
        """Free the oldest cells behind the sinks so that ``n_new`` tokens fit; positions go on."""
        cached = [(run.start, run.end) for run in self.sequence.cached_runs()]
        for start, end in window.ranges_to_evict(cached, n_new, self._limits, self._turns):
            self.counts.n_evicted += self._cells.evict(start, end)

    def _rebuild(self, start: int, end: int) -> None:
        """Keep only the sinks and evaluate ``[start, end)`` after them, leaving out what lies between.

        ::

            index    0      n_sink          start                 end
            before   | sinks | any state    | any state            |
            after    | sinks | evicted or   | pending              |
                             | skipped      |

        Sinks that are not cached, or can't be kept alone, become pending too.
        """
        n_sink = min(self._limits.n_sink, start)
        self.counts.n_evicted += sum(run.length for run in self.sequence.cached_runs(n_sink, start))
        n_ready = self._cells.keep_only_first(n_sink)
        self._cells.truncate(start)
        self._pending = [part for part in (range(n_ready, n_sink), range(start, end)) if part]

    # Feeding

    def feed(self, interrupt: Interrupt | None = None) -> Iterator[int]:
        """Prefill what ``begin`` planned, in batches; yields the number of tokens done after each.

        Ends early, in a consistent state, when ``interrupt`` returns True; ``is_fed`` is then False, and another call
        resumes.
        Raises EngineError(DECODE_FAILED) with an empty cache if llama.cpp fails.
        """
        n_done = 0
        while self._pending:
            # Checked here as well as inside a decode, which can't be interrupted on a GPU.
            if interrupt is not None and interrupt():
                return
            part = self._pending[0]
            self._skip_to(part.start)
            size = min(len(part), self._feed_size)
            if not self._make_positions(size, interrupt):
                return
            if self._cells.is_shift_pending:
                size = min(size, BATCH_AFTER_SHIFT)
            batch = range(part.start, min(part.start + size, self._next_border(part)))
            if self._is_border(batch.start):
                self._cells.add_checkpoint()
            is_whole = self._cells.decode([self._tokens[i] for i in batch], batch.start, interrupt)
            n_decoded = self._take_done(part, batch)
            n_done += n_decoded
            yield n_done
            if not is_whole:
                return

    def _take_done(self, part: range, batch: range) -> int:
        """Remove the tokens that a batch evaluated from the pending ones; returns their number."""
        sequence = self.sequence
        if len(sequence) < batch.start:
            # A recurrent state was restored to its last checkpoint.
            self._plan_feed(len(sequence))
            return 0
        done = next(sequence.cached_runs(batch.start, batch.stop), None)
        n_done = 0 if done is None else done.length
        rest = range(batch.start + n_done, part.stop)
        self._pending[:1] = [rest] if rest else []
        return n_done

    @property
    def is_fed(self) -> bool:
        """Whether everything planned has been evaluated."""
        return not self._pending

    def _skip_to(self, index: int) -> None:
        """Append the tokens up to ``index`` to the sequence as skipped."""
        n_held = len(self.sequence)
        if index > n_held:
            self._cells.skip(self._tokens[n_held:index])
            self.counts.n_skipped += index - n_held

    # Checkpoints

    def _next_border(self, part: range) -> int:
        """The index at which the next batch must end at the latest, so that a checkpoint can be taken there."""
        if not self._cells.needs_checkpoints:
            return part.stop
        borders = [turn.start for turn in self._turns if part.start < turn.start < part.stop]
        far = [border for border in borders if border - part.start >= CHECKPOINT_DISTANCE]
        return min([*borders[-2:], *far], default=part.stop)

    def _is_border(self, index: int) -> bool:
        """Whether a checkpoint should be taken before the token at ``index``, the next one of the sequence."""
        if not self._cells.needs_checkpoints or index != len(self.sequence):
            return False
        return any(turn.start == index for turn in self._turns)

    # Sampled tokens

    def append(self, token: int, interrupt: Interrupt | None = None) -> AppendResult:
        """Decode one sampled token, making room for it as the policy says.

        After an interruption while making room, append the token again. An interruption of the decode itself restores a
        recurrent state to its last checkpoint; continue with ``begin``.
        """
        return self.extend([token], interrupt)

    def extend(
        self, tokens: Sequence[int], interrupt: Interrupt | None = None, *, all_logits: bool = False
    ) -> AppendResult:
        """Decode a batch of tokens as if they had been sampled: at most the larger of ``n_free`` and ``n_evict``."""
        if self._pending and not self._feed_again(interrupt):
            return AppendResult.INTERRUPTED
        if len(tokens) > self.n_free:
            if self._limits.policy is Policy.STOP:
                return AppendResult.FULL
            if not self._make_room_in_answer(len(tokens), interrupt):
                return AppendResult.INTERRUPTED
        if not self._has_positions(len(tokens)):
            self._make_recompute_worthwhile()
        if not self._make_positions(len(tokens), interrupt):
            return AppendResult.INTERRUPTED
        is_whole = self._cells.decode(tokens, len(self.sequence), interrupt, all_logits=all_logits)
        return AppendResult.CACHED if is_whole else AppendResult.INTERRUPTED

    def _make_room_in_answer(self, n_new: int, interrupt: Interrupt | None) -> bool:
        """Evict ``n_evict`` tokens, or recompute the newest turns; False if interrupted."""
        if n_new > self._limits.n_evict:
            raise ValueError(f"{n_new} tokens at once are more than the {self._limits.n_evict} that an eviction frees")
        if self._limits.policy is not Policy.RECOMPUTE:
            self._evict_for(n_new)
            return True
        n_tokens = len(self.sequence)
        start = window.first_to_keep(n_tokens, self._limits, self._turns, keep_newest=False)
        self._tokens = self.sequence.tokens(0, n_tokens)
        self._rebuild(start, n_tokens)
        return self._feed_again(interrupt)

    def _feed_again(self, interrupt: Interrupt | None) -> bool:
        self.counts.n_recomputed += max(self.feed(interrupt), default=0)
        return self.is_fed

    # Positions

    def renumber(self, interrupt: Interrupt | None = None) -> bool:
        """Give all cached tokens the positions 0, 1, 2, …, by a K-shift or a recompute; False if interrupted."""
        if self.sequence.next_position == self.sequence.n_cached:
            return True
        self.counts.n_renumbered += 1
        if self._cells.can_shift:
            self._cells.shift_down()
            return True
        return self._recompute_cached(interrupt)

    def _make_positions(self, n_new: int, interrupt: Interrupt | None) -> bool:
        """Renumber if the next ``n_new`` positions would be too far from the sinks; False if interrupted."""
        return self._has_positions(n_new) or self.renumber(interrupt)

    def _has_positions(self, n_new: int) -> bool:
        return self.sequence.next_position + n_new <= self._renumber_at

    def _make_recompute_worthwhile(self) -> None:
        """Evict more tokens before a renumbering that has to recompute the kept ones.

        A cache as long as the trained length has no spare positions: each eviction would recompute all of it.
        """
        if self._cells.can_shift or self._limits.policy not in (Policy.SINKS, Policy.WINDOW):
            return
        n_until_next = self._limits.n_window // window.EVICT_SHARE
        self._evict_for(n_until_next - (self._renumber_at - self._limits.capacity))

    def _recompute_cached(self, interrupt: Interrupt | None) -> bool:
        """Evaluate every cached token again at low positions, because a K-shift is not safe."""
        still_pending = self._pending
        if len(self._tokens) < len(self.sequence):
            self._tokens = self.sequence.tokens(0, len(self.sequence))
        self._pending = [range(run.start, run.end) for run in self.sequence.cached_runs()]
        self._cells.keep_only_first(0)
        is_done = self._feed_again(interrupt)
        self._pending = [*self._pending, *still_pending]
        return is_done

    # Snapshots

    def n_usable(self, tokens: Sequence[int]) -> int:
        """How many cells a prompt of ``tokens`` would reuse."""
        return self._cells.outline.n_usable(tokens, self._cells.traits)

    def snapshot(self, room: StateBytes | None = None) -> Snapshot | None:
        """A copy of the cached state; None if the cache is empty or can't be copied now.

        ``room``: an obsolete state whose memory the copy may reuse; untouched if the result is None.
        """
        return self._cells.snapshot(room)

    def restore(self, snapshot: Snapshot) -> bool:
        """Restore a snapshot; False, with an empty cache, if llama.cpp refuses it."""
        self._turns, self._tokens, self._pending = (), (), []
        return self._cells.restore(snapshot)

    def forget(self) -> None:
        """Free every cell and forget the sequence."""
        self._cells.clear()
        self._turns, self._tokens, self._pending = (), (), []
