"""Keeps a chat's token sequence and native memory equal while it reuses, feeds, evicts and renumbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from engine.cache import window
from engine.cache.checkpoints import Checkpoint, Checkpoints
from engine.cache.memory import CacheMemory, DecodeStatus, MemoryKind
from engine.cache.sequence import TokenSequence
from engine.cache.usage import CacheCounts
from engine.cache.window import Limits
from engine.errors import EngineError, ErrorCode
from engine.settings import Policy, PolicySettings
from engine.text.chat import Prompt, Turn

CHECKPOINT_DISTANCE = 64
"""Turn borders closer than this to the last checkpoint get none, unless they are the last two of a prompt."""

Interrupt = Callable[[], bool]


class RecomputeReason(StrEnum):
    """Why tokens that had been evaluated must be evaluated again."""

    NO_CHECKPOINT = "no_checkpoint"
    """The change lies before the last checkpoint of a memory that can't be rolled back."""
    EVICTED_BEFORE_CHANGE = "evicted_before_change"
    """What stands before the change has left the cache."""
    CACHE_FULL = "cache_full"
    """The policy recompute made room."""


class AppendResult(StrEnum):
    """What became of a sampled token."""

    CACHED = "cached"
    FULL = "full"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Feed:
    """What a prompt will cost: ``n_prompt`` = ``n_reused`` + ``n_skipped`` + ``n_fed``.

    ``n_recomputed`` of the fed tokens had been evaluated before; ``reason`` says why they must be again, if many must.
    """

    n_prompt: int
    n_reused: int
    n_skipped: int
    n_fed: int
    n_recomputed: int
    reason: RecomputeReason | None


