"""What is remembered of the last minutes."""

from __future__ import annotations

from app.cache.history import SPAN_S, History, MarkKind
from tests.app.cache.usages import usage


def filled(*usages) -> History:
    history = History()
    for at, one in enumerate(usages):
        history.add(one, float(at))
    return history


def test_what_leaves_the_cache_is_marked():
    history = filled(usage(100, (50,)), usage(100, (60,), n_evicted=10), usage(100, (61,), n_evicted=10))
    assert list(history.marks) == [(1.0, MarkKind.EVICTED)]


def test_what_is_read_again_is_marked_once_for_each_time():
    history = filled(
        usage(100, (50,)),
        usage(100, (50,), n_recomputed=20),
        usage(100, (51,), n_recomputed=20),
        # A new request counts from its beginning.
        usage(100, (52,)),
        usage(100, (53,), n_recomputed=5),
    )
    assert [at for at, kind in history.marks if kind is MarkKind.RECOMPUTED] == [1.0, 4.0]


def test_another_chat_evicted_nothing():
    assert not filled(usage(100, (50,)), usage(100, (60,), n_evicted=10, chat_id="other")).marks


def test_old_moments_go_and_one_stays_for_the_line_to_come_from():
    history = filled(*(usage(100, (10 + n,), n_evicted=n) for n in range(10)))
    history.forget(SPAN_S + 100)
    assert len(history.moments) == 1
    assert history.moments[0].share == 0.1
    assert not history.marks


def test_moments_close_together_are_one_so_memory_is_bounded():
    history = History()
    for n in range(2000):
        history.add(usage(100, (10,), tokens_per_second=20.0), n * 0.05)
    assert len(history.moments) < 250
    assert history.fastest == 20.0


def test_the_end_of_an_answer_ends_its_line():
    history = History()
    history.add(usage(100, (10,), tokens_per_second=20.0), 0.0)
    history.add(usage(100, (11,), tokens_per_second=20.0), 0.05)
    history.add(usage(100, (11,)), 0.1)
    assert [moment.tokens_per_second for moment in history.moments] == [20.0, 20.0, None]


def test_a_short_past_is_not_squeezed_into_the_edge():
    history = History()
    assert history.span_s(0.0) == 30.0
    history.add(usage(100, (10,)), 0.0)
    assert history.span_s(10.0) == 30.0
    assert history.span_s(100.0) == 100.0
    assert history.span_s(10_000.0) == SPAN_S


def test_the_line_falls_when_all_cells_are_gone():
    history = History()
    history.clear(0.0)
    assert not history.moments
    history.add(usage(64, (8, 8)), 1.0)
    full = history.moments[-1].share
    history.clear(9.0)
    history.clear(9.5)
    assert [(moment.at, moment.share) for moment in history.moments] == [(1.0, full), (9.0, full), (9.0, 0.0)]
