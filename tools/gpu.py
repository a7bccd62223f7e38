"""Which GPU back ends llama.cpp can be built with here, and with which flags."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tools.machine import Machine
from tools.prerequisites import SetupError, install_lines

# The first Vulkan headers with VK_EXT_layer_settings, which ggml-vulkan.cpp uses without asking.
OLDEST_VULKAN = (1, 3, 272)


@dataclass(frozen=True)
class GpuBuild:
    """The back ends to build, by name, and CMake's flags for them.

    `local_flags` are about this machine and don't shape the result. `obstacles` say why it can't be built
    here, `skipped` why `auto` left out a back end of which something is here.
    """

    names: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    local_flags: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Backend:
    # Each returns why not, as a sentence, or None; `unasked` is the stricter question of GPU=auto.
    obstacle: Callable[[Machine], str | None]
    unasked_obstacle: Callable[[Machine], str | None]
    # Whether anything of it is here, so that leaving it out is worth a line.
    has_traces: Callable[[Machine], bool]
    flags: Callable[[Machine], tuple[str, ...]]


def choose(request: str, machine: Machine) -> GpuBuild:
    """What `GPU=request` asks for: `auto`, `none`, or back ends separated by commas, else SetupError."""
    names = tuple(sorted({name.strip().lower() for name in request.split(",")} - {""}))
    if names in {(), ("auto",)}:
        return _choose_unasked(machine)
    if names == ("none",):
        return GpuBuild()
    if not set(names) <= set(_BACKENDS):
        known = ", ".join(["auto", "none", *_BACKENDS])
        raise SetupError(f"GPU={request} is not known: it can be {known}, or several back ends with commas.")
    flags = tuple(flag for name in names for flag in _BACKENDS[name].flags(machine))
    obstacles = [_BACKENDS[name].obstacle(machine) for name in names]
    headers = machine.environ.get("VULKAN_HEADERS") if "vulkan" in names else None
    local_flags = (f"-DVulkan_INCLUDE_DIR={Path(headers).resolve().as_posix()}",) if headers else ()
    return GpuBuild(names, flags, local_flags, tuple(obstacle for obstacle in obstacles if obstacle))


def _choose_unasked(machine: Machine) -> GpuBuild:
    # One back end: with two, llama.cpp would list one card twice.
    skipped: list[str] = []
    for name, backend in _BACKENDS.items():
        obstacle = backend.obstacle(machine) or backend.unasked_obstacle(machine)
        if obstacle is None:
            return replace(choose(name, machine), skipped=tuple(skipped))
        if backend.has_traces(machine):
            skipped.append(obstacle)
    return GpuBuild(skipped=tuple(skipped))


def _nothing(_machine: Machine) -> None:
    return None


# CUDA


def _nvcc(machine: Machine) -> str | None:
    homes = [machine.environ.get("CUDA_PATH", ""), *(str(prefix / "cuda") for prefix in machine.prefixes)]
    beside = (found for home in homes if home and (found := machine.which(str(Path(home, "bin", "nvcc")))))
    return machine.which("nvcc") or next(beside, None)


def _cuda_obstacle(machine: Machine) -> str | None:
    if machine.system == "Darwin":
        return "CUDA does not exist on macOS: leave GPU away and Metal is used."
    if _nvcc(machine) is None:
        lines = install_lines(
            "nvidia-cuda-toolkit",
            "cuda-toolkit (from NVIDIA's repository)",
            "not available",
            "'winget install Nvidia.CUDA'",
        )
        return f"A CUDA build needs NVIDIA's compiler nvcc, which is not here: {lines}."
    return None


def _compute_capabilities(machine: Machine) -> list[str]:
    text = machine.output("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader") or ""
    return sorted(set(re.findall(r"^(\d+\.\d+)\s*$", text, re.MULTILINE)))


def _cuda_unasked_obstacle(machine: Machine) -> str | None:
    if not _compute_capabilities(machine):
        return "CUDA is left out: nvcc is here, but nvidia-smi shows no card (GPU=cuda builds it all the same)."
    return None


def _cuda_flags(machine: Machine) -> tuple[str, ...]:
    # All pairs of K and V types get fast kernels, else some would leave the fast path or be refused. Building
    # them for the cards that are here, and not for every card there is, is the difference of an hour or more.
    cards = [capability.replace(".", "") for capability in _compute_capabilities(machine)]
    architectures = (f"-DCMAKE_CUDA_ARCHITECTURES={';'.join(cards)}",) if cards else ()
    return ("-DGGML_CUDA=ON", "-DGGML_CUDA_FA_ALL_QUANTS=ON", *architectures)


# HIP


def _hip_obstacle(machine: Machine) -> str | None:
    if machine.which("hipcc") is None and machine.which("hipconfig") is None:
        lines = install_lines(
            "hipcc libhipblas-dev librocblas-dev",
            "rocm-hip-devel hipblas-devel rocblas-devel",
            "not available",
            "AMD's HIP SDK",
        )
        return f"A HIP build needs AMD's compiler hipcc, which is not here: {lines}."
    return None


def _hip_unasked_obstacle(machine: Machine) -> str | None:
    agents = re.findall(r"\bgfx\d\w+", machine.output("rocminfo") or "")
    return None if agents else "HIP is left out: rocminfo shows no AMD card (GPU=hip builds it all the same)."


# Metal


def _metal_obstacle(machine: Machine) -> str | None:
    return None if machine.system == "Darwin" else "Metal exists only on macOS: GPU=vulkan works with most cards."


# Vulkan


def vulkan_header_version(machine: Machine) -> tuple[int, int, int] | None:
    """The version of the Vulkan headers that a build would take, or None where there are none."""
    own = machine.environ.get("VULKAN_HEADERS")
    sdk = machine.environ.get("VULKAN_SDK")
    places = [Path(own)] if own else [Path(sdk or "/", "include"), *(prefix / "include" for prefix in machine.prefixes)]
    for place in places:
        header = place / "vulkan" / "vulkan_core.h"
        if header.is_file():
            text = header.read_text(encoding="utf-8", errors="replace")
            complete = re.search(r"VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION\(\d+, (\d+), (\d+),", text)
            patch = re.search(r"#define VK_HEADER_VERSION (\d+)", text)
            if complete and patch:
                return int(complete[1]), int(complete[2]), int(patch[1])
    return None


def _has_spirv_headers(machine: Machine) -> bool:
    sdk = machine.environ.get("VULKAN_SDK")
    prefixes = [*machine.prefixes, *([Path(sdk)] if sdk else [])]
    folders = ("share/cmake", "lib/cmake", "lib64/cmake")
    return any((prefix / folder / "SPIRV-Headers").is_dir() for prefix in prefixes for folder in folders)


def _can_link_vulkan(machine: Machine) -> bool:
    compiler = machine.compiler()
    if compiler is None or machine.system == "Windows":  # there the SDK brings the loader together with the headers
        return True
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "empty.c")
        source.write_text("", encoding="utf-8")
        library = str(Path(folder, "empty.so"))
        return machine.output(compiler, "-shared", str(source), "-lvulkan", "-o", library) is not None


def _vulkan_obstacle(machine: Machine) -> str | None:
    version = vulkan_header_version(machine)
    missing = [
        name
        for name, is_here in (
            ("the shader compiler glslc", machine.which("glslc") is not None),
            ("Vulkan's headers", version is not None),
            ("the SPIR-V headers", _has_spirv_headers(machine)),
            ("the Vulkan loader's development files", _can_link_vulkan(machine)),
        )
        if not is_here
    ]
    if missing:
        lines = install_lines(
            "glslc spirv-headers libvulkan-dev",
            "glslc spirv-headers-devel vulkan-headers vulkan-loader-devel",
            "not needed, Metal is used",
            "'winget install KhronosGroup.VulkanSDK'",
        )
        return f"A Vulkan build needs {', '.join(missing)}: {lines}."
    if version is not None and version < OLDEST_VULKAN:
        return (
            f"The Vulkan headers here are {_dotted(version)} and llama.cpp needs {_dotted(OLDEST_VULKAN)}: "
            'VULKAN_HEADERS=DIR names the include folder of newer ones (see "GPU builds" in README.md).'
        )
    return None


def _vulkan_has_traces(machine: Machine) -> bool:
    return machine.which("glslc") is not None or vulkan_header_version(machine) is not None


def _dotted(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version))


# In the order in which `auto` prefers them.
_BACKENDS = {
    "metal": _Backend(_metal_obstacle, _nothing, lambda _: False, lambda _: ("-DGGML_METAL=ON",)),
    "cuda": _Backend(_cuda_obstacle, _cuda_unasked_obstacle, lambda machine: _nvcc(machine) is not None, _cuda_flags),
    "hip": _Backend(
        _hip_obstacle,
        _hip_unasked_obstacle,
        lambda machine: machine.which("hipcc") is not None,
        lambda _: ("-DGGML_HIP=ON",),
    ),
    "vulkan": _Backend(_vulkan_obstacle, _nothing, _vulkan_has_traces, lambda _: ("-DGGML_VULKAN=ON",)),
}
