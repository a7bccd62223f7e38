"""Rotary positions as a model was trained with them, and how far the settings of a load stretch them."""

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
        """How many times the trained length positions reach with these settings.

        As llama_init_from_model has it: a frequency scale stands for the file's own and isn't added to it, without any
        method there is none, and a method alone (yarn without a scale) changes nothing. A base so many times larger
        makes the slowest frequency that much slower.
        """
        own = 1 / self.factor
        trained = 1.0 if self.is_off else own
        is_off = self.is_off if settings.rope_scaling is None else settings.rope_scaling is RopeScaling.NONE
        scale = 1.0 if is_off else settings.rope_freq_scale or own
        return trained / scale * (settings.rope_freq_base or self.base) / self.base

    def reach(self, n_ctx_train: int, settings: LoadSettings) -> int:
        """Positions that can be told apart: the trained ones, stretched."""
        return round(n_ctx_train * self.stretch(settings))
