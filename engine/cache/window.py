"""The eviction policy as pure functions of limits and turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.api.chat import PromptTurn
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import Sentence, say
from engine.api.settings import Align, Policy, PolicySettings
from engine.cache.memory import MemoryKind, MemoryTraits

EVICT_SHARE = 8
"""By default an eviction frees one part in this many of the window."""
RECOMPUTE_SHARE = 2
"""By default a recompute drops half of the window, since it costs as much as it keeps."""


@dataclass(frozen=True)
class Limits:
    """The cache policy with every number resolved, in tokens.

    ``n_sink`` first tokens stay for good (the system prompt among them if it is kept); beside them ``n_window`` most
    recent ones, of which an eviction frees ``n_evict`` or more at a time. ``n_spare`` cells are left unused, because
    the window was set smaller than it could be.
    """

    policy: Policy
    n_sink: int
    n_window: int
    n_evict: int
    align: Align
    n_spare: int = 0

    @property
    def capacity(self) -> int:
        """The most tokens that may be cached."""
        return self.n_sink + self.n_window

    @property
    def n_kept(self) -> int:
        """Window tokens that remain right after an eviction."""
        return self.n_window - self.n_evict


_MEMORY_WORDS = {
    MemoryKind.ATTENTION: say("attention"),
    MemoryKind.SLIDING: say("sliding"),
    MemoryKind.RECURRENT: say("recurrent"),
    MemoryKind.HYBRID: say("hybrid"),
}


def allowed_policies(kind: MemoryKind) -> tuple[Policy, ...]:
    """The policies that a kind of memory supports, the default first.

    Nothing can be evicted from a recurrent state; tokens can only be left out of a recompute.
    """
    if kind in (MemoryKind.RECURRENT, MemoryKind.HYBRID):
        return (Policy.RECOMPUTE, Policy.STOP)
    return (Policy.SINKS, Policy.WINDOW, Policy.RECOMPUTE, Policy.STOP)


def unfit_policy(policy: Policy, kind: MemoryKind) -> EngineError:
    """The error for a policy that a kind of memory doesn't support."""
    return _invalid(
        say(
            "This model's memory is {0}, so tokens can't be taken out of it: choose recompute or stop instead of {1}.",
            _MEMORY_WORDS[kind],
            Sentence(policy),
        )
    )


def check_policy(settings: PolicySettings, kind: MemoryKind, n_cells: int) -> None:
    """Raise EngineError(SETTING_INVALID), with advice, for a policy that can't work in ``n_cells`` cells."""
    policy = settings.policy or allowed_policies(kind)[0]
    if policy not in allowed_policies(kind):
        raise unfit_policy(policy, kind)
    if policy is Policy.STOP:
        return
    n_sink = settings.n_sink if policy is Policy.SINKS else 0
    n_window = n_cells - n_sink if settings.n_window is None else settings.n_window
    if n_sink + n_window > n_cells or n_window < 2:
        raise _invalid(
            say(
                "{0} sinks and a window of {1} need {2} cells, and there are {3}: make them smaller or the "
                "context window larger.",
                n_sink,
                n_window,
                n_sink + max(n_window, 2),
                n_cells,
            )
        )
    if settings.n_evict is not None and settings.n_evict >= n_window:
        raise _invalid(
            say(
                "An eviction of {0} tokens would empty the window of {1}: choose at most {2}.",
                settings.n_evict,
                n_window,
                n_window - 1,
            )
        )


def _invalid(sentence: Sentence) -> EngineError:
    return EngineError(ErrorCode.SETTING_INVALID, sentence)


