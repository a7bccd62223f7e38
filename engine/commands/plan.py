"""``plan``: the exact bytes of a load before it; --verify compares them with a real load."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.api.messages import DeviceMemory
from engine.api.options import EngineOptions
from engine.api.plan import MemoryPlan
from engine.api.settings import LoadSettings
from engine.commands import options
from engine.commands.isolated import run_isolated
from engine.commands.output import json_line

_PARTS = ("weights", "kv", "recurrent", "compute", "output")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``plan``."""
    options.add_model(parser)
    options.add_settings(parser, LoadSettings, title="model and cache")
    parser.add_argument("--verify", action="store_true", help="also load the model, and compare with what it takes")


def run(args: argparse.Namespace) -> int:
    """Print the report; raises EngineError."""
    plan, allocated = run_isolated(_measure, options.model_path(args), options.load_settings(args), args.verify)
    report = plan_report(plan, allocated)
    print(json_line(report) if args.json else plan_table(report))
    return 0


def plan_report(plan: MemoryPlan, allocated: Sequence[DeviceMemory] | None = None) -> dict[str, Any]:
    """A plan ready for JSON; all sizes are in bytes.

    ``allocated``: the bytes of the same load as done; ``difference_bytes`` is the total allocated minus planned. A size
    counts as the planned one if it agrees with llama.cpp's log of its allocations, which rounds to 0.01 MiB a buffer.
    """
    report: dict[str, Any] = {
        "n_ctx": plan.n_ctx,
        "n_gpu_layers": plan.n_gpu_layers,
        "flash_attn": plan.flash_attn,
        "can_shift": plan.can_shift,
        "kv_bytes_k": plan.kv_bytes_k,
        "kv_bytes_v": plan.kv_bytes_v,
        "kv_bytes": plan.kv_bytes,
        "recurrent_bytes": plan.recurrent_bytes,
        "weights_bytes": plan.weights_bytes,
        "compute_bytes": plan.compute_bytes,
        "output_bytes": plan.output_bytes,
        "total_bytes": plan.total_bytes,
        "fits": plan.fits,
        "devices": [
            {**dataclasses.asdict(device), "planned_bytes": device.held_bytes, "fits": device.fits}
            for device in plan.devices
        ],
        "warnings": [{"code": str(warning.code), "message": warning.message} for warning in plan.warnings],
    }
    if allocated is not None:
        total = sum(getattr(memory, f"{part}_bytes") for memory in allocated for part in _PARTS)
        report["allocated_kv_bytes"] = sum(memory.kv_bytes for memory in allocated)
        report["allocated_bytes"] = total
        report["difference_bytes"] = total - plan.total_bytes
    return report


def plan_table(report: Mapping[str, Any]) -> str:
    """The report of `plan_report` for a person to read."""
    lines = [f"{'MiB':<14}" + "".join(f"{part:>11}" for part in (*_PARTS, "together", "free"))]
    for device in report["devices"]:
        sizes = [*(device[f"{part}_bytes"] for part in _PARTS), device["planned_bytes"], device["free_bytes"]]
        verdict = "fits" if device["fits"] else "does not fit"
        lines.append(f"{device['name']:<14}" + "".join(f"{size / 2**20:>11,.2f}" for size in sizes) + f"  {verdict}")
    lines += [
        "",
        f"cells          {report['n_ctx']:,}",
        f"K and V        {report['kv_bytes_k']:,} + {report['kv_bytes_v']:,} = {report['kv_bytes']:,} bytes",
        f"GPU layers     {report['n_gpu_layers']}",
        f"flash attn     {'on' if report['flash_attn'] else 'off'}",
        f"can shift      {'yes' if report['can_shift'] else 'no'}",
    ]
    if "allocated_bytes" in report:
        lines += [
            f"allocated KV   {report['allocated_kv_bytes']:,} bytes",
            f"allocated      {report['allocated_bytes']:,} bytes, {report['difference_bytes']:+,} beside the plan",
        ]
    return "\n".join([*lines, *(f"! {warning['message']}" for warning in report["warnings"])])


def _measure(
    log: Any, engine_options: EngineOptions, path: Path, settings: LoadSettings, is_verified: bool
) -> tuple[MemoryPlan, tuple[DeviceMemory, ...] | None]:
    from engine.native.context import NativeContext
    from engine.native.devices import Ggml
    from engine.native.meter import MemoryMeter
    from engine.native.model import NativeModel

    meter = MemoryMeter(Ggml(), log, without_extra_bufts=engine_options.without_extra_bufts)
    plan = meter.plan(path, settings)
    if not is_verified:
        return plan, None
    settings = meter.load_settings(path, settings, plan)
    model = NativeModel(path, settings, log)
    context = NativeContext(model, settings, log)
    return plan, meter.loaded_memory(model, context, settings)
