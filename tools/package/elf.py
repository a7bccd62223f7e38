"""What a Linux program's own files need of each other, and what nothing needs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

MAGIC = b"\x7fELF"


def elf_files(folder: Path) -> list[Path]:
    """Every ELF file under a folder, links left out."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(len(MAGIC)) == MAGIC:
                    found.append(path)
    return found


def needed_names(files: Iterable[Path]) -> dict[Path, set[str]]:
    """The library names that each file asks the dynamic linker for. Raises OSError without `readelf`."""
    names: dict[Path, set[str]] = {}
    for path in files:
        done = subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, check=True)
        names[path] = set(re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout))
    return names


def unreachable(needed: Mapping[Path, set[str]], is_library: Mapping[Path, bool]) -> set[Path]:
    """Libraries that no program, module or plugin leads to; a library is known by its file's name."""
    by_name = {path.name: path for path in needed if is_library[path]}
    reached = {path for path in needed if not is_library[path]}
    waiting = list(reached)
    while waiting:
        for name in needed[waiting.pop()]:
            library = by_name.get(name)
            if library is not None and library not in reached:
                reached.add(library)
                waiting.append(library)
    return set(needed) - reached
