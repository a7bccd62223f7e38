"""What the cache panel costs: `python -m tests.bench.bench_panel`.

Prints milliseconds for 131,072 cells (all of them again, to stay below 4; one more token; finding a cell), for the
whole panel taking a usage, and the share of a core that sampling the memory once a second takes (to stay below 1 %).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.cache.cell_grid import Grid
from app.cache.cell_map import CellMap
from app.cache.cell_raster import CellRaster, tiles
from app.cache.cells import cell_codes
from app.cache.panel import CachePanel
from app.look.colours import LIGHT
from app.look.theme import Theme
from engine.api.messages import CacheChanged, CacheUsage, Device, ModelLoaded
from engine.devices import DeviceSampler
from tests.app.cache.usages import usage
from tests.app.fake_engine import model_facts

N_CELLS = 131_072
N_TURNS = 400
ROUNDS = 30


def long_chat(n_used: int) -> CacheUsage:
    """A chat of many turns that fills most of a large cache."""
    size = n_used // N_TURNS
    return usage(N_CELLS, (*[size] * (N_TURNS - 1), n_used - size * (N_TURNS - 1)), n_sink=4, n_reused=n_used // 2)


def median_ms(do: Callable[[], object]) -> float:
    """The median of some runs."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        do()
        times.append(time.perf_counter() - started)
    return 1000 * sorted(times)[len(times) // 2]


def cells(width: int, ratio: float) -> None:
    """Print what the picture costs at a width in logical pixels."""
    now, then = long_chat(100_000), long_chat(100_001)
    codes, more = cell_codes(now), cell_codes(then)
    free = cell_codes(replace(now, spans=()))
    grid = Grid.fitting(N_CELLS, width)
    raster = CellRaster(grid, tiles(LIGHT, ratio), ratio)
    places = CellMap(now)
    target = QImage(raster.image.size(), QImage.Format.Format_ARGB32_Premultiplied)

    def whole() -> None:
        raster.update(free)
        raster.update(codes)

    def paint() -> None:
        painter = QPainter(target)
        painter.drawImage(0, 0, raster.image)
        painter.end()

    def step() -> None:
        raster.update(more)
        raster.update(codes)

    whole_ms, step_ms = median_ms(whole) / 2, median_ms(step) / 2
    print(
        f"{width:>5} px × {ratio:g}: all cells {whole_ms:.2f} ms, one more token {step_ms:.3f} ms, from spans to codes "
        f"{median_ms(lambda: cell_codes(now)):.2f} ms, paint {median_ms(paint):.3f} ms, "
        f"find a cell {median_ms(lambda: places.at(90_000)):.4f} ms",
        flush=True,
    )


def panel() -> None:
    """Print what a usage costs the whole panel, shown and hidden."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    shown = CachePanel(Theme(app))
    shown.resize(320, 820)
    shown.show()
    shown.take(ModelLoaded(1, replace(model_facts(), n_ctx=N_CELLS)))
    app.processEvents()
    sizes = iter(range(100_000, 100_000 + 10 * ROUNDS))

    def take() -> None:
        shown.take(CacheChanged(long_chat(next(sizes))))
        app.processEvents()

    made = median_ms(lambda: long_chat(100_000))
    print(f"a usage of {N_TURNS} turns, drawn: {median_ms(take) - made:.2f} ms (at most 20 a second)", flush=True)
    shown.close()


def sampling() -> None:
    """Print what one sample a second takes of a core."""
    sampler = DeviceSampler()
    cpu = Device("CPU", "", "cpu", "CPU", 0, 0)
    sampler.sample((cpu,), os.getpid())
    started = time.thread_time()
    for _ in range(ROUNDS):
        sampler.sample((cpu,), os.getpid())
    share = (time.thread_time() - started) / ROUNDS
    sampler.close()
    print(f"sampling once a second: {share:.2%} of a core", flush=True)


if __name__ == "__main__":
    QApplication([])
    for at_width, at_ratio in ((280, 1.0), (280, 2.0), (3840, 1.0)):
        cells(at_width, at_ratio)
    panel()
    sampling()
