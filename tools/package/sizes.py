"""How large a package is, by part, and whether it has grown beyond what was promised."""

from __future__ import annotations

import lzma
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.prerequisites import SetupError

MB = 1_000_000
STARTER, GPU = "starter model", "GPU back ends"
# The first pattern that a file's path inside the program matches names its part.
PARTS = (
    (STARTER, r"\.gguf$"),
    (GPU, r"ggml-(vulkan|cuda|hip|metal)\b|lib(cudart|cublas|cublasLt)\.so"),
    ("CPU and RPC back ends", r"(^|/)bin/"),
    ("llama.cpp", r"llama_cpp/"),
    ("ICU", r"libicu"),
    ("Qt", r"PySide6/Qt/"),
    ("PySide6", r"PySide6|shiboken6"),
    ("NumPy", r"numpy"),
    ("Kvasir's fonts, icons, words", r"resources/"),
    ("system libraries", r"^_internal/lib(?!python)[^/]*\.so"),
    ("Python and its packages", r""),
)


@dataclass(frozen=True)
class Limits:
    """Bytes that the package may have without starter model and GPU back ends."""

    download_bytes: int
    installed_bytes: int


@dataclass(frozen=True)
class Part:
    """Files of one origin: bytes on disk, and the files themselves."""

    n_bytes: int = 0
    files: tuple[Path, ...] = ()


def parts_of(program: Path) -> dict[str, Part]:
    """The parts of a program's folder, largest first."""
    parts: dict[str, Part] = {}
    for path in sorted(program.rglob("*")):
        if path.is_file() and not path.is_symlink():
            name = part_name(path.relative_to(program).as_posix())
            part = parts.get(name, Part())
            parts[name] = Part(part.n_bytes + path.stat().st_size, (*part.files, path))
    return dict(sorted(parts.items(), key=lambda item: -item[1].n_bytes))


def part_name(path: str) -> str:
    """The part that the file at `path` inside the program belongs to."""
    return next(name for name, pattern in PARTS if re.search(pattern, path))


def report(packages: Sequence[Path], parts: Mapping[str, Part], limits: Limits | None) -> list[str]:
    """Lines for a person. Raises SetupError if a .deb is larger than its limits."""
    lines = [f"{part.n_bytes / MB:8.1f} MB  {name}" for name, part in parts.items()]
    lines.append(f"{sum(part.n_bytes for part in parts.values()) / MB:8.1f} MB  in all, unpacked")
    lines += [f"{path.stat().st_size / MB:8.1f} MB  {path.name}" for path in packages]
    package = next((path for path in packages if path.suffix == ".deb"), None)
    if limits is None or package is None:
        return lines
    apart = [parts.get(name, Part()) for name in (STARTER, GPU)]
    # A .deb leaves the system's libraries to the system.
    without = [part.n_bytes for name, part in parts.items() if name not in {STARTER, GPU, "system libraries"}]
    installed = sum(without)
    download = package.stat().st_size - sum(compressed_size(path) for part in apart for path in part.files)
    most = f"at most {limits.download_bytes / MB:.0f} and {limits.installed_bytes / MB:.0f}"
    measured = f"{download / MB:.1f} MB to download, {installed / MB:.1f} MB installed ({most})"
    lines.append(f"The .deb without starter model and GPU back ends: {measured}.")
    if download > limits.download_bytes or installed > limits.installed_bytes:
        raise SetupError("\n".join([*lines, "The package has grown beyond its limits: see what is new in it."]))
    return lines


def compressed_size(path: Path) -> int:
    """About what a file takes in a .deb (bytes): compressed alone."""
    compressor = lzma.LZMACompressor(preset=6)
    n_bytes = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            n_bytes += len(compressor.compress(block))
    return n_bytes + len(compressor.flush())
