"""Places of stacked things, against sums made the slow way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.transcript.heights import HeightIndex

heights = st.lists(st.integers(1, 100), max_size=30)
changes = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 100)), max_size=20)


@given(heights, changes)
def test_tops_are_the_sums_of_the_heights_before(start: list[int], edits: list[tuple[int, int]]):
    index, model = HeightIndex(), list(start)
    index.replace_all([float(h) for h in start])
    for at, height in edits:
        if at < len(model):
            assert index.set(at, height) == (model[at] != height)
            model[at] = height
        elif at % 2:
            index.append(height)
            model.append(height)
        else:
            index.cut(len(model) // 2)
            del model[len(model) // 2 :]
        assert [index.top(i) for i in range(len(model) + 1)] == [sum(model[:i]) for i in range(len(model) + 1)]
        assert index.total() == sum(model)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30), st.integers(-10, 3200))
def test_what_lies_at_a_height_begins_before_it_and_ends_after_it(model: list[int], y: int):
    index = HeightIndex()
    index.replace_all([float(h) for h in model])
    found = index.at(y)
    assert 0 <= found < len(model)
    if 0 <= y < sum(model):
        assert index.top(found) <= y < index.top(found) + index.height(found)