class CacheManager:
    """The cells of one chat at a time.

    ``begin`` compares a prompt with the sequence and makes room, ``feed`` evaluates what is new, ``append`` adds sampled
    tokens. After each of them, and after an interruption or an error in any of them, the sequence says exactly which
    positions native memory holds.
    """

    def __init__(
        self, memory: CacheMemory, *, feed_size: int | None = None, renumber_at: int | None = None
    ) -> None:
        self._memory = memory
        self._renumber_at = renumber_at
        self._feed_size = min(feed_size or memory.n_batch, memory.n_batch)
        self._sequence = TokenSequence()
        self._turns: tuple[Turn, ...] = ()
        self._checkpoints = Checkpoints()
        self._limits = window.limits(PolicySettings(), memory.traits, ())
        self._pending: list[range] = []
        self._prompt_tokens: Sequence[int] = ()
        self._highest_position = 0
        self._reason: RecomputeReason | None = None
        self.counts = CacheCounts()

    @property
    def sequence(self) -> TokenSequence:
        return self._sequence

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the last prompt; the last one goes on to the end of the sequence."""
        return self._turns

    @property
    def limits(self) -> Limits:
        """The numbers in force since the last prompt."""
        return self._limits

    # A prompt

    def begin(self, prompt: Prompt, settings: PolicySettings) -> Feed:
        """Roll back to the prompt's prefix, make room for the rest; what feeding will cost.

        Raises EngineError(PROMPT_TOO_LONG, SETTING_INVALID) before anything has changed.
        """
        tokens = prompt.tokens
        if not tokens:
            raise EngineError(ErrorCode.PROMPT_TOO_LONG, "There is nothing to answer: write a message first.")
        limits = window.limits(settings, self._memory.traits, prompt.turns)
        window.check_room(len(tokens), limits, prompt.turns)
        if self._memory.last_position() + 1 != self._sequence.next_position:
            self._clear()
        n_same = self._sequence.common_prefix(tokens)
        self._limits, self._turns, self._prompt_tokens = limits, prompt.turns, tokens
        self._pending, self._reason, self.counts = [], None, CacheCounts()
        # At least the last token is fed, since its logits are needed.
        self._plan_feed(self._roll_back(min(n_same, len(tokens) - 1)))
        return self._as_feed(n_same)

    def _as_feed(self, n_same: int) -> Feed:
        n_prompt = len(self._prompt_tokens)
        n_fed = sum(len(part) for part in self._pending)
        n_new = n_prompt - len(self._sequence)
        n_fed_new = sum(max(0, part.stop - max(part.start, len(self._sequence))) for part in self._pending)
        n_skipped = n_new - n_fed_new
        n_recomputed = sum(max(0, min(part.stop, n_same) - part.start) for part in self._pending)
        self.counts.n_recomputed = n_recomputed if self._reason else 0
        return Feed(n_prompt, n_prompt - n_fed - n_skipped, n_skipped, n_fed, n_recomputed, self._reason)

    def _roll_back(self, n_prefix: int) -> int:
        """Forget everything from index ``n_prefix`` on, or earlier where this memory can't stop there; the new length.

        ::

            index    0 .................. n_prefix .......... len
            before   | prefix             | old text           |
            after    | prefix             |

        Sliding windows and recurrent states go back to a checkpoint at or before ``n_prefix``, without one to nothing.
        """
        sequence = self._sequence
        if n_prefix == len(sequence):
            return n_prefix
        if self._can_cut():
            self._cut(n_prefix)
            return n_prefix
        checkpoint = self._checkpoints.latest(n_prefix)
        if checkpoint is not None and self._restore(checkpoint):
            return checkpoint.index
        if n_prefix > 1:
            self._reason = RecomputeReason.NO_CHECKPOINT
        self._clear()
        return 0

    def _can_cut(self) -> bool:
        """Whether removing the tail brings the past back: not after a sliding window has moved, not for a state."""
        traits = self._memory.traits
        if traits.kind is MemoryKind.SLIDING:
            return self._highest_position <= traits.n_swa
        return traits.kind is MemoryKind.ATTENTION

    def _cut(self, length: int) -> None:
        """Free the cells from index ``length`` on."""
        first = next(self._sequence.cached_runs(length), None)
        if first is not None:
            assert first.first_position is not None
            if not self._memory.remove(first.first_position, None):
                self._fail("the tail could not be removed")
        self._sequence.truncate(length)
        self._checkpoints.drop_after(length)

    def _restore(self, checkpoint: Checkpoint) -> bool:
        memory, sequence = self._memory, self._sequence
        if not memory.restore(checkpoint.state, partial=True) or not memory.remove(checkpoint.next_position, None):
            return False
        sequence.truncate(checkpoint.index)
        for p0, p1 in checkpoint.removed:
            memory.remove(p0, p1)
        if memory.last_position() + 1 != sequence.next_position:
            return False
        self._checkpoints.drop_after(checkpoint.index)
        self._highest_position = max(self._highest_position, checkpoint.next_position)
        return True

    def _plan_feed(self, n_kept: int) -> None:
        """Decide what of the prompt is fed, in which order, and free the room for it."""
        tokens, limits, sequence = self._prompt_tokens, self._limits, self._sequence
        n_new = len(tokens) - n_kept
        has_gap = n_kept > limits.n_sink and not sequence.is_cached(n_kept - 1)
        if not has_gap and sequence.n_cached + n_new <= limits.capacity:
            self._pending = [range(n_kept, len(tokens))]
            return
        n_sinks = sum(run.length for run in sequence.cached_runs(0, limits.n_sink))
        if not has_gap and limits.policy is not Policy.RECOMPUTE and n_new <= limits.capacity - n_sinks:
            self._evict_for(n_new)
            self._pending = [range(n_kept, len(tokens))]
            return
        if has_gap:
            self._reason = RecomputeReason.EVICTED_BEFORE_CHANGE
        elif n_kept > n_sinks:
            self._reason = RecomputeReason.CACHE_FULL
        start = limits.n_sink
        if len(tokens) > limits.capacity:
            start = window.first_to_keep(len(tokens), limits, self._turns)
        self._rebuild(start, len(tokens))

    def _evict_for(self, n_new: int) -> None:
        """Free the oldest cells behind the sinks so that ``n_new`` tokens fit; positions go on."""
        cached = [(run.start, run.end) for run in self._sequence.cached_runs()]
        for start, end in window.ranges_to_evict(cached, n_new, self._limits, self._turns):
            self._free(start, end)

    def _free(self, start: int, end: int) -> None:
        """Evict the cached tokens of ``[start, end)``.

        ::

            position  0   p0 ........ p1 ........ next
            before    |    | evicted  |  kept      |
            after     |    .          |  kept      |      no position moves
        """
        for run in list(self._sequence.cached_runs(start, end)):
            assert run.first_position is not None
            if not self._memory.remove(run.first_position, run.end_position):
                self._fail("cells could not be freed")
            self._checkpoints.note_removed(run.first_position, run.end_position)
        self.counts.n_evicted += self._sequence.evict(start, end)

    def _rebuild(self, start: int, end: int) -> None:
        """Keep only the sinks and evaluate ``[start, end)`` after them, leaving out what lies between.

        ::

            index    0      n_sink          start                 end
            before   | sinks | any state    | any state            |
            after    | sinks | evicted or   | pending              |
                             | skipped      |
        """
        sequence, limits = self._sequence, self._limits
        self.counts.n_evicted += sum(run.length for run in sequence.cached_runs(limits.n_sink, start))
        if self._can_cut() and limits.n_sink:
            self._drop_cells_from(limits.n_sink)
        else:
            # A recurrent state, or window layers that lost what the sinks need: all of it anew.
            self._drop_all_cells()
        sequence.truncate(min(len(sequence), start))
        sinks = range(sum(run.length for run in sequence.cached_runs(0, limits.n_sink)), min(limits.n_sink, start))
        self._checkpoints.clear()
        self._pending = [part for part in (sinks, range(start, end)) if part]

    def _drop_cells_from(self, index: int) -> None:
        first = next(self._sequence.cached_runs(index), None)
        if first is not None:
            assert first.first_position is not None
            if not self._memory.remove(first.first_position, None):
                self._fail("cells could not be freed")
        self._sequence.evict(index, len(self._sequence))

    def _drop_all_cells(self) -> None:
        self._memory.clear()
        self._sequence.evict(0, len(self._sequence))
        self._highest_position = 0

    # Feeding

    def feed(self, interrupt: Interrupt | None = None) -> Iterator[int]:
        """Evaluate what ``begin`` planned, in batches; yields the tokens done so far after each.

        Ends early, with a true state, when ``interrupt`` says so: then ``is_fed`` is False. Raises
        EngineError(DECODE_FAILED) with an empty cache if llama.cpp fails.
        """
        n_done = 0
        while self._pending:
            part = self._pending[0]
            self._skip_to(part.start)
            batch = range(part.start, min(part.stop, part.start + self._feed_size, self._next_border(part)))
            if not self._make_positions(len(batch), interrupt):
                return
            self._checkpoint_at(batch.start)
            n_decoded, is_whole = self._decode([self._prompt_tokens[i] for i in batch], batch.start, interrupt)
            n_done += n_decoded
            rest = range(batch.start + n_decoded, part.stop)
            self._pending[:1] = [rest] if rest else []
            yield n_done
            if not is_whole:
                return

    @property
    def is_fed(self) -> bool:
        """Whether everything planned has been evaluated."""
        return not self._pending

    def _skip_to(self, index: int) -> None:
        """Let the sequence hold the tokens up to ``index`` that are not fed."""
        n_held = len(self._sequence)
        if index > n_held:
            self._sequence.append_skipped(self._prompt_tokens[n_held:index])
            self.counts.n_skipped += index - n_held

    def _decode(
        self, tokens: Sequence[int], start: int, interrupt: Interrupt | None, *, all_logits: bool = False
    ) -> tuple[int, bool]:
        """Evaluate tokens for index ``start`` and on; how many are cached now, and whether that is all."""
        sequence, position = self._sequence, self._sequence.next_position
        outcome = self._memory.decode(tokens, position, interrupt=interrupt, all_logits=all_logits)
        if outcome.status in (DecodeStatus.NO_ROOM, DecodeStatus.FAILED):
            self._fail(
                f"decode {outcome.status} of {len(tokens)} tokens at {position}, {sequence.n_cached} cached",
                decode=True,
            )
        if outcome.status is DecodeStatus.INTERRUPTED and self._is_state():
            # The interrupted micro-batch may have changed some layers' state already.
            self._go_back_to_checkpoint()
            return 0, False
        n_again = min(outcome.n_done, max(0, len(sequence) - start))
        if n_again:
            sequence.recache(start, start + n_again, position)
        sequence.append_cached(tokens[n_again : outcome.n_done], position + n_again)
        self._highest_position = max(self._highest_position, sequence.next_position)
        return outcome.n_done, outcome.status is DecodeStatus.DONE

    def _is_state(self) -> bool:
        return self._memory.traits.kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID)

    def _go_back_to_checkpoint(self) -> None:
        checkpoint = self._checkpoints.latest(len(self._sequence))
        if checkpoint is None or not self._restore(checkpoint):
            self._clear()

    # Checkpoints

    def _next_border(self, part: range) -> int:
        """The end of the next batch, if a turn border before the part's end wants a checkpoint."""
        if not self._needs_checkpoints():
            return part.stop
        borders = [turn.start for turn in self._turns if part.start < turn.start < part.stop]
        last_two = borders[-2:]
        far = [border for border in borders if border - part.start >= CHECKPOINT_DISTANCE]
        return min([*last_two, *far], default=part.stop)

    def _needs_checkpoints(self) -> bool:
        return self._memory.traits.kind is not MemoryKind.ATTENTION

    def _checkpoint_at(self, index: int) -> None:
        """Before the token at a turn's border is evaluated: copy the state there."""
        if not self._needs_checkpoints() or index != len(self._sequence) or not self._sequence.n_cached:
            return
        if any(turn.start == index for turn in self._turns):
            state = self._memory.snapshot(partial=True)
            self._checkpoints.add(Checkpoint(index, self._sequence.next_position, state))

    # Sampled tokens

    def append(self, token: int, interrupt: Interrupt | None = None) -> AppendResult:
        """Evaluate one sampled token, making room for it as the policy says."""
        return self.extend([token], interrupt)

    @property
    def n_free(self) -> int:
        """Tokens that fit before the policy has to act."""
        return self._limits.capacity - self._sequence.n_cached

    def extend(
        self, tokens: Sequence[int], interrupt: Interrupt | None = None, *, all_logits: bool = False
    ) -> AppendResult:
        """Evaluate a few tokens, at most a batch and a window of them, as if they had been sampled."""
        if len(tokens) > self.n_free:
            if self._limits.policy is Policy.STOP:
                return AppendResult.FULL
            if not self._make_room_in_answer(len(tokens), interrupt):
                return AppendResult.INTERRUPTED
        if not self._make_positions(len(tokens), interrupt):
            return AppendResult.INTERRUPTED
        _n_done, is_whole = self._decode(tokens, len(self._sequence), interrupt, all_logits=all_logits)
        return AppendResult.CACHED if is_whole else AppendResult.INTERRUPTED

    def _make_room_in_answer(self, n_new: int, interrupt: Interrupt | None) -> bool:
        """Evict a chunk, or evaluate the newest turns again; False if interrupted."""
        if self._limits.policy is not Policy.RECOMPUTE:
            self._evict_for(n_new)
            return True
        n_tokens = len(self._sequence)
        start = window.first_to_keep(n_tokens, self._limits, self._turns, keep_newest=False)
        self._prompt_tokens = self._sequence.tokens(0, n_tokens)
        self._rebuild(start, n_tokens)
        return self._feed_again(interrupt)

    def _feed_again(self, interrupt: Interrupt | None) -> bool:
        for _n_done in self.feed(interrupt):
            pass
        self.counts.n_recomputed += self._sequence.n_cached
        return self.is_fed

    # Positions

    def _make_positions(self, n_new: int, interrupt: Interrupt | None) -> bool:
        """Renumber if the next ``n_new`` positions would be too far from the sinks; False if interrupted."""
        sequence = self._sequence
        highest = self._renumber_at or window.renumber_at(self._limits, self._memory.traits)
        if sequence.next_position + n_new <= highest:
            return True
        if sequence.next_position == sequence.n_cached:
            return True
        self.counts.n_renumbered += 1
        if self._memory.traits.can_shift:
            self._shift_down()
            return True
        return self._recompute_cached(interrupt)

    def _shift_down(self) -> None:
        """Close the gaps between cached positions by one K-shift, which happens with the next decode.

        ::

            position  0   s        p0 ............ next
            before    |   | (gap)  | kept          |
            after     |   | kept          |
                      0   s               s + n
        """
        for run, delta in self._sequence.renumber():
            assert run.first_position is not None
            self._memory.shift(run.first_position, run.end_position, delta)
        self._checkpoints.clear()
        self._highest_position = self._sequence.next_position

    def _recompute_cached(self, interrupt: Interrupt | None) -> bool:
        """Evaluate every cached token again at low positions, where a K-shift is not safe."""
        runs = [range(run.start, run.end) for run in self._sequence.cached_runs()]
        if len(self._prompt_tokens) < len(self._sequence):
            self._prompt_tokens = self._sequence.tokens(0, len(self._sequence))
        still_pending = self._pending
        self._drop_all_cells()
        self._checkpoints.clear()
        self._pending = runs
        is_done = self._feed_again(interrupt)
        if is_done:
            self._pending = still_pending
        return is_done

    # All of it

    def forget(self) -> None:
        """Free every cell and forget the sequence."""
        self._clear()
        self._turns, self._prompt_tokens, self._pending = (), (), []

    def _clear(self) -> None:
        self._memory.clear()
        self._sequence = TokenSequence()
        self._checkpoints.clear()
        self._highest_position = 0

    def _fail(self, detail: str, *, decode: bool = False) -> NoReturn:
        """Leave an empty, true cache, and say what happened."""
        self._clear()
        code = ErrorCode.DECODE_FAILED if decode else ErrorCode.CACHE_INCONSISTENT
        raise EngineError(
            code,
            "llama.cpp could not evaluate this text. The chat is read again with the next message; a smaller context helps.",
            detail,
        )
