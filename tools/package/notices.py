"""The licences of everything in the package, as the one text that the About box shows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from tools.package.components import Component

FILE = Path("resources", "licences.txt")
WIDTH = 110
RULE = "=" * WIDTH


def notices(parts: Sequence[Component]) -> str:
    """First a list of all parts, then each licence text once, under the names of those it is for."""
    lines = ["Kvasir contains the work of others. Each part with its licence; the texts follow.", ""]
    for part in parts:
        home = f", {part.home}" if part.home else ""
        lines.append(f"{part.name} {part.version}".rstrip() + f": {part.licence}{home}")
        lines += textwrap.wrap(part.note, WIDTH - 4, initial_indent="    ", subsequent_indent="    ")
    owners: dict[str, list[str]] = {}
    for part in parts:
        for text in part.texts:
            owners.setdefault(text, []).append(part.name)
    for text, names in owners.items():
        lines += ["", RULE, *textwrap.wrap(", ".join(dict.fromkeys(names)), WIDTH), RULE, "", text]
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"