def limits(settings: PolicySettings, traits: MemoryTraits, turns: Sequence[PromptTurn]) -> Limits:
    """Resolve the policy's numbers for a chat; raises EngineError if its system prompt leaves no room."""
    n_room = min(traits.n_cells, traits.n_positions)
    check_policy(settings, traits.kind, n_room)
    policy = settings.policy or allowed_policies(traits.kind)[0]
    if policy is Policy.STOP:
        return Limits(policy, 0, n_room, 1, settings.align)
    n_sink = settings.n_sink if policy is Policy.SINKS else 0
    if settings.keep_system:
        n_sink = max(n_sink, _n_system(turns))
    n_window = n_room - n_sink
    if settings.n_window is not None:
        n_window = min(n_window, settings.n_window)
    if settings.align is Align.TURN and policy is Policy.SINKS:
        n_sink, n_window = _sinks_as_turns(n_sink, n_window, turns)
    if n_window < 2 or n_window < (settings.n_evict or 0) + 1:
        raise EngineError(
            ErrorCode.PROMPT_TOO_LONG,
            say(
                "The system prompt takes {0} of {1} cells, which leaves no room for a window: shorten it, "
                "enlarge the context window, or let the system prompt be evicted.",
                n_sink,
                n_room,
            ),
        )
    share = RECOMPUTE_SHARE if policy is Policy.RECOMPUTE else EVICT_SHARE
    n_evict = settings.n_evict or max(1, n_window // share)
    return Limits(policy, n_sink, n_window, n_evict, settings.align, n_room - n_sink - n_window)


def _n_system(turns: Sequence[PromptTurn]) -> int:
    """The token index at which the system prompt ends; 0 if the chat doesn't begin with one."""
    return turns[0].end if turns and turns[0].role == "system" else 0


def _sinks_as_turns(n_sink: int, n_window: int, turns: Sequence[PromptTurn]) -> tuple[int, int]:
    """Extend sinks that end inside a finished turn to its end, if that costs at most half of the window."""
    for turn in turns[:-1]:
        if turn.start < n_sink < turn.end and turn.end - n_sink <= n_window // 2:
            return turn.end, n_window - (turn.end - n_sink)
    return n_sink, n_window


def ranges_to_evict(
    cached: Iterable[tuple[int, int]], n_new: int, limits: Limits, turns: Sequence[PromptTurn]
) -> tuple[tuple[int, int], ...]:
    """The oldest cached index ranges behind the sinks that must be evicted so that ``n_new`` more tokens fit.

    ::

        index    0      n_sink                                  end
        before   | sinks  | oldest        | newest               |
        after    | sinks  | n_evict freed | n_window - n_evict   | n_new fit
                                          ^ moved on to a turn's end with align = turn

    ``cached``: half-open index ranges in order. The result is empty if there is room already; otherwise it has at least
    ``n_evict`` tokens, up to all that are not sinks.
    """
    ranges = list(cached)
    n_excess = sum(end - start for start, end in ranges) + n_new - limits.capacity
    if n_excess <= 0:
        return ()
    behind_sinks = [(max(start, limits.n_sink), end) for start, end in ranges if end > limits.n_sink]
    n_wanted, stop = max(n_excess, limits.n_evict), limits.n_sink
    for start, end in behind_sinks:
        if n_wanted > 0:
            stop = min(end, start + n_wanted)
            n_wanted -= stop - start
    if limits.align is Align.TURN:
        stop = _turn_end(stop, turns)
    return tuple((start, min(end, stop)) for start, end in behind_sinks if start < stop)


def _turn_end(index: int, turns: Sequence[PromptTurn]) -> int:
    """``index``, or the end of the finished turn that contains it. The last turn is never finished."""
    return next((turn.end for turn in turns[:-1] if turn.start < index < turn.end), index)


def check_room(n_tokens: int, limits: Limits, turns: Sequence[PromptTurn]) -> None:
    """Raise EngineError(PROMPT_TOO_LONG) for a prompt that can't be fed under these limits."""
    if n_tokens <= limits.capacity:
        return
    if limits.policy is Policy.STOP:
        n_needed = _n_system(turns) + n_tokens - (newest_message_start(turns) or 0)
        raise too_long(n_tokens, limits, fits_without_older=n_needed <= limits.capacity)
    first_to_keep(n_tokens, limits, turns)


def first_to_keep(n_tokens: int, limits: Limits, turns: Sequence[PromptTurn], *, keep_newest: bool = True) -> int:
    """The index from which a too long chat is fed (after its sinks).

    ``n_kept`` tokens are kept, from the next turn's start on with align = turn or the policy recompute. With
    ``keep_newest`` the newest message stays whole; raises EngineError(PROMPT_TOO_LONG) if that alone has no room.
    """
    start = max(limits.n_sink, n_tokens - limits.n_kept)
    if limits.align is Align.TURN or limits.policy is Policy.RECOMPUTE:
        start = next((turn.start for turn in turns if turn.start >= start and turn.end > turn.start), start)
    newest = newest_message_start(turns) if keep_newest else None
    if newest is None or newest >= start:
        return start
    n_newest = n_tokens - max(newest, limits.n_sink)
    if n_newest > limits.n_window:
        raise too_long(n_newest, limits, fits_without_older=False)
    return max(newest, limits.n_sink)


def newest_message_start(turns: Sequence[PromptTurn]) -> int | None:
    """The index at which the user message to be answered begins; None if an answer is being continued."""
    with_message = [turn for turn in turns if turn.message_index is not None]
    return with_message[-1].start if with_message and with_message[-1].role == "user" else None


def too_long(n_tokens: int, limits: Limits, *, fits_without_older: bool) -> EngineError:
    """The error for a prompt that can't fit: by how many tokens, and what to do.

    ``n_tokens``: of the newest message, or of the whole chat if the policy evicts nothing. ``fits_without_older``: the
    chat would fit without its older messages.
    """
    n_room = limits.capacity if limits.policy is Policy.STOP else limits.n_window
    n_excess = n_tokens - n_room
    if limits.n_spare > 0:
        message = say(
            "This is too long by {0} tokens: it has {1} and there is room for {2}. Shorten it, or make the "
            "window larger.",
            n_excess,
            n_tokens,
            n_room,
        )
    elif fits_without_older:
        message = say(
            "This chat is too long by {0} tokens: it has {1} and there is room for {2}. Load the model with "
            "a larger context window, or choose a policy that lets old turns go.",
            n_excess,
            n_tokens,
            n_room,
        )
    else:
        message = say(
            "This is too long by {0} tokens: it has {1} and there is room for {2}. Shorten it, or load the "
            "model with a larger context window.",
            n_excess,
            n_tokens,
            n_room,
        )
    return EngineError(ErrorCode.PROMPT_TOO_LONG, message, f"n_tokens={n_tokens} n_room={n_room}")


def renumber_at(limits: Limits, traits: MemoryTraits) -> int:
    """The position before which everything kept is renumbered.

    Half of the trained length: sinks further away than that were measured to cost 1.5 to 2 % of perplexity, nearer ones
    nothing. A cache nearly as large as the trained length gets at least a few evictions between two renumberings.
    """
    wanted = max(traits.n_positions // 2, limits.capacity + 4 * limits.n_evict)
    return min(traits.n_positions, wanted)
