"""Counts the rooms of the house and the arrows between them, from the imports: `python tools/rooms.py [--arrows]`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {"app": (20, 70), "engine": (17, 45)}
"""The most rooms and arrows of each tree."""
FILES_AT_TOP = 6
"""A tree with more files beside its rooms is a drawer."""

Arrow = tuple[str, str]


@dataclass(frozen=True)
class House:
    """One tree: its rooms, which of them imports which, and the files that stand in no room."""

    rooms: frozenset[str]
    arrows: frozenset[Arrow]
    files_at_top: int

    def cycles(self) -> list[tuple[str, ...]]:
        """The rooms that reach themselves, those of one cycle together."""
        reached = {room: reachable(room, self.arrows) for room in self.rooms}
        found = {tuple(sorted(b for b in reached[a] if a in reached[b])) for a in self.rooms if a in reached[a]}
        return sorted(found)


def reachable(start: str, arrows: Iterable[Arrow]) -> set[str]:
    """All rooms that can be reached from one."""
    ends: dict[str, set[str]] = {}
    for a, b in arrows:
        ends.setdefault(a, set()).add(b)
    found: set[str] = set()
    waiting = list(ends.get(start, ()))
    while waiting:
        room = waiting.pop()
        if room not in found:
            found.add(room)
            waiting += ends.get(room, ())
    return found


def read_house(root: Path, tree: str) -> House:
    """The house as its imports are today; a module at the top of the tree is a room of its own."""
    modules = {_module(path, root): path for path in sorted((root / tree).rglob("*.py"))}
    rooms = {module: _room(module, path) for module, path in modules.items() if module != tree}
    arrows = {
        (rooms[module], rooms[target])
        for module, path in modules.items()
        if module in rooms
        for target in _imported(path, modules)
        if target in rooms and rooms[target] != rooms[module]
    }
    return House(frozenset(rooms.values()), frozenset(arrows), len(list((root / tree).glob("*.py"))))


def _module(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str, path: Path) -> str:
    parent = module.rpartition(".")[0]
    return module if path.name == "__init__.py" or "." not in parent else parent


def _imported(path: Path, modules: Mapping[str, Path]) -> set[str]:
    """Modules of the tree that a file imports, late imports too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                found.add(whole if whole in modules else node.module)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return found & modules.keys()


def faults(tree: str, house: House) -> list[str]:
    """What is more than it may be."""
    most_rooms, most_arrows = LIMITS[tree]
    found = [f"{tree}: the rooms {', '.join(cycle)} import each other." for cycle in house.cycles()]
    for what, n, most in (
        ("rooms", len(house.rooms), most_rooms),
        ("arrows", len(house.arrows), most_arrows),
        ("files at the top", house.files_at_top, FILES_AT_TOP),
    ):
        if n > most:
            found.append(f"{tree}: {n} {what}; at most {most} are allowed.")
    return found


def main(arguments: Sequence[str]) -> int:
    """Print the counts; 1 if something is more than it may be."""
    found: list[str] = []
    for tree in LIMITS:
        house = read_house(ROOT, tree)
        print(f"{tree}: {len(house.rooms)} rooms, {len(house.arrows)} arrows, {house.files_at_top} files at the top")
        if "--arrows" in arguments:
            print("\n".join(f"  {a} -> {b}" for a, b in sorted(house.arrows)))
        found += faults(tree, house)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
