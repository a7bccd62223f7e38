"""How long it takes to read the header of a model with a large vocabulary.

Run by hand: pytest tests/bench/bench_header.py -s
"""

from __future__ import annotations

import random
import tracemalloc
from time import perf_counter

import pytest

from engine.models.gguf import read_model_info
from tests.engine.models import raw_gguf as raw

pytestmark = pytest.mark.bench

N_TOKENS = 262_144
N_MERGES = 500_000
REPEATS = 7


def test_a_vocabulary_of_262k_tokens(tmp_path, capsys):
    rng = random.Random(0)
    tokens = ["t" * rng.randint(1, 14) for _ in range(N_TOKENS)]
    merges = [f"{'a' * rng.randint(1, 7)} {'b' * rng.randint(1, 7)}" for _ in range(N_MERGES)]
    path = tmp_path / "vocabulary.gguf"
    path.write_bytes(
        raw.model(
            raw.pair("tokenizer.ggml.tokens", raw.ARRAY, raw.array(raw.STRING, tokens)),
            raw.pair("tokenizer.ggml.scores", raw.ARRAY, raw.array(raw.F32, [0.0] * N_TOKENS)),
            raw.pair("tokenizer.ggml.token_type", raw.ARRAY, raw.array(raw.I32, [1] * N_TOKENS)),
            raw.pair("tokenizer.ggml.merges", raw.ARRAY, raw.array(raw.STRING, merges)),
        )
    )
    seconds = []
    for _ in range(REPEATS):
        start = perf_counter()
        info = read_model_info(path)
        seconds.append(perf_counter() - start)
    tracemalloc.start()
    read_model_info(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert info.n_vocab == N_TOKENS
    with capsys.disabled():
        print(
            f"\n{N_TOKENS:,} tokens, {N_MERGES:,} merges, {path.stat().st_size / 2**20:.1f} MiB: "
            f"best {min(seconds):.3f} s, worst {max(seconds):.3f} s, {peak / 2**20:.1f} MiB at most"
        )
