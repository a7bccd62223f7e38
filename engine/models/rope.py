"""RoPE scaling as trained and as changed by the settings of a load."""

from __future__ import annotations

import dataclasses

from engine.api.settings import LoadSettings, RopeScaling

DEFAULT_BASE = 10_000.0


@dataclasses.dataclass(frozen=True)
class Rope:
    """Rotary positions as trained: `scaling` is "none", "linear", "yarn" or "longrope", with its factor.

    `n_ctx_original` is the length before the scaling, in tokens; 0 where the file doesn't say. `is_off`: the file
    switches scaling off, so that a scale in the settings needs a method to go with it.
    """

    base: float
    scaling: str
    factor: float
    n_ctx_original: int
    is_off: bool = False

    def stretch(self, settings: LoadSettings) -> float:
        """The usable length with these settings, as a multiple of the trained length.

        As in llama_init_from_model: a frequency scale replaces the file's own; it has no effect without a scaling
        method, nor has a method (yarn) without a scale. A larger base lowers the slowest frequency by the same factor.
        """
        own = 1 / self.factor
        trained = 1.0 if self.is_off else own
        is_off = self.is_off if settings.rope_scaling is None else settings.rope_scaling is RopeScaling.NONE
        scale = 1.0 if is_off else settings.rope_freq_scale or own
        return trained / scale * (settings.rope_freq_base or self.base) / self.base

    def reach(self, n_ctx_train: int, settings: LoadSettings) -> int:
        """The number of usable positions: the trained ones times the stretch."""
        return round(n_ctx_train * self.stretch(settings))
