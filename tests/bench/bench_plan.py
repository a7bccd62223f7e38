"""How long a question to the planner takes after the first about a file, through its process, and without it.

Run by hand: pytest tests/bench/bench_plan.py -s
"""

from __future__ import annotations

import statistics
from pathlib import Path
from time import perf_counter

import pytest

from engine.api.messages import MemoryPlanned, PlanMemory
from engine.api.options import EngineOptions
from engine.api.settings import CacheType, LoadSettings
from engine.client.planner import Planner
from engine.models.starter import starter_path
from engine.worker.library import LlamaCpp
from tests.engine.client.listener import Listener

pytestmark = pytest.mark.bench

LENGTHS = [512 * n for n in range(1, 41)] + [65_536, 131_072]
PAIRS = [(CacheType.F16, CacheType.F16), (CacheType.Q8_0, CacheType.Q4_0)]
MOST_MS = 50.0


def questions() -> list[LoadSettings]:
    """What a person asks who drags a slider and changes types."""
    return [LoadSettings(n_ctx=n_ctx, type_k=k, type_v=v, n_gpu_layers=0) for k, v in PAIRS for n_ctx in LENGTHS]


def report(name: str, first: float, milliseconds: list[float]) -> str:
    ordered = sorted(milliseconds)
    return (
        f"{name}: first {first:.0f} ms, then median {statistics.median(ordered):.1f} ms, "
        f"95 % below {ordered[int(len(ordered) * 0.95)]:.1f} ms, worst {ordered[-1]:.1f} ms "
        f"(wanted: at most {MOST_MS:.0f})"
    )


def test_planner_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heard = Listener()
    planner = Planner(EngineOptions(log_path=str(tmp_path / "engine.log")))
    times = []
    for settings in questions():
        start = perf_counter()
        planner.ask("bench", PlanMemory(str(starter_path()), settings), heard.hear)
        heard.wait(MemoryPlanned)
        times.append(1000 * (perf_counter() - start))
    planner.close()
    with capsys.disabled():
        print("\n" + report("through the process", times[0], times[1:]))


def test_meter_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = LlamaCpp(EngineOptions(log_path=str(tmp_path / "engine.log")), write_to=None)
    meter = library.open_meter()
    times = []
    for settings in questions():
        start = perf_counter()
        meter.plan(starter_path(), settings)
        times.append(1000 * (perf_counter() - start))
    meter.close()
    library.close()
    with capsys.disabled():
        print("\n" + report("in this process", times[0], times[1:]))
