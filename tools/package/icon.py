"""The program's icon in the forms that Windows and macOS want, drawn from the SVG."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from tools.machine import Machine
from tools.prerequisites import SetupError
from tools.subprocesses import run_to_log

SIZES = {"Windows": (16, 24, 32, 48, 64, 128, 256), "Darwin": (16, 32, 64, 128, 256, 512, 1024)}
# Apple's names for a square PNG of each size.
ICNS_TYPES = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09", 1024: b"ic10"}
DRAW = """
import sys
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
source, folder, *sizes = sys.argv[1:]
app = QGuiApplication([])
for size in map(int, sizes):
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(source).render(painter)
    painter.end()
    image.save(f"{folder}/{size}.png")
"""


def program_icon(root: Path, python: Path, workplace: Path, machine: Machine) -> Path | None:
    """Make the icon with `python`'s Qt; None on Linux, where programs have none. May raise SetupError."""
    if machine.system not in SIZES:
        return None
    pictures = draw(root / "resources" / "icons" / "kvasir.svg", SIZES[machine.system], python, workplace, machine)
    name, pack = ("kvasir.ico", ico) if machine.system == "Windows" else ("kvasir.icns", icns)
    path = workplace / name
    path.write_bytes(pack(pictures))
    return path


def draw(svg: Path, sizes: tuple[int, ...], python: Path, workplace: Path, machine: Machine) -> dict[int, bytes]:
    """The picture as PNG in each size (pixels)."""
    folder = workplace / "icon"
    folder.mkdir(parents=True, exist_ok=True)
    environ = dict(machine.environ) | {"QT_QPA_PLATFORM": "offscreen"}
    command = [str(python), "-c", DRAW, str(svg), str(folder), *map(str, sizes)]
    log = workplace / "icon.log"
    if run_to_log(command, environ, log) != 0:
        raise SetupError(f"The icon could not be drawn; the reason is at the end of {log}.")
    return {size: (folder / f"{size}.png").read_bytes() for size in sizes}


def ico(pictures: Mapping[int, bytes]) -> bytes:
    """Windows' container: a header, an entry of 16 bytes for each picture, the pictures as PNG."""
    header = struct.pack("<HHH", 0, 1, len(pictures))
    place = len(header) + 16 * len(pictures)
    entries = b""
    for size, picture in pictures.items():
        side = size % 256  # 256 is written as 0
        entries += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), place)
        place += len(picture)
    return header + entries + b"".join(pictures.values())


def icns(pictures: Mapping[int, bytes]) -> bytes:
    """Apple's container: blocks of a name, their length with these 8 bytes, and a PNG."""
    blocks = b"".join(ICNS_TYPES[size] + struct.pack(">I", len(png) + 8) + png for size, png in pictures.items())
    return b"icns" + struct.pack(">I", len(blocks) + 8) + blocks
