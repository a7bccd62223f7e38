"""The last minutes of the cache: how full it was, how fast it was written, and what left it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum

from engine.api.messages import CacheUsage

SPAN_S = 300.0
SPAN_MIN_S = 30.0
STEP_S = 0.5
"""Moments closer together than this become one."""
MARKS_MAX = 200


class MarkKind(Enum):
    """What happened."""

    EVICTED = "evicted"
    RECOMPUTED = "recomputed"


@dataclass(frozen=True)
class UsageSample:
    """``share`` of the cells in use, 0 to 1; ``tokens_per_second`` None while nothing was being written."""

    at: float
    share: float
    tokens_per_second: float | None


class History:
    """Times are seconds of a clock that never goes back."""

    def __init__(self) -> None:
        self.moments: deque[UsageSample] = deque()
        self.marks: deque[tuple[float, MarkKind]] = deque(maxlen=MARKS_MAX)
        self._before: CacheUsage | None = None

    def add(self, usage: CacheUsage, now: float) -> None:
        """Take a usage."""
        before = self._before
        if before is not None and before.chat_id == usage.chat_id:
            if usage.n_evicted > before.n_evicted:
                self.marks.append((now, MarkKind.EVICTED))
            # Counted from the beginning of each request.
            since = before.n_recomputed if usage.n_recomputed >= before.n_recomputed else 0
            if usage.n_recomputed > since:
                self.marks.append((now, MarkKind.RECOMPUTED))
        self._before = usage
        moment = UsageSample(now, usage.n_used / max(1, usage.n_cells), usage.tokens_per_second)
        is_close = len(self.moments) > 1 and now - self.moments[-2].at < STEP_S
        if is_close and (moment.tokens_per_second is None) == (self.moments[-1].tokens_per_second is None):
            self.moments.pop()
        self.moments.append(moment)
        self.forget(now)

    def forget(self, now: float) -> None:
        """Let go of what is older than SPAN_S; one older moment stays, as where the line comes from."""
        while len(self.moments) > 1 and now - self.moments[1].at > SPAN_S:
            self.moments.popleft()
        while self.marks and now - self.marks[0][0] > SPAN_S:
            self.marks.popleft()

    def clear(self, now: float) -> None:
        """The cells are gone, with the model or the engine: the line falls to nothing."""
        self._before = None
        if self.moments and self.moments[-1].share > 0:
            self.moments.append(UsageSample(now, self.moments[-1].share, None))
            self.moments.append(UsageSample(now, 0.0, None))

    def span_s(self, now: float) -> float:
        """How much time is worth showing: what there is, from half a minute to SPAN_S."""
        age = now - self.moments[0].at if self.moments else 0.0
        return min(SPAN_S, max(SPAN_MIN_S, age))

    @property
    def fastest(self) -> float:
        """The highest speed among the moments, in tokens a second; 0 without one."""
        return max((moment.tokens_per_second or 0.0 for moment in self.moments), default=0.0)
