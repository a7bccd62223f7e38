"""The latest state of the cache, the load and the request, put together from the engine's events."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.api.messages import (
    CacheChanged,
    CacheUsage,
    ChatRestored,
    EngineLost,
    Event,
    Failed,
    Finished,
    GenerationStats,
    LoadCancelled,
    LoadProgress,
    ModelFacts,
    ModelLoaded,
    ModelUnloaded,
    PrefillProgress,
    TextGenerated,
)


@dataclass(frozen=True)
class CacheFacts:
    """None where nothing is known yet. ``read_tps``: how fast the model of the file ``read_path`` was last seen to
    read a prompt."""

    model: ModelFacts | None = None
    usage: CacheUsage | None = None
    stats: GenerationStats | None = None
    prefill: PrefillProgress | None = None
    load: LoadProgress | None = None
    read_tps: float | None = None
    read_path: str = ""

    def after(self, event: Event) -> CacheFacts:
        """The facts once this has happened."""
        if isinstance(event, ModelLoaded):
            is_same = self.read_path == event.facts.path
            return CacheFacts(event.facts, read_tps=self.read_tps if is_same else None, read_path=event.facts.path)
        if isinstance(event, LoadProgress):
            # The old model goes before the new one comes.
            return replace(self, model=None, usage=None, prefill=None, load=event)
        if isinstance(event, ModelUnloaded | EngineLost):
            return replace(self, model=None, usage=None, prefill=None, load=None)
        if isinstance(event, LoadCancelled):
            return replace(self, load=None)
        if isinstance(event, Failed):
            return replace(self, load=None, prefill=None)
        return self._after_answer_event(event)

    def _after_answer_event(self, event: Event) -> CacheFacts:
        if isinstance(event, CacheChanged):
            return replace(self, usage=event.usage)
        if isinstance(event, PrefillProgress):
            return replace(self, prefill=event if event.n_done < event.n_total else None)
        if isinstance(event, TextGenerated) and self.prefill is not None:
            return replace(self, prefill=None)
        if isinstance(event, Finished | ChatRestored) and event.stats is not None:
            read_tps = event.stats.read_tps or self.read_tps
            return replace(self, stats=event.stats, prefill=None, read_tps=read_tps)
        return self

    @property
    def n_cells(self) -> int:
        """Cells there are: those of the cache if it is known, else those that the model was loaded with."""
        if self.usage is not None:
            return self.usage.n_cells
        return self.model.n_ctx if self.model is not None else 0

    @property
    def planned_bytes(self) -> int | None:
        """Bytes of K and V for all cells, as planned."""
        return None if self.model is None else self.model.kv_k_bytes + self.model.kv_v_bytes

    @property
    def allocated_bytes(self) -> int | None:
        """Bytes of K and V for all cells, as llama.cpp allocated them."""
        if self.model is None:
            return self.usage.allocated_bytes if self.usage is not None else None
        return sum(device.kv_bytes for device in self.model.devices)
