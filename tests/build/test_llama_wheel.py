"""The wheel of llama.cpp: its key, its keeping and its building."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.build.conftest import Computer
from tools.gpu import GpuBuild
from tools.llama_wheel import Recipe, WheelStore, backends_in, expected_minutes
from tools.prerequisites import SetupError

VULKAN = GpuBuild(("vulkan",), ("-DGGML_VULKAN=ON",), ("-DVulkan_INCLUDE_DIR=/somewhere",))
CPU_RECIPE = Recipe("0.3.36")
VULKAN_RECIPE = Recipe("0.3.36", VULKAN)
CPU_FILES = ["bin/libggml-cpu-haswell.so", "bin/libggml-rpc.so", "llama_cpp/lib/libggml-base.so.0"]
WHEEL_NAME = "llama_cpp_python-0.3.36-py3-none-any.whl"
ROOT = Path(__file__).parents[2]


def write_wheel(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def pip_that(computer: Computer, script: str) -> Path:
    """A program to build with; `$folder` is where a wheel is expected."""
    computer.add_program("c++")
    find = 'while [ "$1" != -w ]; do shift; done; folder=$2'
    return computer.add_program("python", f"PATH={os.defpath}\n{find}\n{script}")


def test_the_key_knows_all_that_shapes_the_wheel_and_nothing_else() -> None:
    elsewhere = replace(VULKAN, local_flags=("-DVulkan_INCLUDE_DIR=/elsewhere",), skipped=("CUDA is left out",))
    assert VULKAN_RECIPE.key == Recipe("0.3.36", elsewhere).key
    others = [
        CPU_RECIPE,
        Recipe("0.3.37", VULKAN),
        Recipe("0.3.36", VULKAN, ("-DGGML_OPENMP=OFF",)),
        Recipe("0.3.36", VULKAN, (), "other-platform"),
    ]
    assert len({recipe.key for recipe in [VULKAN_RECIPE, *others]}) == 1 + len(others)


def test_flags_with_spaces_stay_one_flag() -> None:
    recipe = Recipe("0.3.36", replace(VULKAN, local_flags=("-DVulkan_INCLUDE_DIR=/my headers",)))
    assert "'-DVulkan_INCLUDE_DIR=/my headers'" in recipe.cmake_args


def test_back_ends_are_known_by_their_files_on_every_system() -> None:
    names = ["bin/libggml-cpu-x64.so", "bin/ggml-cuda.dll", "a\\ggml-vulkan.dll", "lib/libggml-metal.dylib"]
    assert backends_in(names) == {"cpu", "cuda", "vulkan", "metal"}
    assert backends_in(["lib/libggml.so", "lib/libllama.so", "ggml-cpu.h"]) == set()


def test_a_recipe_survives_being_written() -> None:
    recipe = Recipe("0.3.36", VULKAN, ("-DX=1",))
    again = Recipe.from_json(recipe.as_json())
    assert again is not None
    assert (again.key, again.flags, again.gpu.names) == (recipe.key, recipe.flags, recipe.gpu.names)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 1}', '{"gpu": []}'])
def test_a_damaged_recipe_is_none(text: str) -> None:
    assert Recipe.from_json(text) is None


def test_more_back_ends_cover_fewer() -> None:
    assert VULKAN_RECIPE.covers(CPU_RECIPE)
    assert not CPU_RECIPE.covers(VULKAN_RECIPE)
    assert not replace(VULKAN_RECIPE, version="0.3.37").covers(CPU_RECIPE)


def test_a_whole_wheel_is_kept(computer: Computer) -> None:
    store = WheelStore(computer.machine())
    assert store.kept(VULKAN_RECIPE) is None
    wheel = write_wheel(computer.folder / WHEEL_NAME, [*CPU_FILES, "bin/libggml-vulkan.so"])
    kept = store.keep(VULKAN_RECIPE, wheel)
    assert store.kept(VULKAN_RECIPE) == kept
    assert [recipe.key for recipe in store.recipes()] == [VULKAN_RECIPE.key]
    assert store.kept(CPU_RECIPE) is None


def test_a_wheel_without_a_back_end_is_not_kept(computer: Computer) -> None:
    store = WheelStore(computer.machine())
    with pytest.raises(SetupError, match="without vulkan"):
        store.keep(VULKAN_RECIPE, write_wheel(computer.folder / WHEEL_NAME, CPU_FILES))
    assert store.kept(VULKAN_RECIPE) is None


def test_a_build_shows_its_steps_and_is_done_once(computer: Computer, capsys: pytest.CaptureFixture[str]) -> None:
    ready = write_wheel(computer.folder / WHEEL_NAME, CPU_FILES)
    flags_file = computer.folder / "flags"
    python = pip_that(
        computer, f"echo '[5/10] c++'; echo '[10/10] c++'; echo $CMAKE_ARGS >> {flags_file}; cp {ready} $folder"
    )
    store = WheelStore(computer.machine())
    wheel = store.build(CPU_RECIPE, python)
    assert wheel == store.kept(CPU_RECIPE)
    assert "5 of 10" in capsys.readouterr().out
    assert store.build(CPU_RECIPE, python) == wheel
    assert flags_file.read_text(encoding="utf-8").splitlines() == [CPU_RECIPE.cmake_args]
    left = {path.name for path in store.folder.iterdir()}
    assert left == {CPU_RECIPE.key, f"{CPU_RECIPE.key}.lock"}


def test_a_failed_build_leaves_a_log_and_nothing_else(computer: Computer) -> None:
    python = pip_that(computer, "echo half > $folder/half.whl; echo 'internal compiler error'; exit 1")
    store = WheelStore(computer.machine())
    with pytest.raises(SetupError, match="GPU=none") as caught:
        store.build(VULKAN_RECIPE, python)
    (log,) = store.folder.glob("*.log")
    assert str(log) in str(caught.value)
    assert "internal compiler error" in log.read_text(encoding="utf-8")
    assert store.kept(VULKAN_RECIPE) is None
    assert not list(store.folder.glob("*.building"))


def test_an_interrupted_build_ends_its_processes_and_leaves_no_half_wheel(computer: Computer) -> None:
    held_open = computer.folder / "held_open"  # closed when the last of the build's processes is gone
    never_written = computer.folder / "never_written"  # opening it to read takes for ever
    os.mkfifo(held_open)
    os.mkfifo(never_written)
    python = pip_that(
        computer,
        f"echo half > $folder/{WHEEL_NAME}; exec 3> {held_open}; cat {never_written} & echo '[5/10] c++'; wait",
    )
    program = (
        "import signal, sys; from pathlib import Path\n"
        "from tools.machine import Machine; from tools.llama_wheel import Recipe, WheelStore\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
        f"WheelStore(Machine()).build(Recipe('0.3.36'), Path({str(python)!r}))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], env=computer.environ, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as builder:
        assert builder.stdout is not None
        reader = os.open(held_open, os.O_RDONLY)
        assert "5 of 10" in builder.stdout.readline()
        builder.send_signal(signal.SIGTERM)
        assert builder.wait(timeout=20) == 143
    ended, _, _ = select.select([reader], [], [], 10)
    os.close(reader)
    assert ended
    store = WheelStore(computer.machine())
    assert store.kept(CPU_RECIPE) is None
    assert not list(store.folder.glob("*.building"))


def test_a_build_needs_a_compiler(computer: Computer) -> None:
    python = computer.add_program("python")
    with pytest.raises(SetupError, match="build-essential"):
        WheelStore(computer.machine()).build(CPU_RECIPE, python)


def test_more_cores_take_less_time() -> None:
    assert expected_minutes(VULKAN_RECIPE, 2) > expected_minutes(CPU_RECIPE, 2) > expected_minutes(CPU_RECIPE, 8)
    assert expected_minutes(CPU_RECIPE, 1000) == 1
