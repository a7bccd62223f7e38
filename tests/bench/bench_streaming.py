"""StreamingLLM's tables on the starter model: what each policy costs in perplexity.

Run by hand, about ten minutes on two cores: ``python -m tests.bench.bench_streaming [TEXTFILE] [short|long]``

The first table: 2,500 tokens, room for 512, 4 sinks, perplexity of the tokens after the room. ``repaired`` is the share
of the damage of a plain window that sinks repair, (window - sinks) / (window - dense). The second: a text longer than
the trained length, renumbered when Kvasir does it against renumbered with every eviction, by blocks of tokens.
"""

from __future__ import annotations

import dataclasses
import math
import sys

from engine.api.options import EngineOptions
from engine.native.importing import set_environment

OPTIONS = EngineOptions(log_path="")
# OpenMP reads its environment when llama.cpp is imported, just below.
set_environment(OPTIONS)

from engine.api.settings import CacheType, LoadSettings, Policy, PolicySettings  # noqa: E402
from engine.lab.loading import LoadedForMeasuring, loaded_context  # noqa: E402
from engine.lab.perplexity import Perplexity, measure  # noqa: E402
from engine.models.starter import starter_path  # noqa: E402
from engine.native.devices import Ggml  # noqa: E402
from engine.native.log import NativeLog  # noqa: E402
from tests.bench.prose import prose  # noqa: E402

ROOM, N_SINK, N_EVICT = 512, 4, 128
SHORT_TOKENS, LONG_TOKENS = 2_500, 14_000
BLOCK = 2_000


def settings_of(policy: Policy) -> PolicySettings:
    if policy is Policy.STOP:
        return PolicySettings(policy=policy)
    n_sink = N_SINK if policy is Policy.SINKS else 0
    return PolicySettings(policy=policy, n_sink=n_sink, n_window=ROOM - n_sink, n_evict=N_EVICT)


def short_table(loaded: LoadedForMeasuring, tokens: list[int]) -> None:
    print(f"{'K, V':8} {'dense':>8} {'window':>8} {'sinks':>8} {'recompute':>10} {'repaired':>9}   tokens/s (sinks)")
    for cache_type in (CacheType.F16, CacheType.Q8_0, CacheType.Q4_0):
        load = LoadSettings(type_k=cache_type, type_v=cache_type, n_ctx=ROOM)
        results: dict[Policy, Perplexity] = {}
        for policy in (Policy.STOP, Policy.WINDOW, Policy.SINKS, Policy.RECOMPUTE):
            n_ctx = len(tokens) if policy is Policy.STOP else ROOM
            context = loaded(dataclasses.replace(load, n_ctx=n_ctx))
            results[policy] = measure(context, tokens, settings_of(policy), n_before=ROOM)
        dense, window, sinks, recompute = (results[p].perplexity_after or math.nan for p in results)
        repaired = (window - sinks) / (window - dense)
        print(
            f"{cache_type:8} {dense:8.3f} {window:8.3f} {sinks:8.3f} {recompute:10.3f} {repaired:9.3f}"
            f"   {results[Policy.SINKS].tokens_per_second:.0f}",
            flush=True,
        )


def long_table(loaded: LoadedForMeasuring, tokens: list[int]) -> None:
    policy = settings_of(Policy.SINKS)
    rows = {}
    for name, renumber_at in (("Kvasir", None), ("every eviction", ROOM)):
        context = loaded(LoadSettings(n_ctx=ROOM))
        rows[name] = measure(context, tokens, policy, n_before=ROOM, renumber_at=renumber_at)
    for name, row in rows.items():
        blocks = [row.losses[i : i + BLOCK] for i in range(0, len(row.losses), BLOCK)]
        cells = " ".join(f"{math.exp(sum(block) / len(block)):7.3f}" for block in blocks)
        print(f"{name:16} {cells}   all {row.perplexity:.3f}, renumbered {row.n_renumbered} times", flush=True)
    ratio = (rows["Kvasir"].perplexity or math.nan) / (rows["every eviction"].perplexity or math.nan)
    print(f"Kvasir / every eviction {ratio:.4f}")


def main() -> None:
    log = NativeLog(write_to=None)
    Ggml().load_backends()
    wanted = {argument for argument in sys.argv[1:] if argument in ("short", "long")} or {"short", "long"}
    with loaded_context(starter_path(), LoadSettings(), OPTIONS, log) as loaded:
        if "short" in wanted:
            short_table(loaded, loaded.tokenize(prose(), SHORT_TOKENS))
        if "long" in wanted:
            long_table(loaded, loaded.tokenize(prose(), LONG_TOKENS))


if __name__ == "__main__":
    main()
