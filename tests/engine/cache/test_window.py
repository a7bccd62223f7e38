"""What stays and what goes: the numbers behind each policy, and what they promise."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

from engine.api.chat import PromptTurn, Role
from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import Align, Policy, PolicySettings
from engine.cache import window
from engine.cache.memory import MemoryKind, MemoryTraits
from engine.cache.window import Limits
from tests.engine.cache.chats import long_chat

ATTENTION = MemoryTraits(MemoryKind.ATTENTION, 512, 0, can_shift=True, n_positions=8192)
STATE = MemoryTraits(MemoryKind.RECURRENT, 512, 0, can_shift=False, n_positions=8192)
SYSTEM = long_chat(1, system=20).prompt().turns


def turns_of(lengths: list[int]) -> tuple[PromptTurn, ...]:
    borders = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    return tuple(PromptTurn(start, end, "user", index) for index, (start, end) in enumerate(pairwise(borders)))


def test_the_default_is_four_sinks_and_all_the_room():
    limits = window.limits(PolicySettings(), ATTENTION, ())
    assert limits == Limits(Policy.SINKS, 4, 508, 63, Align.TOKEN)
    assert (limits.capacity, limits.n_kept) == (512, 445)


def test_a_state_reads_again_by_default():
    assert window.limits(PolicySettings(), STATE, ()).policy is Policy.RECOMPUTE


@pytest.mark.parametrize(
    ("settings", "n_sink", "n_window"),
    [
        (PolicySettings(), 23, 489),
        (PolicySettings(keep_system=False), 4, 508),
        (PolicySettings(policy=Policy.WINDOW), 23, 489),
        (PolicySettings(policy=Policy.WINDOW, keep_system=False), 0, 512),
        (PolicySettings(n_sink=100), 100, 412),
        (PolicySettings(n_window=50), 23, 50),
        (PolicySettings(policy=Policy.RECOMPUTE), 23, 489),
        (PolicySettings(policy=Policy.STOP), 0, 512),
    ],
)
def test_the_system_prompt_counts_as_sinks(settings: PolicySettings, n_sink: int, n_window: int):
    limits = window.limits(settings, ATTENTION, SYSTEM)
    assert (limits.n_sink, limits.n_window) == (n_sink, n_window)


@pytest.mark.parametrize(
    ("settings", "traits"),
    [
        (PolicySettings(policy=Policy.SINKS), STATE),
        (PolicySettings(policy=Policy.WINDOW), STATE),
        (PolicySettings(n_sink=512), ATTENTION),
        (PolicySettings(n_sink=4, n_window=509), ATTENTION),
        (PolicySettings(n_window=20, n_evict=20), ATTENTION),
        (PolicySettings(n_evict=508), ATTENTION),
    ],
)
def test_what_can_not_work_is_refused_with_a_way_out(settings: PolicySettings, traits: MemoryTraits):
    with pytest.raises(EngineError, match=r"choose|make") as refused:
        window.limits(settings, traits, ())
    assert refused.value.code is ErrorCode.SETTING_INVALID


def test_a_system_prompt_without_room_beside_it_is_refused():
    turns = (PromptTurn(0, 511, "system", 0), PromptTurn(511, 520, "user", 1))
    with pytest.raises(EngineError, match="system prompt takes 511") as refused:
        window.limits(PolicySettings(), ATTENTION, turns)
    assert refused.value.code is ErrorCode.PROMPT_TOO_LONG
    assert window.limits(PolicySettings(keep_system=False), ATTENTION, turns).n_sink == 4


def test_a_message_that_is_too_long_is_refused_by_how_much():
    turns = (PromptTurn(0, 600, "user", 0), PromptTurn(600, 603, "assistant", None))
    with pytest.raises(EngineError, match="too long by 91 tokens") as refused:
        window.check_room(603, window.limits(PolicySettings(), ATTENTION, turns), turns)
    assert refused.value.code is ErrorCode.PROMPT_TOO_LONG


@pytest.mark.parametrize(
    ("settings", "words", "starts"),
    [
        (PolicySettings(), "Shorten it, or load the model with a larger context window", (0,)),
        (PolicySettings(n_window=64), "Shorten it, or make the window larger", (0,)),
        (PolicySettings(policy=Policy.STOP), "Shorten it, or load the model with a larger context window", (0,)),
        (PolicySettings(policy=Policy.STOP), "or choose a policy that lets old turns go", (0, 300, 400)),
        # The newest message and the system prompt, which stays, are too long by themselves.
        (PolicySettings(policy=Policy.STOP), "Shorten it, or load the model with a larger context window", (0, 50, 60)),
    ],
)
def test_what_is_too_long_names_what_would_help(settings: PolicySettings, words: str, starts: tuple[int, ...]):
    roles: tuple[Role, ...] = ("system", "assistant", "user") if len(starts) > 1 else ("user",)
    messages = [
        PromptTurn(a, b, role, n) for n, (a, b, role) in enumerate(zip(starts, (*starts[1:], 600), roles, strict=True))
    ]
    turns = (*messages, PromptTurn(600, 603, "assistant", None))
    with pytest.raises(EngineError, match=words):
        window.check_room(603, window.limits(settings, ATTENTION, turns), turns)


def test_one_token_more_frees_a_whole_chunk():
    limits = Limits(Policy.SINKS, 4, 60, 20, Align.TOKEN)
    assert window.ranges_to_evict([(0, 64)], 1, limits, ()) == ((4, 24),)
    assert window.ranges_to_evict([(0, 4), (24, 84)], 1, limits, ()) == ((24, 44),)
    assert window.ranges_to_evict([(0, 63)], 1, limits, ()) == ()


def test_whole_turns_go_and_of_the_one_being_written_tokens():
    limits, turns = Limits(Policy.SINKS, 4, 60, 20, Align.TURN), turns_of([10, 30, 24])
    assert window.ranges_to_evict([(0, 64)], 1, limits, turns) == ((4, 40),)
    assert window.ranges_to_evict([(0, 4), (40, 100)], 1, limits, turns) == ((40, 60),)


RANGES = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 12)), min_size=1, max_size=5)


@given(
    gaps=RANGES,
    n_sink=st.integers(0, 10),
    n_window=st.integers(2, 40),
    n_evict=st.integers(1, 39),
    n_new=st.integers(1, 20),
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    align=st.sampled_from(Align),
)
def test_evictions(gaps, n_sink, n_window, n_evict, n_new, lengths, align):
    assume(n_evict < n_window)
    limits, turns = Limits(Policy.SINKS, n_sink, n_window, n_evict, align), turns_of(lengths)
    cached, index = [], 0
    for gap, length in gaps:
        start = index + (gap if cached else 0)
        cached.append((start, start + length))
        index = start + length
    n_cached = sum(end - start for start, end in cached)
    before = {i for start, end in cached for i in range(start, end)}
    freed = {i for start, end in window.ranges_to_evict(cached, n_new, limits, turns) for i in range(start, end)}
    behind = {i for i in before if i >= n_sink}
    assert freed <= behind, "sinks stay, and only what is cached goes"
    if n_cached + n_new <= limits.capacity:
        assert not freed
        return
    n_wanted = max(n_cached + n_new - limits.capacity, n_evict)
    assert len(freed) >= min(n_wanted, len(behind))
    assert all(i < j for i in freed for j in behind - freed), "the oldest go"
    if align is Align.TOKEN:
        assert len(freed) == min(n_wanted, len(behind))
    else:
        n_longest = max(turn.end - turn.start for turn in turns)
        assert len(freed) < n_wanted + n_longest
        for turn in turns[:-1]:
            part = {i for i in range(turn.start, turn.end) if i in behind}
            assert not (part & freed) or part <= freed, "no finished turn is cut in half"


@given(
    lengths=st.lists(st.integers(1, 30), min_size=2, max_size=12),
    n_sink=st.integers(0, 10),
    n_window=st.integers(2, 60),
    n_evict=st.integers(1, 59),
    policy=st.sampled_from([Policy.SINKS, Policy.WINDOW, Policy.RECOMPUTE]),
    align=st.sampled_from(Align),
    keep_newest=st.booleans(),
)
def test_what_is_kept_of_a_chat_that_is_too_long(lengths, n_sink, n_window, n_evict, policy, align, keep_newest):
    turns, n_tokens = turns_of(lengths), sum(lengths)
    limits = Limits(policy, n_sink, n_window, n_evict, align)
    assume(n_evict < n_window and n_tokens > limits.capacity)
    newest = max(turns[-1].start, n_sink)
    if keep_newest and n_tokens - newest > n_window:
        with pytest.raises(EngineError):
            window.first_to_keep(n_tokens, limits, turns)
        return
    start = window.first_to_keep(n_tokens, limits, turns, keep_newest=keep_newest)
    assert n_sink <= start < n_tokens
    assert n_tokens - start <= n_window, "it fits"
    if keep_newest:
        assert start <= newest, "the newest message is whole"
    else:
        assert n_tokens - start <= limits.n_kept, "and an answer has room again"


@pytest.mark.parametrize(
    ("n_positions", "n_window", "expected"),
    [(8192, 252, 4096), (512, 252, 384), (300, 252, 300), (256, 252, 256)],
)
def test_positions_are_renewed_half_way_and_never_beyond_training(n_positions: int, n_window: int, expected: int):
    limits = Limits(Policy.SINKS, 4, n_window, 32, Align.TOKEN)
    traits = MemoryTraits(MemoryKind.ATTENTION, 256, 0, can_shift=True, n_positions=n_positions)
    assert window.renumber_at(limits, traits) == expected
