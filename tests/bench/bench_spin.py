"""How long OpenMP threads should spin before they sleep: speeds on a quiet machine, and beside two busy programs.

Run by hand: `python -m tests.bench.bench_spin`. Every value is measured in a process of its own, in turns. Where the
system lets it, the bench goes before everything else on the machine: alone in real time, and together with its busy
programs at the highest priority. What counts is the ratio to the best.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

VALUES = ("default", "0", "100", "300", "1000", "10000")
ROUNDS = 3
N_THREADS = 2
N_BUSY = 2
SECONDS = 0.5
FIRST_NICE = -20
REAL_TIME_PRIORITY = 10


def measure(seconds: float) -> float:
    """Tokens per second that the starter model writes with two threads."""
    from engine.api.settings import LoadSettings
    from engine.models.starter import starter_path
    from engine.native.context import NativeContext
    from engine.native.devices import Ggml
    from engine.native.log import NativeLog
    from engine.native.model import NativeModel

    log = NativeLog(write_to=None)
    Ggml().load_backends()
    settings = LoadSettings(n_ctx=512, n_threads=N_THREADS, n_gpu_layers=0)
    model = NativeModel(starter_path(), settings, log)
    context = NativeContext(model, settings, log)
    for position in range(4):
        context.decode([100 + position], position)
    started, n_tokens = time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        context.decode([100 + n_tokens], 4 + n_tokens)
        n_tokens += 1
    speed = n_tokens / (time.perf_counter() - started)
    context.close()
    model.close()
    return speed


def measured_apart(value: str, *, is_alone: bool) -> float:
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("GOMP_", "OMP_"))}
    if value != "default":
        environment["GOMP_SPINCOUNT"] = value
    command = [sys.executable, "-m", "tests.bench.bench_spin", "alone" if is_alone else "beside others"]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


@contextlib.contextmanager
def busy_programs(n_programs: int) -> Iterator[None]:
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_programs)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def main() -> None:
    with contextlib.suppress(OSError):
        os.nice(FIRST_NICE)
    speeds: dict[tuple[str, int], list[float]] = {}
    for _round in range(ROUNDS):
        for n_busy in (0, N_BUSY):
            with busy_programs(n_busy):
                for value in VALUES:
                    speeds.setdefault((value, n_busy), []).append(measured_apart(value, is_alone=not n_busy))
    best = {n_busy: max(statistics.median(speeds[value, n_busy]) for value in VALUES) for n_busy in (0, N_BUSY)}
    print(f"tokens/s, median of {ROUNDS} (share of the best)   alone            beside {N_BUSY} busy programs")
    for value in VALUES:
        medians = {n_busy: statistics.median(speeds[value, n_busy]) for n_busy in (0, N_BUSY)}
        columns = [f"{medians[n]:7.1f} ({medians[n] / best[n]:4.0%})" for n in (0, N_BUSY)]
        print(f"GOMP_SPINCOUNT={value:>9}                          {columns[0]}   {columns[1]}")


if __name__ == "__main__":
    if sys.argv[1:]:
        if sys.argv[1] == "alone":
            with contextlib.suppress(OSError, AttributeError):
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(REAL_TIME_PRIORITY))
        print(measure(SECONDS))
    else:
        main()
