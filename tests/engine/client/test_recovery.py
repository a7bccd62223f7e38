"""What is learnt from deaths: when to stop restarting, which CPU code to try, and what to keep for the next start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.messages import Device, EngineReady, LoadStage
from engine.client.recovery import RESTARTS_MAX, RESTARTS_PERIOD_S, TRIALS_MAX, Recovery, describe_exit

SEGV = -11


def ready(
    variant: str = "fast", variants: tuple[str, ...] = ("fast", "plain"), *, processor: str = "P", version: str = "1"
) -> EngineReady:
    cpu = Device("CPU", processor, "cpu", "CPU", 1, 1)
    return EngineReady({"llama_cpp": version}, ("CPU",), (cpu,), variant, variants)


def learnt(path: Path) -> Recovery:
    """A recovery that has learnt to leave “fast” out."""
    recovery = Recovery(path)
    recovery.note_ready(ready())
    assert recovery.after_death(SEGV, LoadStage.WARM_UP).retry
    assert recovery.note_loaded()
    return recovery


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
    assert recovery.excluded_cpu_variants == ()


@given(st.integers(1, 5), st.booleans())
def test_trials_end_and_leave_nothing_where_none_worked(n_variants: int, is_without: bool) -> None:
    variants = tuple(f"v{i}" for i in range(n_variants))
    recovery = Recovery()
    tried = []
    while True:
        usable = [variant for variant in variants if variant not in recovery.excluded_cpu_variants]
        tried.append((usable[0], recovery.without_extra_bufts))
        recovery.note_ready(ready(usable[0], variants))
        if not recovery.after_death(SEGV, LoadStage.WARM_UP).retry:
            break
    assert len(tried) == len(set(tried)) <= 1 + TRIALS_MAX
    assert tried[-1][1], "weights as they are in the file are the last thing tried"
    assert (recovery.excluded_cpu_variants, recovery.without_extra_bufts) == ((), False)


def test_what_worked_is_kept_for_the_next_start_only_once_it_worked(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "machine.json"
    recovery = Recovery(path)
    recovery.note_ready(ready())
    assert recovery.after_death(SEGV, LoadStage.WARM_UP).retry
    assert recovery.excluded_cpu_variants == ("fast",)
    assert not path.exists()
    sentence = recovery.note_loaded()
    assert sentence is not None
    assert "“plain” instead of “fast”" in sentence
    assert recovery.note_loaded() is None
    assert Recovery(path).excluded_cpu_variants == ("fast",)
    assert [one.name for one in path.parent.iterdir()] == ["machine.json"]


@pytest.mark.parametrize("other", [{"processor": "Q"}, {"version": "2"}])
def test_another_processor_or_library_starts_anew(tmp_path: Path, other: dict[str, str]) -> None:
    path = tmp_path / "machine.json"
    learnt(path)
    recovery = Recovery(path)
    recovery.note_ready(ready("plain"))
    assert recovery.excluded_cpu_variants == ("fast",)
    recovery.note_ready(ready("plain", **other))
    assert recovery.excluded_cpu_variants == ()
    assert Recovery(path).excluded_cpu_variants == ()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"machine": 3}', "[" * 50_000, '{"machine": {}, "excluded_cpu_variants": 7}', "\0\xff"],
)
def test_a_damaged_memory_is_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text, "utf-8")
    recovery = Recovery(path)
    assert (recovery.excluded_cpu_variants, recovery.without_extra_bufts) == ((), False)


def test_a_number_without_an_end_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    learnt(path)
    path.write_text(path.read_text("utf-8").replace("{", '{"n": ' + "9" * 5000 + ",", 1), "utf-8")
    assert Recovery(path).excluded_cpu_variants == ("fast",)


def test_a_memory_that_can_not_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    learnt(tmp_path / "file" / "machine.json")


def test_the_memory_is_plain_json(tmp_path: Path) -> None:
    learnt(tmp_path / "machine.json")
    assert json.loads((tmp_path / "machine.json").read_text("utf-8")) == {
        "machine": {"processor": "P", "llama_cpp": "1"},
        "excluded_cpu_variants": ["fast"],
        "without_extra_bufts": False,
    }


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
    sentence = describe_exit(exit_code, stage)
    assert words in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_start_that_hangs_is_tried_once_without_the_gpu_until_the_person_tries_again() -> None:
    recovery = Recovery()
    assert recovery.after_death(-9, None, is_late=True).retry
    assert recovery.without_gpu
    assert "graphics driver" in (recovery.note_ready(ready()) or "")
    assert recovery.note_ready(ready()) is None
    recovery.note_success()
    assert recovery.without_gpu
    assert not recovery.after_death(-9, None, is_late=True).restart
    recovery.note_new_try()
    assert not recovery.without_gpu


def test_a_gpu_that_works_at_the_next_try_is_not_said_to_hang() -> None:
    recovery = Recovery()
    for _with_and_without_it in range(2):
        recovery.after_death(-9, None, is_late=True)
    recovery.note_new_try()
    assert recovery.note_ready(ready()) is None
