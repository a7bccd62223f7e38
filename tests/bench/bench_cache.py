"""What a full cache and a long chat cost on the starter model, as ratios: ``python -m tests.bench.bench_cache``.

``full / not yet full``: tokens per second of a cache with sinks that evicts all the time, against the same cache just
before it was full (to stay above 0.98). ``turn 20``: time to the first token of the twentieth turn, against feeding
just its new tokens to a context that holds the rest (to stay below 1.1), and tokens fed beyond its new ones (0).
"""

from __future__ import annotations

import statistics
import time

from engine.api.options import EngineOptions
from engine.native.importing import set_environment

OPTIONS = EngineOptions(log_path="")
# OpenMP reads its environment when llama.cpp is imported, just below.
set_environment(OPTIONS)

from engine.api.chat import Prompt, PromptTurn  # noqa: E402
from engine.api.settings import LoadSettings, Policy, PolicySettings  # noqa: E402
from engine.cache.manager import CacheManager  # noqa: E402
from engine.lab.loading import loaded_context  # noqa: E402
from engine.models.starter import starter_path  # noqa: E402
from engine.native.context import NativeContext  # noqa: E402
from engine.native.devices import Ggml  # noqa: E402
from engine.native.log import NativeLog  # noqa: E402
from tests.bench.prose import prose  # noqa: E402

N_CTX, N_TOKENS, ROUNDS = 1024, 120, 5
N_TURN, TURNS = 48, 20
SINKS = PolicySettings(policy=Policy.SINKS)


def feed(manager: CacheManager, tokens: list[int], turns: list[int]) -> int:
    """Feed a chat whose turns end at these tokens; how many were evaluated."""
    borders = zip([0, *turns[:-1]], turns, strict=True)
    parts = tuple(PromptTurn(start, end, "user", index) for index, (start, end) in enumerate(borders))
    planned = manager.begin(Prompt(tuple(tokens), parts), SINKS)
    for _done in manager.feed():
        pass
    return planned.n_fed


def seconds(manager: CacheManager, tokens: list[int]) -> float:
    started = time.perf_counter()
    for token in tokens:
        manager.append(token)
    return time.perf_counter() - started


def full_against_not_yet_full(context: NativeContext, tokens: list[int]) -> float:
    ratios = []
    for _round in range(ROUNDS):
        context.clear()
        manager = CacheManager(context)
        n_prompt = N_CTX - N_TOKENS
        feed(manager, tokens[:n_prompt], [n_prompt])
        before = seconds(manager, tokens[n_prompt:N_CTX])
        seconds(manager, tokens[N_CTX : N_CTX + 8])
        start = N_CTX + 8
        ratios.append(before / seconds(manager, tokens[start : start + N_TOKENS]))
    return statistics.median(ratios)


def twentieth_turn(context: NativeContext, tokens: list[int]) -> tuple[float, int]:
    ratios, n_beyond = [], 0
    for _round in range(ROUNDS):
        context.clear()
        manager = CacheManager(context)
        ends = [N_TURN * (turn + 1) for turn in range(TURNS)]
        for turn in range(TURNS - 1):
            feed(manager, tokens[: ends[turn]], ends[: turn + 1])
        started = time.perf_counter()
        n_beyond += feed(manager, tokens[: ends[-1]], ends) - N_TURN
        whole = time.perf_counter() - started
        context.remove(ends[-2], None)
        started = time.perf_counter()
        context.decode(tokens[ends[-2] : ends[-1]], ends[-2])
        ratios.append(whole / (time.perf_counter() - started))
    return statistics.median(ratios), n_beyond


def main() -> None:
    log = NativeLog(write_to=None)
    Ggml().load_backends()
    settings = LoadSettings(n_ctx=N_CTX)
    with loaded_context(starter_path(), settings, OPTIONS, log) as loaded:
        tokens = loaded.tokenize(prose(), 3 * N_CTX)
        context = loaded(settings)
        print(f"full / not yet full  {full_against_not_yet_full(context, tokens):.3f}")
        ratio, n_beyond = twentieth_turn(context, tokens)
        print(f"turn 20              {ratio:.3f} x feeding just its tokens, {n_beyond} tokens beyond its new ones")


if __name__ == "__main__":
    main()
