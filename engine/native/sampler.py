"""A llama.cpp sampler chain made from the sampling settings."""

from __future__ import annotations

from collections.abc import Sequence

import llama_cpp.llama_cpp as llama

from engine.api.settings import SamplingSettings


class Sampler:
    """Chooses tokens from the logits of the last decode.

    The chain's order is llama.cpp's own (``common/sampling.cpp``): penalties, top-k, top-p, min-p, temperature, draw.
    ``seed`` must be drawn already; the same seed over the same logits gives the same tokens. ``recent_tokens`` are what
    the penalties see before the first token is drawn.
    """

    def __init__(
        self, settings: SamplingSettings, seed: int, *, n_vocab: int, recent_tokens: Sequence[int] = ()
    ) -> None:
        self.seed = seed
        chain = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
        self._chain = chain
        has_penalties = (settings.repeat_penalty, settings.presence_penalty, settings.frequency_penalty) != (
            1.0,
            0.0,
            0.0,
        )
        has_penalties = has_penalties and settings.penalty_last_n > 0
        if has_penalties:
            penalties = llama.llama_sampler_init_penalties(
                n_vocab,
                settings.penalty_last_n,
                settings.repeat_penalty,
                settings.frequency_penalty,
                settings.presence_penalty,
            )
            llama.llama_sampler_chain_add(chain, penalties)
        if settings.temperature == 0.0:
            llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_greedy())
        else:
            if settings.top_k:
                llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_top_k(settings.top_k))
            if settings.top_p < 1.0:
                llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_top_p(settings.top_p, 1))
            if settings.min_p > 0.0:
                llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_min_p(settings.min_p, 1))
            llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_temp(settings.temperature))
            llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_dist(seed))
        if has_penalties:
            for token in recent_tokens[-settings.penalty_last_n :]:
                llama.llama_sampler_accept(chain, token)

    def sample(self, context: object) -> int:
        """A token drawn from the last logits of a ``llama_context *``; the chain remembers it for its penalties."""
        return int(llama.llama_sampler_sample(self._chain, context, -1))

    def close(self) -> None:
        if self._chain is not None:
            llama.llama_sampler_free(self._chain)
            self._chain = None
