"""Makes the program's folder: PyInstaller collects, then what nothing needs goes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.package.elf import elf_files, needed_names, unreachable
from tools.package.icu import silence
from tools.prerequisites import SetupError
from tools.subprocesses import run_to_log

INSIDE = "_internal"
# Folders of shared libraries, which are there because something needs them; all else is there for itself.
LIBRARY_FOLDERS = (Path(INSIDE), Path(INSIDE, "PySide6", "Qt", "lib"), Path(INSIDE, "numpy.libs"))
# Its libraries have been laid out by a tool after whose work `strip` makes files that can't be loaded.
NEVER_STRIPPED = "numpy"


def freeze(root: Path, python: Path, workplace: Path, environ: Mapping[str, str]) -> Path:
    """Collect the program of the clone `root` into a folder under `workplace`, and return it. May raise SetupError."""
    output, log = workplace / "program", workplace / "freeze.log"
    shutil.rmtree(output, ignore_errors=True)
    options = ["--noconfirm", "--distpath", str(output), "--workpath", str(workplace / "pyinstaller")]
    command = [str(python), "-m", "PyInstaller", *options, str(root / "packaging" / "kvasir.spec")]
    if run_to_log(command, environ, log) != 0:
        raise SetupError(f"The program could not be collected; PyInstaller's words are at the end of {log}.")
    folder = output / "kvasir"
    if sys.platform.startswith("linux"):
        tidy(folder)
    return folder


def tidy(folder: Path) -> None:
    """Remove what nothing needs, names for debuggers among it, and give the program its second name."""
    needed = needed_names(elf_files(folder))
    # PyInstaller's programs open Python's library by name.
    is_library = {
        path: path.parent.relative_to(folder) in LIBRARY_FOLDERS and not path.name.startswith("libpython")
        for path in needed
    }
    for path in unreachable(needed, is_library):
        path.unlink()
    for link in [path for path in folder.rglob("*") if path.is_symlink() and not path.exists()]:
        link.unlink()
    # PyInstaller's programs carry an archive behind their code, which `strip` would cut off.
    inner = [path for path in needed if path.exists() and path.parent != folder]
    strip([path for path in inner if NEVER_STRIPPED not in path.as_posix()])
    for library in folder.rglob("libicudata.so.*"):
        if not library.is_symlink():
            silence(library)
    (folder / "kvasir-engine").symlink_to("kvasir")


def strip(files: Sequence[Path]) -> None:
    """Remove what only a debugger reads. Dates stay, so that the same input gives the same package."""
    subprocess.run(["strip", "--strip-unneeded", "--preserve-dates", *map(str, files)], check=True)


def size_bytes(folder: Path) -> int:
    """Bytes of all files under a folder, or of one file; links count nothing."""
    files = folder.rglob("*") if folder.is_dir() else [folder]
    return sum(os.lstat(path).st_size for path in files if path.is_file() and not path.is_symlink())
