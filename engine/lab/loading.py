"""Loads a model with its contexts for measurements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from engine.api.options import EngineOptions
from engine.api.settings import GpuLayers, LoadSettings
from engine.models.gguf import read_model_info, require_chat_model
from engine.native.context import NativeContext
from engine.native.log import NativeLog
from engine.native.model import NativeModel
from engine.plan.check import check_load
from engine.plan.ram import require_memory


class LoadedForMeasuring:
    """A loaded model; calling it creates a context and frees the previous one."""

    def __init__(self, path: Path, settings: LoadSettings, log: NativeLog) -> None:
        self._log = log
        self._info = read_model_info(path)
        require_chat_model(self._info)
        self._settings, _notices = check_load(self._info, settings)
        self.model = NativeModel(self._info.path, self._settings, log)
        self._context: NativeContext | None = None

    def __call__(self, settings: LoadSettings) -> NativeContext:
        """Create a context; raises EngineError for impossible settings."""
        self.free_context()
        settings, _notices = check_load(self._info, settings)
        require_memory(self._info, replace(settings, n_gpu_layers=self.model.n_layer_gpu))
        self._context = NativeContext(self.model, settings, self._log)
        return self._context

    def tokenize(self, text: str, n_tokens: int | None = None) -> list[int]:
        """Plain text as tokens, with BOS where the model wants it; at most ``n_tokens`` of them."""
        vocabulary = self.model.vocabulary
        first = [vocabulary.bos] if vocabulary.add_bos and vocabulary.bos is not None else []
        return [*first, *vocabulary.tokenize(text, parse_special=False)][:n_tokens]

    def free_context(self) -> None:
        if self._context is not None:
            self._context.close()
            self._context = None

    def close(self) -> None:
        self.free_context()
        self.model.close()


@contextmanager
def loaded_context(
    path: Path, settings: LoadSettings, options: EngineOptions, log: NativeLog
) -> Iterator[LoadedForMeasuring]:
    """Load a model for the block; raises EngineError."""
    if options.without_extra_bufts:
        settings = replace(settings, use_extra_bufts=False)
    if settings.n_gpu_layers is GpuLayers.AUTO:
        settings = replace(settings, n_gpu_layers=GpuLayers.ALL)
    loaded = LoadedForMeasuring(path, settings, log)
    try:
        yield loaded
    finally:
        loaded.close()
