"""`plan` on the command line: the report for programs, the table for people, and the way out of a refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.api.facts import DeviceMemory
from engine.api.plan import DevicePlan, MemoryPlan, PlanWarning, PlanWarningCode
from engine.api.sentences import say
from engine.commands.plan import plan_report, plan_table

MIB = 1 << 20
GPU = DevicePlan("CUDA0", 300 * MIB, 45 * MIB, 0, 100 * MIB, 0, free_bytes=400 * MIB, total_bytes=1024 * MIB)
CPU = DevicePlan("CPU", 28 * MIB, 0, 2 * MIB, 3 * MIB, MIB, free_bytes=9000 * MIB, total_bytes=16_000 * MIB)
WARNING = PlanWarning(PlanWarningCode.COMPUTE_GROWS, say("It grows."))
PLAN = MemoryPlan(2048, 31, 30 * MIB, 15 * MIB, True, False, (GPU, CPU), (WARNING,))


def test_the_report_adds_up() -> None:
    report = json.loads(json.dumps(plan_report(PLAN)))
    assert (report["kv_bytes_k"], report["kv_bytes_v"], report["kv_bytes"]) == (30 * MIB, 15 * MIB, 45 * MIB)
    assert (report["weights_bytes"], report["recurrent_bytes"]) == (328 * MIB, 2 * MIB)
    assert (report["compute_bytes"], report["output_bytes"], report["total_bytes"]) == (103 * MIB, MIB, 479 * MIB)
    assert (report["n_ctx"], report["n_gpu_layers"], report["can_shift"]) == (2048, 31, True)
    assert report["fits"] is False
    assert [device["fits"] for device in report["devices"]] == [False, True]
    assert report["warnings"] == [{"code": "compute_grows", "message": "It grows."}]
    assert "allocated_bytes" not in report


def test_a_verified_report_says_how_far_the_plan_was_off() -> None:
    allocated = (
        DeviceMemory("CUDA0", 300 * MIB, 45 * MIB, 0, 90 * MIB, 0),
        DeviceMemory("CPU", 28 * MIB, 0, 2 * MIB, 3 * MIB, MIB),
    )
    report = plan_report(PLAN, allocated)
    assert report["allocated_kv_bytes"] == 45 * MIB
    assert report["allocated_bytes"] == 469 * MIB
    assert report["difference_bytes"] == -10 * MIB
    assert "-10,485,760 beside the plan" in plan_table(report)


def test_the_table_names_what_does_not_fit_and_what_to_know() -> None:
    table = plan_table(plan_report(PLAN))
    gpu_line = next(line for line in table.splitlines() if line.startswith("CUDA0"))
    sizes = ["300.00", "45.00", "0.00", "100.00", "0.00", "445.00", "400.00"]
    assert gpu_line.split() == ["CUDA0", *sizes, "does", "not", "fit"]
    assert table.splitlines()[-1] == "! It grows."


def test_the_command_verifies_itself(tiny_model: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tiny_model(n_ctx_train=512))
    arguments = ["--n-ctx", "300", "--type-k", "q8_0", "--type-v", "q4_0", "--n-gpu-layers", "0", "--n-batch", "1024"]
    assert main(["plan", model, *arguments, "--verify", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    # 2 layers, 512 cells, 64 elements: blocks of 32 in 34 bytes and in 18.
    assert (report["kv_bytes_k"], report["kv_bytes_v"]) == (2 * 512 * 2 * 34, 2 * 512 * 2 * 18)
    assert report["allocated_kv_bytes"] == report["kv_bytes"]
    assert abs(report["difference_bytes"]) <= 0.01 * report["allocated_bytes"]
    assert report["fits"]
    assert [warning["code"] for warning in report["warnings"]] == ["setting_adjusted", "flash_attention_forced"]


def test_an_impossible_setting_ends_with_the_way_out(
    tiny_model: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(tiny_model(head_size=80)), "--type-k", "q8_0"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "Use f16, bf16 or f32 for K" in printed.err
