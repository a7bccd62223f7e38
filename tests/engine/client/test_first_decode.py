"""A machine whose fastest code crashes at its first decode: survived unasked, and remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.api.messages import (
    EngineLost,
    EngineReady,
    Finished,
    LoadCancelled,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    Notice,
    NoticeCode,
)
from engine.client.client import Recovery
from engine.client.machine import NativeCode
from tests.engine.client import fake_workers
from tests.engine.client.client_desk import Desk


def test_a_crash_in_the_first_decode_is_survived_unasked_and_remembered(
    desk: Callable[..., Desk], tmp_path: Path
) -> None:
    memory = tmp_path / "config" / "machine.json"
    one = desk(fake_workers.run_on_fast_machine, recovery=Recovery(memory))
    load, ask = one.load(), one.ask("typed while it loads")
    assert one.heard.wait(ModelLoaded).request_id == load
    assert one.heard.wait(Finished).request_id == ask
    assert one.heard.of(EngineLost) == []
    told = [notice for notice in one.heard.of(Notice) if notice.code is NoticeCode.CPU_FALLBACK]
    assert len(told) == 1
    assert "“middle” instead of “fast”" in told[0].message
    one.client.close()

    another = desk(fake_workers.run_on_fast_machine, recovery=Recovery(memory))
    another.load()
    another.heard.wait(ModelLoaded)
    assert another.heard.of(EngineReady)[0].cpu_variant == "middle"
    assert [notice.code for notice in another.heard.of(Notice)] == [NoticeCode.CPU_ONLY]


def test_where_no_other_variant_helps_weights_are_not_repacked(desk: Callable[..., Desk], tmp_path: Path) -> None:
    memory = tmp_path / "machine.json"
    one = desk(fake_workers.run_on_wide_machine, recovery=Recovery(memory))
    one.load()
    one.heard.wait(ModelLoaded)
    assert len(one.heard.of(EngineReady)) == 3
    told = [notice for notice in one.heard.of(Notice) if notice.code is NoticeCode.CPU_FALLBACK]
    assert len(told) == 1
    assert "as they are in the file" in told[0].message
    assert Recovery(memory).machine.code.without_extra_bufts


def test_a_first_decode_that_no_code_survives_teaches_nothing(desk: Callable[..., Desk], tmp_path: Path) -> None:
    memory = tmp_path / "machine.json"
    recovery = Recovery(memory)
    one = desk(fake_workers.run_on_bad_machine, recovery=recovery)
    load = one.load()
    lost = one.heard.wait(EngineLost)
    assert lost.request_ids == (load,)
    assert lost.outcome is LossOutcome.RESTARTED
    assert len(one.heard.of(EngineReady)) == 3
    assert not memory.exists()
    assert recovery.machine.code == NativeCode()


def test_a_stop_is_not_lost_in_a_crash_of_the_first_decode(desk: Callable[..., Desk]) -> None:
    one = desk(fake_workers.run_on_fast_machine)
    load = one.load("stopped")
    one.heard.wait(LoadProgress, lambda event: event.stage is LoadStage.WARM_UP)
    one.stop(load)
    assert one.heard.wait(LoadCancelled).request_id == load


def test_a_process_without_memory_is_no_reason_to_change_the_cpu_code(desk: Callable[..., Desk]) -> None:
    one = desk()
    one.load("dies-kill-warm_up")
    assert "memory ran out" in one.heard.wait(EngineLost).message
    assert len(one.heard.of(EngineReady)) == 1
