"""What the promises of the cache manager are tested with: any memory, recorded, and ways to look into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pytest

from engine.api.settings import Policy
from engine.cache.memory import CacheMemory, DecodeOutcome, MemoryKind, MemoryTraits
from engine.cache.sequence import TokenSequence
from engine.cache.window import allowed_policies

N_CELLS = 256
"""What every memory of these tests has."""


class RecordedMemory:
    """A memory that remembers every batch it was given: the first position and the tokens."""

    def __init__(self, memory: CacheMemory) -> None:
        self.inner = memory
        self.batches: list[tuple[int, tuple[int, ...]]] = []

    @property
    def traits(self) -> MemoryTraits:
        return self.inner.traits

    @property
    def n_batch(self) -> int:
        return self.inner.n_batch

    @property
    def n_decoded(self) -> int:
        return sum(len(tokens) for _position, tokens in self.batches)

    def decode(
        self,
        tokens: Sequence[int],
        first_position: int,
        *,
        interrupt: Callable[[], bool] | None = None,
        all_logits: bool = False,
    ) -> DecodeOutcome:
        outcome = self.inner.decode(tokens, first_position, interrupt=interrupt, all_logits=all_logits)
        self.batches.append((first_position, tuple(tokens[: outcome.n_done])))
        return outcome

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Lab(Protocol):
    """One kind of memory, and how to look into it."""

    kind: MemoryKind
    is_exact: bool
    """Whether equal inputs give equal results to the last bit, whatever cells they lie in."""

    def new_memory(self) -> CacheMemory:
        """A memory of its own, with `N_CELLS` cells and nothing in it."""
        ...

    def check(self, memory: CacheMemory, sequence: TokenSequence) -> None:
        """Fail unless memory holds exactly what the sequence says."""
        ...

    def result(self, memory: CacheMemory) -> Any:
        """What the last decode gave, to compare."""
        ...

    def assert_same(self, one: Any, other: Any, *, exactly: bool) -> None: ...


class After:
    """An interrupt that says yes when asked for the nth time, and from then on."""

    def __init__(self, n_asked: int) -> None:
        self._n_left = n_asked

    def __call__(self) -> bool:
        self._n_left -= 1
        return self._n_left < 0


class LabFixtures:
    """Inherited with a fixture `lab`."""

    @pytest.fixture
    def memory(self, lab: Lab) -> RecordedMemory:
        return RecordedMemory(lab.new_memory())

    @pytest.fixture
    def policies(self, lab: Lab) -> tuple[Policy, ...]:
        return allowed_policies(lab.kind)

    @pytest.fixture
    def stops(self) -> Sequence[int]:
        """After how many questions an interrupt says yes."""
        return (0, 1, 2, 3, 5, 8, 13, 40)
