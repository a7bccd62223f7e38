"""Walks far through chats at random, on llama.cpp and against llama.cpp alone: the long form of `test_walk_on_llama`.

Run by hand: `python -m tests.bench.bench_walk [STEPS [SEED]]`, 20,000 steps by default, an equal share for each model.
Ends with 1 at the first difference, and says after which steps.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from engine.native.devices import Ggml
from engine.native.log import NativeLog
from tests.native.warm_account import TOLERANCE, WALKS, accounted_walk


def walk(name: str, n_steps: int, seed: int, log: NativeLog) -> bool:
    """Whether all steps were right."""
    started, n_done, recent = time.perf_counter(), 0, []
    with tempfile.TemporaryDirectory() as folder, accounted_walk(name, Path(folder), log, seed=seed) as one:
        figures = one.figures
        while n_done < n_steps and figures.largest < TOLERANCE:
            one.walk.step()
            recent = [*recent[-5:], one.walk.last]
            n_done += 1
        seconds = time.perf_counter() - started
        print(
            f"{name}: {n_done} steps in {seconds:.0f} s, {one.walk.n_restored} restored, "
            f"{one.walk.n_reused} tokens reused, {one.walk.n_evicted} evicted, {one.walk.n_renumbered} renumberings, "
            f"{figures.n_compared} rows of logits compared, {figures.n_equal} equal "
            f"to the last bit, largest difference {figures.largest:.2g} standard deviations",
            flush=True,
        )
        if figures.largest >= TOLERANCE:
            print(f"WRONG after {', '.join(recent)}")
        return figures.largest < TOLERANCE


def main() -> int:
    given = [int(argument) for argument in sys.argv[1:3]]
    n_steps, seed = (*given, *(20_000, 0)[len(given) :])
    log = NativeLog(write_to=None)
    with closing(log):
        Ggml().load_backends()
        right = [walk(name, n_steps // len(WALKS), seed, log) for name in WALKS]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
