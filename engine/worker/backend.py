"""What a session needs of the library that computes: a protocol that llama.cpp and the tests' fake both implement."""

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
    """The cells of a model, and what computes on them.

    ``flash_attn`` is as it ended, whatever was asked.
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
        """Wait until what was decoded is computed."""
        ...

    def close(self) -> None: ...


class Model(Protocol):
    """A model with its weights. ``library_version``: what computes it; states of another version are not used."""

    n_ctx_train: int
    library_version: str

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def n_layer(self) -> int: ...

    @property
    def n_layer_gpu(self) -> int:
        """Layers that lie on a GPU, without the output layer."""
        ...

    def open_context(self, settings: LoadSettings) -> Context:
        """Raises EngineError(CONTEXT_FAILED)."""
        ...

    def close(self) -> None: ...


class Meter(Protocol):
    """Measures loads."""

    def fit_gpu_layers(self, path: Path, settings: LoadSettings) -> int:
        """The most layers, the output layer among them, that fit the GPUs."""
        ...

    def loaded_memory(self, model: Any, context: Any, settings: LoadSettings) -> tuple[DeviceMemory, ...]:
        """What a model and its context hold, per device."""
        ...

    def close(self) -> None: ...


class Backend(Protocol):
    """The library, opened. ``unusable`` are back ends without their driver, ``damaged`` files cut short, and
    ``unreachable`` says why workers of the options are left out."""

    ready: EngineReady
    unusable: tuple[str, ...]
    damaged: tuple[str, ...]
    unreachable: tuple[Sentence, ...]

    def open_model(self, path: Path, settings: LoadSettings, on_progress: Callable[[float], bool]) -> Model:
        """``on_progress`` gets the fraction loaded and answers whether to go on. Raises EngineError."""
        ...

    def open_meter(self) -> Meter: ...

    def log_tail(self) -> str:
        """The last lines that the library wrote."""
        ...

    def close(self) -> None: ...
