"""When to start again after deaths, and when to stop; what a death in the first decode is blamed on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.messages import Device, EngineReady, LoadStage
from engine.client.machine import NativeCode
from engine.client.recovery import RESTARTS_MAX, RESTARTS_PERIOD_S, Recovery, describe_exit

SEGV = -11


def ready() -> EngineReady:
    return EngineReady({}, ("CPU",), (Device("CPU", "P", "cpu", "CPU", 1, 1),), "fast", ("fast", "plain"))


@given(st.lists(st.floats(0.0, 100.0), max_size=12))
def test_a_restart_is_refused_exactly_when_too_many_deaths_are_close_together(pauses: list[float]) -> None:
    moments = [sum(pauses[: i + 1]) for i in range(len(pauses))]
    clock = iter(moments)
    recovery = Recovery(clock=lambda: next(clock))
    for i, moment in enumerate(moments):
        recent = moments[max(0, i - RESTARTS_MAX) : i + 1]
        is_often = len(recent) > RESTARTS_MAX and moment - recent[0] < RESTARTS_PERIOD_S
        assert recovery.after_death(SEGV, None).restart is not is_often


def test_an_answer_between_deaths_lets_them_be_forgotten() -> None:
    recovery = Recovery(clock=lambda: 0.0)
    for _ in range(20):
        assert recovery.after_death(SEGV, None).restart
        recovery.note_success()


@pytest.mark.parametrize(
    ("exit_code", "stage"),
    [
        (-9, LoadStage.WARM_UP),
        (-15, LoadStage.WARM_UP),
        (0, LoadStage.WARM_UP),
        (SEGV, LoadStage.WEIGHTS),
        (SEGV, None),
    ],
)
def test_only_a_crash_in_the_first_decode_is_about_the_cpu_code(exit_code: int, stage: LoadStage | None) -> None:
    recovery = Recovery()
    recovery.note_ready(ready())
    assert not recovery.after_death(exit_code, stage).retry
    assert recovery.machine.code == NativeCode()


def test_a_crash_in_the_first_decode_is_worth_a_try_with_other_code() -> None:
    recovery = Recovery()
    recovery.note_ready(ready())
    assert recovery.after_death(SEGV, LoadStage.WARM_UP).retry
    assert recovery.machine.code == NativeCode(("fast",))


@pytest.mark.parametrize(
    ("exit_code", "stage", "words"),
    [
        (-9, LoadStage.WEIGHTS, "memory ran out"),
        (-11, None, "SIGSEGV"),
        (-6, LoadStage.CONTEXT, "while loading the model (SIGABRT)"),
        (-200, None, "signal 200"),
        (1, None, "exit code 1"),
        (3221225477, None, "exit code 3221225477"),
        (None, None, "unexpectedly"),
    ],
)
def test_every_end_has_a_sentence(exit_code: int | None, stage: LoadStage | None, words: str) -> None:
    sentence = str(describe_exit(exit_code, stage))
    assert words in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_start_that_hangs_is_tried_once_without_the_gpu_until_the_person_tries_again() -> None:
    recovery = Recovery()
    assert recovery.after_death(-9, None, is_late=True).retry
    assert recovery.machine.code.without_gpu
    assert "graphics driver" in str(recovery.note_ready(ready()))
    assert recovery.note_ready(ready()) is None
    recovery.note_success()
    assert recovery.machine.code.without_gpu
    assert not recovery.after_death(-9, None, is_late=True).restart
    recovery.note_new_try()
    assert not recovery.machine.code.without_gpu


def test_a_gpu_that_works_at_the_next_try_is_not_said_to_hang() -> None:
    recovery = Recovery()
    for _with_and_without_it in range(2):
        recovery.after_death(-9, None, is_late=True)
    recovery.note_new_try()
    assert recovery.note_ready(ready()) is None
