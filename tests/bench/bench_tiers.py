"""How much sooner a chat of 2,048 tokens is open from RAM and from disk than evaluated, and what a snapshot costs.

Run by hand: `python -m tests.bench.bench_tiers`. The goals are 100 and 30 times, and twice a memory copy.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from engine.cache.active import ActiveChat
from engine.cache.manager import CacheManager
from engine.cache.snapshot_folder import SnapshotFolder
from engine.cache.tiers import Tiers
from engine.models.starter import starter_path
from engine.native.backend import NativeContext, NativeModel
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.settings import LoadSettings, PolicySettings, TierSettings
from engine.text.chat import Prompt, Turn
from tests.bench.prose import prose

N_TOKENS = 2048
FACTOR_RAM, FACTOR_DISK, COPIES = 100, 30, 2
BINDING = "b" * 32


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> None:
    log = NativeLog(write_to=None)
    Ggml().load_backends()
    settings = LoadSettings(n_ctx=2 * N_TOKENS)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(NativeModel(starter_path(), settings, log)) as model,
        closing(NativeContext(model, settings, log)) as context,
    ):
        tokens = tuple(model.vocabulary.tokenize(prose()[: 8 * N_TOKENS], parse_special=False))[: N_TOKENS + 1]
        prompt = Prompt(tokens, (Turn(0, len(tokens), "user", 0),))

        def desk(tiers: Tiers) -> tuple[CacheManager, ActiveChat]:
            tiers.bind(BINDING)
            manager = CacheManager(context)
            return manager, ActiveChat(manager, context.traits, tiers, lambda n_used: n_used)

        def open_chat(manager: CacheManager, active: ActiveChat) -> None:
            active.make_ready("chat", tokens, lambda: False)
            assert manager.begin(prompt, PolicySettings()).n_fed == 1

        tiers = Tiers(TierSettings(), SnapshotFolder(Path(folder)))
        manager, active = desk(tiers)
        manager.begin(prompt, PolicySettings())
        evaluating = seconds(lambda: list(manager.feed()))
        active.take("chat")
        n_bytes = len(context.snapshot())
        copied = np.ones(n_bytes, np.uint8)
        copying = min(seconds(copied.copy) for _ in range(5))
        taking = min(seconds(context.snapshot) for _ in range(5))
        writing = seconds(lambda: list(active.write_behind()))
        results = []
        for name, factor, opened in (
            ("RAM", FACTOR_RAM, lambda: desk(tiers)),
            ("disk", FACTOR_DISK, lambda: desk(Tiers(TierSettings(), SnapshotFolder(Path(folder))))),
        ):
            manager, active = opened()
            context.clear()
            opening = seconds(lambda manager=manager, active=active: open_chat(manager, active))
            results.append((name, factor, opening))
    log.close()
    print(f"{N_TOKENS} tokens, {n_bytes / 1e6:.1f} MB: evaluating {evaluating:.2f} s, writing {1000 * writing:.0f} ms")
    for name, factor, opening in results:
        verdict = "within" if evaluating >= factor * opening else "BEYOND"
        times = f"{evaluating / opening:.0f} times sooner, {verdict} {factor}"
        print(f"opened from {name} in {1000 * opening:.1f} ms, {times}")
    verdict = "within" if taking <= COPIES * copying else "BEYOND"
    print(f"a snapshot takes {1000 * taking:.1f} ms, {taking / copying:.1f} memory copies, {verdict} {COPIES}")


if __name__ == "__main__":
    main()
