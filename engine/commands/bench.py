"""``bench``: compares the engine's speeds, and the cost of cache operations, with a bare llama.cpp loop."""

from __future__ import annotations

import argparse
import dataclasses
import queue
import random
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.api.chat import Message
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import (
    EngineLost,
    Event,
    Failed,
    Finished,
    ForgetChat,
    Generate,
    GenerationStats,
    LoadModel,
    ModelLoaded,
    PrefillProgress,
)
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.api.settings import GpuLayers, LoadSettings, SamplingSettings
from engine.client.client import EngineClient
from engine.commands import options
from engine.commands.isolated import run_isolated
from engine.commands.output import json_line
from engine.commands.scratch import scratch_folder

if TYPE_CHECKING:
    from engine.lab.speed import BareSpeed, CacheCosts

CHAT_ID = "bench"
_WORDS = ("time", "year", "people", "way", "day", "man", "world", "life", "hand", "part", "place", "work", "week")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``bench``."""
    options.add_model(parser)
    parser.add_argument(
        "--n-prompt", type=int, default=512, metavar="N", help="tokens of the prompt, about (default 512)"
    )
    parser.add_argument("--n-gen", type=int, default=64, metavar="N", help="tokens to generate (default 64)")
    parser.add_argument("--repeat", type=int, default=3, metavar="R", help="runs of each, in turn (default 3)")
    options.add_settings(parser, LoadSettings, title="model and cache")


def run(args: argparse.Namespace) -> int:
    """Print the report; raises EngineError."""
    if not (8 <= args.n_prompt <= 1_000_000 and 2 <= args.n_gen <= 1_000_000 and 1 <= args.repeat <= 100):
        raise EngineError(
            ErrorCode.SETTING_INVALID,
            say("Use a prompt of at least 8 tokens, at least 2 to generate, and 1 to 100 runs."),
        )
    path = options.model_path(args)
    settings = options.load_settings(args)
    if args.n_ctx is None:
        settings = dataclasses.replace(settings, n_ctx=args.n_prompt + args.n_gen + 256)
    if settings.n_gpu_layers is GpuLayers.AUTO:
        settings = dataclasses.replace(settings, n_gpu_layers=GpuLayers.ALL)
    report = _measure(path, settings, args.n_prompt, args.n_gen, args.repeat)
    print(json_line(report) if args.json else _table(report))
    return 0


def _measure(path: Path, settings: LoadSettings, n_prompt: int, n_gen: int, repeat: int) -> dict[str, Any]:
    text = " ".join(random.Random(0).choices(_WORDS, k=max(1, n_prompt - 32)))
    runs = []
    with scratch_folder() as folder:
        engine = TimedEngine(EngineOptions(log_path=str(folder / "engine.log")))
        try:
            engine.load(path, settings)
            engine.answer(text, 2)
            for _run in range(repeat):
                timed = engine.answer(text, n_gen)
                # Interleaved, so that a machine whose speed drifts slows both equally.
                bare, costs = run_isolated(_measure_bare, path, settings, text, timed.n_prompt, timed.n_generated)
                runs.append((timed, bare, costs))
        finally:
            engine.client.close()

    def median(values: list[float]) -> float:
        return statistics.median(values)

    n_steps = [timed.n_generated - 1 for timed, _bare, _costs in runs]
    evictions = [costs.evict_ms for _timed, _bare, costs in runs if costs.evict_ms is not None]
    return {
        "n_prompt": runs[0][0].n_prompt,
        "n_gen": runs[0][0].n_generated,
        "repeat": repeat,
        "prefill_tps": median([timed.n_prompt / timed.prefill_s for timed, _bare, _costs in runs]),
        "decode_tps": median([n / timed.decode_s for n, (timed, _bare, _costs) in zip(n_steps, runs, strict=True)]),
        "bare_prefill_tps": median([timed.n_prompt / bare.prefill_s for timed, bare, _costs in runs]),
        "bare_decode_tps": median([n / bare.decode_s for n, (_timed, bare, _costs) in zip(n_steps, runs, strict=True)]),
        "prefill_ratio": median([bare.prefill_s / timed.prefill_s for timed, bare, _costs in runs]),
        "decode_ratio": median([bare.decode_s / timed.decode_s for timed, bare, _costs in runs]),
        "evict_ms": median(evictions) if evictions else None,
        "snapshot_ms": median([costs.snapshot_ms for _timed, _bare, costs in runs]),
        "restore_ms": median([costs.restore_ms for _timed, _bare, costs in runs]),
        "snapshot_bytes": runs[0][2].snapshot_bytes,
    }


def _measure_bare(log: Any, engine_options: EngineOptions, *arguments: Any) -> tuple[BareSpeed, CacheCosts]:
    from engine.lab.speed import measure_bare

    return measure_bare(log, engine_options, *arguments)


@dataclasses.dataclass(frozen=True)
class TimedAnswer:
    """Seconds from the start of feeding to the first token, and from there to the end."""

    n_prompt: int
    n_generated: int
    prefill_s: float
    decode_s: float


def timed_answer(stats: GenerationStats, whole_s: float) -> TimedAnswer:
    """Split the client's seconds of an answer at the moment when the engine reports the end of prefill.

    Not at the first text: a first token may be half a character, or open a reasoning block.
    """
    decode_s = stats.n_generated / stats.decode_tps if stats.decode_tps else 0.0
    return TimedAnswer(stats.n_prompt, stats.n_generated, max(1e-9, whole_s - decode_s), max(1e-9, decode_s))


class TimedEngine:
    """The engine, used through the client as the window does, with timed events."""

    def __init__(self, engine_options: EngineOptions) -> None:
        self._events: queue.SimpleQueue[tuple[float, Event]] = queue.SimpleQueue()
        self.client = EngineClient(lambda event: self._events.put((time.perf_counter(), event)), engine_options)
        self.client.start()

    def load(self, path: Path, settings: LoadSettings) -> None:
        """Raises EngineError."""
        self.client.send(LoadModel(self.client.next_request_id(), str(path), settings))
        while not isinstance(self._next()[1], ModelLoaded):
            pass

    def answer(self, text: str, n_gen: int) -> TimedAnswer:
        """Prefill ``text`` into an empty cache and generate ``n_gen`` tokens; raises EngineError."""
        self.client.send(ForgetChat(CHAT_ID))
        sampling = SamplingSettings(temperature=0.0, max_tokens=n_gen, ignore_eos=True)
        self.client.send(Generate(self.client.next_request_id(), CHAT_ID, (Message("user", text),), sampling))
        began = None
        while True:
            moment, event = self._next()
            if isinstance(event, PrefillProgress) and began is None:
                began = moment
            if isinstance(event, Finished):
                return timed_answer(event.stats, moment - (began or moment))

    def _next(self) -> tuple[float, Event]:
        moment, event = self._events.get()
        if isinstance(event, Failed):
            raise EngineError(event.code, event.sentence, event.detail)
        if isinstance(event, EngineLost):
            raise EngineError(event.code, event.sentence, event.log_tail)
        return moment, event


def _table(report: dict[str, Any]) -> str:
    evict = "not possible" if report["evict_ms"] is None else f"{report['evict_ms']:.3f} ms"
    return "\n".join(
        [
            f"prompt {report['n_prompt']} tokens, {report['n_gen']} generated, median of {report['repeat']}",
            f"prefill    {report['prefill_tps']:8.1f} tokens/s   {report['prefill_ratio']:.3f} × the bare loop",
            f"decode     {report['decode_tps']:8.1f} tokens/s   {report['decode_ratio']:.3f} × the bare loop",
            f"evict      {evict} for an eighth of the cache, in place",
            f"snapshot   {report['snapshot_ms']:.1f} ms for {report['snapshot_bytes'] / 2**20:.1f} MiB",
            f"restore    {report['restore_ms']:.1f} ms",
        ]
    )
