"""The inference library interface of a session: a protocol that llama.cpp and the tests' fake implement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from engine.api.messages import DeviceMemory, EngineReady
from engine.api.sentences import Sentence
from engine.api.settings import LoadSettings, SamplingSettings
from engine.cache.memory import CacheMemory
from engine.text.vocabulary import Vocabulary


class Sampler(Protocol):
    """Chooses tokens; freed by `close`."""

    def close(self) -> None: ...


class Context(CacheMemory, Protocol):
    """A model's context with its cells.

    ``flash_attn`` is the effective value, whatever was requested.
    """

    n_ubatch: int
    flash_attn: bool

    def sampler(self, settings: SamplingSettings, seed: int, recent_tokens: Sequence[int] = ()) -> Sampler:
        """A sampler over this context's logits; penalties count ``recent_tokens`` as sampled."""
        ...

    def sample(self, sampler: Any) -> int:
        """A token drawn from the logits of the last decode."""
        ...

    def evaluate_blank(self, n_tokens: int, *, interrupt: Callable[[], bool] | None = None) -> bool:
        """Decode some tokens and forget them; False if ``interrupt`` ended it. Raises EngineError(DECODE_FAILED)."""
        ...

    def synchronize(self) -> None:
        """Wait until the last decode has finished on the device."""
        ...

    def close(self) -> None: ...


class Model(Protocol):
    """A model with its weights. ``library_version`` is part of the snapshots' fingerprint."""

    n_ctx_train: int
    library_version: str

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def n_layer(self) -> int: ...

    @property
    def n_layer_gpu(self) -> int:
        """The number of layers on GPUs, without the output layer."""
        ...

    def open_context(self, settings: LoadSettings) -> Context:
        """Create a context; raises EngineError(CONTEXT_FAILED)."""
        ...

    def close(self) -> None: ...


class Meter(Protocol):
    """Measures loads."""

    def fit_gpu_layers(self, path: Path, settings: LoadSettings) -> int:
        """The most layers, the output layer included, that fit the GPUs."""
        ...

    def loaded_memory(self, model: Any, context: Any, settings: LoadSettings) -> tuple[DeviceMemory, ...]:
        """The memory of a model and its context, per device."""
        ...

    def close(self) -> None: ...


class Backend(Protocol):
    """The opened library. ``unusable``: back ends without their driver, ``damaged``: truncated files,
    ``unreachable``: sentences that say why RPC workers of the options are left out."""

    ready: EngineReady
    unusable: tuple[str, ...]
    damaged: tuple[str, ...]
    unreachable: tuple[Sentence, ...]

    def open_model(self, path: Path, settings: LoadSettings, on_progress: Callable[[float], bool]) -> Model:
        """Load a model; ``on_progress`` gets the fraction loaded, returns whether to continue. Raises EngineError."""
        ...

    def open_meter(self) -> Meter: ...

    def log_tail(self) -> str:
        """The last lines of the library's log."""
        ...

    def close(self) -> None: ...
