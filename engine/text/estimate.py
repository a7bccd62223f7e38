"""About how many tokens a text is, where counting them all takes too long."""

from __future__ import annotations

from engine.text.vocabulary import Vocabulary

_N_SAMPLES = 16
_SAMPLE = 2048


def estimated_tokens(vocabulary: Vocabulary, text: str) -> int:
    """What samples from all over the text say; a short text is counted."""
    distance = max(_SAMPLE, len(text) // _N_SAMPLES)
    samples = [text[start : start + _SAMPLE] for start in range(0, len(text), distance)][:_N_SAMPLES]
    n_tokens = sum(len(vocabulary.tokenize(sample, parse_special=False)) for sample in samples)
    n_sampled = sum(map(len, samples))
    return round(n_tokens * len(text) / n_sampled) if n_sampled else 0
