"""The start options of an engine process, which the client decides before any model is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from engine.api.settings import TierSettings


@dataclass(frozen=True)
class EngineOptions:
    """``log_path``: the file that takes the process's standard output and error, read again after a crash.

    ``excluded_cpu_variants`` and ``without_extra_bufts`` turn off native code that crashed on this machine with the
    first decode. ``rpc_servers``: llama.cpp RPC workers, ``host:port``. ``snapshot_folder``: the folder of snapshots,
    within the budgets of ``tiers``; None keeps snapshots in RAM only. ``without_gpu``: no GPU back end is loaded,
    because a driver hangs. ``template_timeout_s``: the time limit of a model's chat template for a short chat, after
    which it counts as endless.

    ``gomp_spin_count``: how long OpenMP threads spin before they sleep. 300 is the shortest that costs nothing on a
    quiet machine. Tokens a second of the starter model with 2 threads on 2 cores, alone and beside two busy programs
    (``tests/bench/bench_spin.py``)::

        GOMP_SPINCOUNT    0      100     300     1000    10000    unset
        alone            58      106     137     138     136      122
        beside           65       17      12       8       4        1
    """

    log_path: str
    excluded_cpu_variants: tuple[str, ...] = ()
    without_extra_bufts: bool = False
    rpc_servers: tuple[str, ...] = ()
    gomp_spin_count: int = 300
    snapshot_folder: str | None = None
    tiers: TierSettings = TierSettings()
    without_gpu: bool = False
    template_timeout_s: float = 5.0
