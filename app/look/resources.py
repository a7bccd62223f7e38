"""Where the bundled files are: fonts, icons, translations."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtGui import QFontDatabase


def resource_dir() -> Path:
    """The folder of bundled files, also inside a frozen application."""
    frozen_root = getattr(sys, "_MEIPASS", None)
    root = Path(frozen_root) if frozen_root else Path(__file__).resolve().parents[2]
    return root / "resources"


def licences() -> str:
    """The licences of Kvasir and of everything in it: first a list, then their texts."""
    return (resource_dir() / "licences.txt").read_text(encoding="utf-8")


def load_fonts() -> list[str]:
    """Make Inter and JetBrains Mono known to Qt and return the families that were loaded."""
    families: set[str] = set()
    for path in sorted((resource_dir() / "fonts").glob("*.ttf")):
        font_id = QFontDatabase.addApplicationFont(str(path))
        families.update(QFontDatabase.applicationFontFamilies(font_id))
    return sorted(families)
