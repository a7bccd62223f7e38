"""Where each of many stacked things begins, when heights change one by one."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate


class HeightIndex:
    """Heights in pixels and their prefix sums; sums are brought up to date from the first change when asked for."""

    def __init__(self) -> None:
        self._heights: list[float] = []
        self._tops: list[float] = [0.0]
        self._n_valid = 0

    def __len__(self) -> int:
        return len(self._heights)

    def replace_all(self, heights: list[float]) -> None:
        """Start again with these heights."""
        self._heights = list(heights)
        self._tops = [0.0]
        self._n_valid = 0

    def append(self, height: float) -> None:
        """Add one at the end."""
        self._heights.append(height)

    def cut(self, length: int) -> None:
        """Drop all from index `length` on."""
        del self._heights[length:]
        self._n_valid = min(self._n_valid, length)

    def set(self, index: int, height: float) -> bool:
        """Set one height; True if it changed."""
        if self._heights[index] == height:
            return False
        self._heights[index] = height
        self._n_valid = min(self._n_valid, index)
        return True

    def height(self, index: int) -> float:
        """The height of one."""
        return self._heights[index]

    def top(self, index: int) -> float:
        """Where one begins; `len(self)` gives the end of the last."""
        self._validate()
        return self._tops[index]

    def total(self) -> float:
        """The height of all together."""
        return self.top(len(self._heights))

    def at(self, y: float) -> int:
        """The index of what lies at `y`, the first or last one for a `y` outside; there must be at least one."""
        self._validate()
        return min(max(bisect_right(self._tops, y) - 1, 0), len(self._heights) - 1)

    def _validate(self) -> None:
        if self._n_valid == len(self._heights) and len(self._tops) == self._n_valid + 1:
            return
        del self._tops[self._n_valid + 1 :]
        start = self._tops.pop()
        self._tops.extend(accumulate(self._heights[self._n_valid :], initial=start))
        self._n_valid = len(self._heights)
