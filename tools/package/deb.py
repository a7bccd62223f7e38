"""The Debian package."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
from email.utils import format_datetime
from pathlib import Path

from tools.package.elf import elf_files
from tools.package.freeze import INSIDE, size_bytes
from tools.package.release import Release
from tools.prerequisites import SetupError

NAME = "kvasir"
HOME = Path("usr", "lib", NAME)
MAINTAINER = "Kvasir contributors <kvasir@localhost>"
DESCRIPTION = """chat with local models and steer their KV cache
 Kvasir is a desktop chat for language models that run on this computer. It
 shows what the model's KV cache holds and costs, and lets you choose what
 happens when it is full. A small model comes with it. The command
 kvasir-engine is the same engine without a window."""
# Without a font all text is boxes, and nothing fails; the window's own fonts lack most of the world's scripts.
ALSO_NEEDED = ("fonts-dejavu-core",)
# The GPU's back end is not loaded where its library or a driver is missing.
OPTIONAL_BACKEND = re.compile(r"libggml-(vulkan|cuda|hip)\.so$|lib(cudart|cublas|cublasLt)\.so")
RECOMMENDED = ("mesa-vulkan-drivers", "fonts-noto-cjk")


def can_build_deb() -> bool:
    """Whether Debian's tools are here."""
    return all(shutil.which(tool) for tool in ("dpkg-deb", "dpkg-shlibdeps"))


def build_deb(root: Path, program: Path, release: Release, output: Path, workplace: Path) -> Path:
    """Make the package of the program's folder and return its path; raises SetupError with dpkg's words."""
    tree = workplace / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    lay_out(root, program, release, tree)
    drop_system_libraries(tree / HOME)
    depends, recommends = dependencies(tree / HOME, workplace)
    control = {
        "Package": NAME,
        "Version": release.version,
        "Architecture": "amd64",
        "Maintainer": MAINTAINER,
        "Installed-Size": str(-(-size_bytes(tree) // 1024)),
        "Depends": ", ".join([*depends, *ALSO_NEEDED]),
        "Recommends": ", ".join([*recommends, *RECOMMENDED]),
        "Section": "science",
        "Priority": "optional",
        "Description": DESCRIPTION,
    }
    _write(tree / "DEBIAN" / "control", "".join(f"{key}: {value}\n" for key, value in control.items()))
    _write(tree / "DEBIAN" / "md5sums", md5_sums(tree))
    set_modes(tree)
    package = output / f"{NAME}_{release.version}_amd64.deb"
    _run("dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "--build", str(tree), str(package))
    return package


def lay_out(root: Path, program: Path, release: Release, tree: Path) -> None:
    """Put every file where Debian has such files."""
    linux, share = root / "packaging" / "linux", tree / "usr" / "share"
    (tree / "DEBIAN").mkdir(parents=True)  # by which dpkg's tools know the folder as a package's
    shutil.copytree(program, tree / HOME, symlinks=True)
    commands = tree / "usr" / "bin"
    commands.mkdir(parents=True)
    for name in ("kvasir", "kvasir-engine"):
        (commands / name).symlink_to(f"../lib/{NAME}/{name}")
    places = {
        linux / "kvasir.desktop": share / "applications" / "kvasir.desktop",
        linux / "kvasir-mime.xml": share / "mime" / "packages" / "kvasir.xml",
        root / "resources" / "icons" / "kvasir.svg": share / "icons" / "hicolor" / "scalable" / "apps" / "kvasir.svg",
    }
    for source, place in places.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    _write(
        share / "metainfo" / "io.kvasir.Kvasir.metainfo.xml",
        metainfo((linux / "kvasir.metainfo.xml").read_text(encoding="utf-8"), release),
    )
    notices = (root / "resources" / "licences.txt").read_text(encoding="utf-8")
    _write(share / "doc" / NAME / "copyright", notices)
    changelog = (root / "packaging" / "CHANGELOG.md").read_text(encoding="utf-8")
    _write_gzip(share / "doc" / NAME / "NEWS.gz", changelog)
    _write_gzip(share / "doc" / NAME / "changelog.gz", debian_changelog(release))
    for page in ("kvasir.1", "kvasir-engine.1"):
        _write_gzip(share / "man" / "man1" / f"{page}.gz", (linux / page).read_text(encoding="utf-8"))


def metainfo(template: str, release: Release) -> str:
    """The description for software centres, with the release in it."""
    return template.replace("@VERSION@", release.version).replace("@DATE@", f"{release.date:%Y-%m-%d}")


def debian_changelog(release: Release) -> str:
    """What Debian's tools want to read; what people read is NEWS."""
    date = format_datetime(release.date)
    return (
        f"{NAME} ({release.version}) unstable; urgency=medium\n\n"
        f"  * See NEWS.gz in this folder.\n\n -- {MAINTAINER}  {date}\n"
    )


def drop_system_libraries(folder: Path) -> None:
    """Remove what Debian has packages for: the libraries right in the program's inner folder, but for Python's own."""
    for path in elf_files(folder / INSIDE):
        if path.parent == folder / INSIDE and not path.name.startswith("libpython"):
            path.unlink()


def dependencies(folder: Path, workplace: Path) -> tuple[list[str], list[str]]:
    """The Debian packages whose libraries the program needs, and those that only its GPU back ends need."""
    here = workplace / "shlibdeps"
    (here / "debian").mkdir(parents=True, exist_ok=True)
    _write(here / "debian" / "control", f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: amd64\n")
    files = elf_files(folder)
    own = sorted({str(path.parent) for path in files})
    command = ["dpkg-shlibdeps", "-O", "--ignore-missing-info", "--warnings=0", *(f"-l{path}" for path in own)]
    for path in files:
        command.append("-dRecommends" if OPTIONAL_BACKEND.search(path.name) else "-dDepends")
        command.append(f"-e{path}")
    said = dict(re.findall(r"^shlibs:(\w+)=(.*)$", _run(*command, cwd=here), re.MULTILINE))
    return (said.get("Depends", "").split(", "), [name for name in said.get("Recommends", "").split(", ") if name])


def md5_sums(tree: Path) -> str:
    """The list by which dpkg finds changed files."""
    files = [path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink()]
    sums = [
        (hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest(), path.relative_to(tree))
        for path in files
        if path.relative_to(tree).parts[0] != "DEBIAN"
    ]
    return "".join(f"{digest}  {path.as_posix()}\n" for digest, path in sums)


def set_modes(tree: Path) -> None:
    """What the umask of this machine left to chance."""
    programs = {tree / HOME / NAME}
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path in programs else 0o644)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_gzip(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _run(*command: str, cwd: Path | None = None) -> str:
    environ = os.environ | {"LC_ALL": "C.UTF-8"}
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "warning" not in line]
        raise SetupError("\n".join([f"{Path(command[0]).name} could not go on:", *errors[:10]]))
    return done.stdout
