"""Rooms and arrows as they are counted from imports, on houses built for the test, and on this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import rooms


def build_house(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"app/__init__.py": "", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "__init__.py").touch()
    return root


def test_an_arrow_is_counted_once_however_many_imports_it_has(tmp_path: Path) -> None:
    build_house(
        tmp_path,
        {
            "app/main.py": "from app.chats import list_, other\nimport app.look.theme\n",
            "app/chats/list_.py": "def late():\n    from app.look.theme import Theme\n",
            "app/chats/other.py": "from app.chats.list_ import late\nfrom app.look import theme\nimport os\n",
            "app/look/theme.py": "",
        },
    )
    house = rooms.read_house(tmp_path, "app")
    assert house.rooms == {"app.main", "app.chats", "app.look"}
    assert house.arrows == {("app.main", "app.chats"), ("app.main", "app.look"), ("app.chats", "app.look")}
    assert house.files_at_top == 2
    assert house.cycles() == []


def test_rooms_that_import_each_other_are_a_fault(tmp_path: Path) -> None:
    files = {"app/a/x.py": "import app.b.y", "app/b/y.py": "import app.c.z", "app/c/z.py": "import app.a.x"}
    house = rooms.read_house(build_house(tmp_path, {**files, "app/d/w.py": "import app.a.x"}), "app")
    assert house.cycles() == [("app.a", "app.b", "app.c")]
    assert rooms.faults("app", house) == ["app: the rooms app.a, app.b, app.c import each other."]


def test_more_than_the_limit_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = rooms.read_house(build_house(tmp_path, {"app/a/x.py": "import app.b.y", "app/b/y.py": ""}), "app")
    monkeypatch.setattr(rooms, "LIMITS", {"app": (1, 0)})
    assert rooms.faults("app", house) == [
        "app: 2 rooms; at most 1 are allowed.",
        "app: 1 arrows; at most 0 are allowed.",
    ]


@pytest.mark.parametrize("tree", sorted(rooms.LIMITS))
def test_this_house_is_within_its_limits(tree: str) -> None:
    assert rooms.faults(tree, rooms.read_house(rooms.ROOT, tree)) == []
