"""What crashes teach about a machine: which CPU code to try, what worked, and what to keep for the next start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.messages import Device, EngineReady
from engine.api.options import EngineOptions
from engine.client.machine import TRIALS_MAX, Machine, NativeCode

SEGV = -11
ALL = ("fast", "plain")
WITHOUT_FAST = NativeCode(("fast",))


def ready(*, processor: str = "P", version: str = "1") -> EngineReady:
    cpu = Device("CPU", processor, "cpu", "CPU", 1, 1)
    return EngineReady({"llama_cpp": version}, ("CPU",), (cpu,), "", ALL)


def learnt(path: Path) -> Machine:
    """A machine on which “fast” was left out, and a model loaded so."""
    machine = Machine(path)
    machine.note_ready(ready())
    assert machine.try_other_code(machine.code, SEGV, "fast", ALL)
    assert machine.note_loaded(machine.code, ready())
    return machine


@given(st.integers(1, 5), st.booleans())
def test_trials_end_and_leave_nothing_where_none_worked(n_variants: int, has_hanging_gpu: bool) -> None:
    variants = tuple(f"v{i}" for i in range(n_variants))
    machine = Machine()
    machine.set_without_gpu(has_hanging_gpu)
    before, tried = machine.code, []
    while True:
        usable = [variant for variant in variants if variant not in machine.code.excluded_variants]
        tried.append((usable[0], machine.code.without_extra_bufts))
        if not machine.try_other_code(machine.code, SEGV, usable[0], variants):
            break
    assert len(tried) == len(set(tried)) <= 1 + TRIALS_MAX
    assert tried[-1][1], "weights as they are in the file are the last thing tried"
    assert machine.code == before


@pytest.mark.parametrize("exit_code", [0, -9, -15])
def test_a_process_that_was_ended_teaches_nothing(exit_code: int) -> None:
    machine = Machine()
    assert not machine.try_other_code(machine.code, exit_code, "fast", ALL)
    assert machine.code == NativeCode()


def test_what_another_process_learnt_meanwhile_is_tried_first() -> None:
    machine = Machine()
    old = machine.code
    assert machine.try_other_code(old, SEGV, "fast", ALL)
    assert machine.try_other_code(old, SEGV, "fast", ALL)
    assert machine.code == WITHOUT_FAST, "one lesson for two crashes of the same code"


def test_a_model_that_is_loaded_with_the_old_code_ends_the_trial_of_other_code(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine.json")
    old = machine.code
    assert machine.try_other_code(old, SEGV, "fast", ALL)
    assert machine.note_loaded(old, ready()) is None
    assert (machine.code, machine.is_proven(old), machine.is_proven(WITHOUT_FAST)) == (old, True, False)
    assert list(tmp_path.iterdir()) == []


def test_the_options_of_a_process_hold_what_was_asked_for_and_what_is_known() -> None:
    options = EngineOptions("log", excluded_cpu_variants=("a",), without_gpu=True)
    applied = NativeCode(("fast",), without_extra_bufts=True).applied(options)
    assert applied == EngineOptions("log", ("a", "fast"), without_extra_bufts=True, without_gpu=True)


def test_what_worked_is_kept_for_the_next_start_only_once_it_worked(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "machine.json"
    machine = Machine(path)
    machine.note_ready(ready())
    assert machine.try_other_code(machine.code, SEGV, "fast", ALL)
    assert machine.code == WITHOUT_FAST
    assert not path.exists()
    sentence = machine.note_loaded(machine.code, ready())
    assert sentence is not None
    assert "“plain” instead of “fast”" in str(sentence)
    assert machine.note_loaded(machine.code, ready()) is None
    assert Machine(path).code == WITHOUT_FAST
    assert [one.name for one in path.parent.iterdir()] == ["machine.json"]


def test_a_hanging_driver_is_for_this_start_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine.json")
    machine.set_without_gpu(True)
    assert machine.try_other_code(machine.code, SEGV, "fast", ALL)
    assert machine.note_loaded(machine.code, ready())
    assert machine.code == NativeCode(("fast",), without_gpu=True)
    assert Machine(tmp_path / "machine.json").code == WITHOUT_FAST


@pytest.mark.parametrize("other", [{"processor": "Q"}, {"version": "2"}])
def test_another_processor_or_library_starts_anew(tmp_path: Path, other: dict[str, str]) -> None:
    path = tmp_path / "machine.json"
    learnt(path)
    machine = Machine(path)
    machine.note_ready(ready())
    assert machine.code == WITHOUT_FAST
    machine.note_ready(ready(**other))
    assert machine.code == NativeCode()
    assert Machine(path).code == NativeCode()
    # An engine that was started before that is the one whose bytes are planned.
    assert machine.note_loaded(WITHOUT_FAST, ready(**other)) is None
    assert machine.code == WITHOUT_FAST
    assert not path.exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"machine": 3}', "[" * 50_000, '{"machine": {}, "excluded_cpu_variants": 7}', "\0\xff"],
)
def test_a_damaged_memory_is_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text, "utf-8")
    assert Machine(path).code == NativeCode()


def test_a_number_without_an_end_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    learnt(path)
    path.write_text(path.read_text("utf-8").replace("{", '{"n": ' + "9" * 5000 + ",", 1), "utf-8")
    assert Machine(path).code.excluded_variants == ("fast",)


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
