"""What a person does to the settings of a window, and what comes of it."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from engine.api.messages import LoadModel
from engine.api.settings import LoadSettings


def loads(desk) -> list[LoadSettings]:
    return [command.settings for command in desk.engine.sent if isinstance(command, LoadModel)]


def change(desk, **values) -> None:
    for name, value in values.items():
        desk.program.settings_panel.form.field(name).take(value)


def apply(desk) -> None:
    desk.program.window.findChild(QPushButton, "applyButton").click()


def apply_load(desk, qtbot) -> None:
    """Apply what takes a load, and wait until it is asked for: whether it fits is looked at in a thread."""
    n_loads = len(loads(desk))
    apply(desk)
    qtbot.waitUntil(lambda: len(loads(desk)) == n_loads + 1)


def dialog(desk):
    return desk.program.window.findChild(object, "cacheFullDialog")
