"""The package for any other Linux: an AppImage where its run time is at hand, else an archive to unpack anywhere."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from tools.package.components import Component
from tools.package.deb import metainfo
from tools.package.elf import elf_files
from tools.package.freeze import INSIDE
from tools.package.release import Release
from tools.prerequisites import SetupError

RUNTIME_VARIABLE = "APPIMAGE_RUNTIME"
# 8 bytes into the file, by which systems know an AppImage of type 2.
APPIMAGE_MARK = b"AI\x02"
# Blocks of this size and compression start fastest.
SQUASHFS_OPTIONS = ("-comp", "zstd", "-Xcompression-level", "19", "-b", "128K", "-noappend", "-quiet", "-no-progress")
NOTICE = "licences-of-system-libraries.txt"


def build_archive(root: Path, program: Path, release: Release, output: Path) -> Path:
    """A .tar.xz with the program, which runs from wherever it is unpacked; the same input gives the same bytes."""
    name = f"kvasir-{release.version}"
    archive = output / f"{name}-linux-x86_64.tar.xz"
    linux = root / "packaging" / "linux"
    # Two threads always: their number shows in the result, and one would take minutes.
    command = ["xz", "--threads=2", "-3", "--stdout"]
    with (
        archive.open("wb") as compressed,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=compressed) as xz,
        tarfile.open(fileobj=xz.stdin, mode="w|") as tar,
    ):

        def add(path: Path, place: str, mode: int | None = None) -> None:
            entry = tar.gettarinfo(path, f"{name}/{place}")
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime = release.time_s
            entry.mode = mode or (0o755 if entry.isdir() or entry.mode & 0o100 else 0o644)
            if entry.isreg():
                tar.addfile(entry, io.BytesIO(path.read_bytes()))
            else:
                tar.addfile(entry)

        for path in sorted(program.rglob("*")):
            add(path, path.relative_to(program).as_posix())
        add(linux / "menu.sh", "menu.sh", 0o755)
        for file in ("kvasir.desktop", "kvasir-mime.xml"):
            add(linux / file, f"share/{file}")
        add(root / "resources" / "icons" / "kvasir.svg", "share/kvasir.svg")
        add(root / "resources" / "licences.txt", "licences.txt")
    return archive


def can_build_appimage(runtime: str) -> bool:
    """Whether the AppImage run time was given and the tool for its file system is here."""
    return bool(runtime) and shutil.which("mksquashfs") is not None


def build_appimage(root: Path, program: Path, release: Release, output: Path, runtime: Path) -> Path:
    """One file that runs as it is; `runtime` is what AppImages of type 2 start with. Raises SetupError if it isn't."""
    head = runtime.read_bytes()
    if head[8:11] != APPIMAGE_MARK:
        raise SetupError(f"{runtime} is no AppImage run time of type 2: give {RUNTIME_VARIABLE} the path of one.")
    folder, linux = output / "AppDir", root / "packaging" / "linux"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(program, folder / "program", symlinks=True)
    (folder / "AppRun").symlink_to("program/kvasir")
    for source, place in {
        linux / "kvasir.desktop": "kvasir.desktop",
        root / "resources" / "icons" / "kvasir.svg": "kvasir.svg",
        root / "resources" / "licences.txt": "licences.txt",
    }.items():
        shutil.copyfile(source, folder / place)
    (folder / ".DirIcon").symlink_to("kvasir.svg")
    share = folder / "usr" / "share" / "metainfo"
    share.mkdir(parents=True)
    text = metainfo((linux / "kvasir.metainfo.xml").read_text(encoding="utf-8"), release)
    (share / "io.kvasir.Kvasir.appdata.xml").write_text(text, encoding="utf-8")
    image, squash = output / f"Kvasir-{release.version}-x86_64.AppImage", output / "squashfs"
    times = ["-all-time", str(release.time_s), "-mkfs-time", str(release.time_s), "-all-root"]
    done = subprocess.run(
        ["mksquashfs", str(folder), str(squash), *SQUASHFS_OPTIONS, *times], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SetupError(f"mksquashfs could not go on: {done.stderr.strip()}")
    image.write_bytes(head + squash.read_bytes())
    image.chmod(0o755)
    squash.unlink()
    shutil.rmtree(folder)
    return image


def system_libraries(program: Path) -> list[Component]:
    """The libraries that come from this Debian machine, by its own records of their packages and copyright.

    On other systems nothing is known about them, and the list is empty.
    """
    if shutil.which("dpkg-query") is None:
        return []
    found: dict[str, Component] = {}
    for path in elf_files(program / INSIDE):
        if path.parent != program / INSIDE or path.name.startswith("libpython"):
            continue
        asked = subprocess.run(
            ["dpkg-query", "--search", f"*/{path.name}"], capture_output=True, text=True, check=False
        ).stdout
        owner = re.match(r"([^:,\s]+)(?::\w+)?: ", asked)
        if owner is None or owner[1] in found:
            continue
        version = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${Version}", owner[1]], capture_output=True, text=True, check=False
        ).stdout
        copyright_file = Path("/usr/share/doc", owner[1], "copyright")
        text = copyright_file.read_text(encoding="utf-8", errors="replace").strip() if copyright_file.exists() else ""
        found[owner[1]] = Component(
            name=owner[1],
            licence="LicenseRef-see-copyright",
            version=version,
            home=f"https://packages.debian.org/{owner[1]}",
            texts=(text,),
            purl=f"pkg:deb/debian/{owner[1]}@{version}",
            note="Only in the packages for any Linux, whose texts of its licence are in " + NOTICE + ".",
        )
    return [component for _name, component in sorted(found.items())]
