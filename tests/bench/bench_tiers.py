"""How much sooner a chat of 2,048 tokens is open from RAM and from disk than evaluated, and what a snapshot costs.

Run by hand: `python -m tests.bench.bench_tiers`. The goals are 100 and 30 times, and twice a memory copy of the same
bytes from and into memory of the same kind: into pages that the system has yet to clear for the first snapshot of a
chat, into those of the one before it for every later one. Medians of rounds in which each is measured once, so that
whatever else the machine does falls on all of them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from engine.api.chat import Prompt, PromptTurn
from engine.api.settings import LoadSettings, PolicySettings, TierSettings
from engine.cache.manager import CacheManager
from engine.devices import spare_ram_bytes
from engine.models.starter import starter_path
from engine.native.context import NativeContext
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.model import NativeModel
from engine.snapshots.active_chat import ActiveChat
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import Tiers
from tests.bench.prose import prose

N_TOKENS = 2048
FACTOR_RAM, FACTOR_DISK, COPIES = 100, 30, 2
N_ROUNDS, N_OPENINGS = 41, 7
BINDING = "b" * 32


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


class Bench:
    """A chat in a context, and the tiers that keep it."""

    def __init__(self, context: NativeContext, tokens: tuple[int, ...], folder: Path) -> None:
        self._context = context
        self._tokens = tokens
        self._prompt = Prompt(tokens, (PromptTurn(0, len(tokens), "user", 0),))
        self._folder = folder
        self.tiers = self.tiers_of_a_new_engine()
        self.manager, self.active = self._desk(self.tiers)

    def tiers_of_a_new_engine(self) -> Tiers:
        return Tiers(TierSettings(), SnapshotFolder(self._folder), spare_ram_bytes)

    def _desk(self, tiers: Tiers) -> tuple[CacheManager, ActiveChat]:
        tiers.bind(BINDING)
        manager = CacheManager(self._context)
        return manager, ActiveChat(manager, self._context.traits, tiers, lambda n_used: n_used)

    def evaluate(self) -> None:
        self.manager.begin(self._prompt, PolicySettings())
        for _n_done in self.manager.feed():
            pass
        self.active.take("chat")

    def write(self) -> None:
        for _pause in self.active.write_behind():
            pass

    def opening(self, tiers: Tiers) -> tuple[float, int]:
        """Seconds until an empty context has the chat again up to its last token, and the likeliest token after it."""
        manager, active = self._desk(tiers)
        self._context.clear()

        def open_chat() -> None:
            active.make_ready("chat", self._tokens, lambda: False)
            assert manager.begin(self._prompt, PolicySettings()).n_fed == 1

        took = seconds(open_chat)
        for _n_done in manager.feed():
            pass
        return took, self.next_token()

    def next_token(self) -> int:
        return int(np.argmax(self._context.logits()))


def snapshot_costs(context: NativeContext) -> dict[str, float]:
    """Median seconds of a snapshot and of a copy of as many bytes, each into new memory and into what is there."""
    held = context.snapshot()
    # In pages of the ordinary size, as llama.cpp's cells are: the large ones that NumPy asks for are read faster.
    bytes_to_copy = np.frombuffer(bytearray(held), np.uint8)
    there = np.ones(len(held), np.uint8)

    def snapshot_again() -> None:
        nonlocal held
        held = context.snapshot(room=held)

    actions: dict[str, Callable[[], object]] = {
        "new snapshot": context.snapshot,
        "new copy": bytes_to_copy.copy,
        "later snapshot": snapshot_again,
        "later copy": lambda: np.copyto(there, bytes_to_copy),
    }
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _round in range(N_ROUNDS):
        for name, action in actions.items():
            times[name].append(seconds(action))
    return {name: statistics.median(values) for name, values in times.items()}


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
        bench = Bench(context, tokens, Path(folder))
        evaluating = seconds(bench.evaluate)
        token, n_bytes = bench.next_token(), len(context.snapshot())
        writing = seconds(bench.write)
        costs = snapshot_costs(context)
        openings: dict[str, list[float]] = {"RAM": [], "disk": []}
        is_same = True
        for _round in range(N_OPENINGS):
            for name, tiers in (("RAM", bench.tiers), ("disk", bench.tiers_of_a_new_engine())):
                took, token_again = bench.opening(tiers)
                openings[name].append(took)
                is_same = is_same and token_again == token
    log.close()
    print(f"{N_TOKENS} tokens, {n_bytes / 1e6:.1f} MB: evaluating {evaluating:.2f} s, writing {1000 * writing:.0f} ms")
    for name, factor in (("RAM", FACTOR_RAM), ("disk", FACTOR_DISK)):
        opening = statistics.median(openings[name])
        verdict = "within" if evaluating >= factor * opening else "BEYOND"
        times = f"{evaluating / opening:.0f} times sooner, {verdict} {factor}"
        print(f"opened from {name} in {1000 * opening:.1f} ms, {times}")
    print(f"the token after an opening is {'the same' if is_same else 'ANOTHER ONE'}")
    for kind in ("new", "later"):
        taking, copying = costs[f"{kind} snapshot"], costs[f"{kind} copy"]
        verdict = "within" if taking <= COPIES * copying else "BEYOND"
        print(f"a {kind} snapshot takes {1000 * taking:.1f} ms, {taking / copying:.2f} copies, {verdict} {COPIES}")


if __name__ == "__main__":
    main()
