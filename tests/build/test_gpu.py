"""Which GPU back ends are built, and what is said about those that are not."""

from __future__ import annotations

import pytest

from tests.build.conftest import Computer
from tools.gpu import choose, vulkan_header_version
from tools.prerequisites import SetupError

SYSTEMS = ("Debian", "Fedora", "macOS", "Windows")


def test_nothing_here_means_cpu_and_no_words(computer: Computer) -> None:
    gpu = choose("auto", computer.machine())
    assert (gpu.names, gpu.flags, gpu.skipped) == ((), (), ())


def test_a_compiler_without_a_card_does_not_make_a_cuda_build(computer: Computer) -> None:
    computer.add_program("nvcc")
    computer.add_program("nvidia-smi", "echo 'has failed because it could not communicate'; exit 9")
    gpu = choose("", computer.machine())
    assert gpu.names == ()
    assert len(gpu.skipped) == 1
    assert "GPU=cuda" in gpu.skipped[0]


def test_cuda_is_built_for_the_cards_that_are_here_with_all_kernels(computer: Computer) -> None:
    computer.add_program("nvcc")
    computer.add_program("nvidia-smi", "printf '8.9\\n8.6\\n8.9\\n'")
    gpu = choose("auto", computer.machine())
    assert gpu.names == ("cuda",)
    assert "-DGGML_CUDA_FA_ALL_QUANTS=ON" in gpu.flags
    assert "-DCMAKE_CUDA_ARCHITECTURES=86;89" in gpu.flags


def test_cuda_asked_for_without_a_card_is_built_for_all_cards(computer: Computer) -> None:
    computer.add_program("nvcc")
    gpu = choose("cuda", computer.machine())
    assert gpu.names == ("cuda",)
    assert not gpu.obstacles
    assert not [flag for flag in gpu.flags if "ARCHITECTURES" in flag]


def test_a_card_is_listed_by_one_back_end_only(computer: Computer) -> None:
    computer.add_program("nvcc")
    computer.add_program("nvidia-smi", "echo 9.0")
    computer.add_vulkan_tools()
    computer.add_vulkan_headers((1, 4, 309))
    assert choose("auto", computer.machine()).names == ("cuda",)
    assert choose("vulkan, cuda", computer.machine()).names == ("cuda", "vulkan")


def test_old_vulkan_headers_leave_it_out_and_say_so(computer: Computer) -> None:
    computer.add_vulkan_tools()
    computer.add_vulkan_headers((1, 3, 239))
    gpu = choose("auto", computer.machine())
    assert gpu.names == ()
    assert "1.3.239" in gpu.skipped[0]
    assert "VULKAN_HEADERS" in gpu.skipped[0]
    assert choose("vulkan", computer.machine()).obstacles == gpu.skipped


def test_newer_headers_can_be_named(computer: Computer) -> None:
    computer.add_vulkan_tools()
    computer.add_vulkan_headers((1, 3, 239))
    newer = computer.add_vulkan_headers((1, 4, 309), "newer")
    machine = computer.machine(VULKAN_HEADERS=str(newer))
    gpu = choose("auto", machine)
    assert vulkan_header_version(machine) == (1, 4, 309)
    assert gpu.names == ("vulkan",)
    assert gpu.local_flags == (f"-DVulkan_INCLUDE_DIR={newer.as_posix()}",)


def test_a_damaged_header_counts_as_none(computer: Computer) -> None:
    header = computer.add_vulkan_headers((1, 4, 309)) / "vulkan" / "vulkan_core.h"
    header.write_bytes(b"\xff\x00#define VK_HEADER_VERSION\n")
    assert vulkan_header_version(computer.machine()) is None


def test_vulkan_without_its_tools_names_each_and_how_to_get_it(computer: Computer) -> None:
    (obstacle,) = choose("vulkan", computer.machine()).obstacles
    for word in ("glslc", "headers", "SPIR-V", *SYSTEMS):
        assert word in obstacle


def test_vulkan_without_its_loader_is_left_out(computer: Computer) -> None:
    computer.add_vulkan_tools()
    computer.add_vulkan_headers((1, 4, 309))
    computer.add_program("c++", "echo 'cannot find -lvulkan' >&2; exit 1")
    assert "loader" in choose("auto", computer.machine()).skipped[0]


@pytest.mark.parametrize("name", ["cuda", "hip"])
def test_a_missing_gpu_compiler_is_one_sentence(computer: Computer, name: str) -> None:
    (obstacle,) = choose(name, computer.machine()).obstacles
    assert "\n" not in obstacle
    assert all(system in obstacle for system in SYSTEMS)


def test_a_mac_gets_metal_and_nothing_else_does(computer: Computer) -> None:
    assert choose("auto", computer.machine("Darwin")).names == ("metal",)
    assert choose("metal", computer.machine("Linux")).obstacles


def test_an_unknown_back_end_is_refused_with_the_known_ones(computer: Computer) -> None:
    with pytest.raises(SetupError, match="vulkan"):
        choose("cuda,rocm", computer.machine())
