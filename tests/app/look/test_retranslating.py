"""Tests of widgets that follow a change of the language."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

import app
from app.look.retranslating import Retranslating


class Label(Retranslating, QFrame):
    """Counts how often it took its words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.n_times = 0

    def retranslate(self) -> None:
        self.n_times += 1


@pytest.mark.usefixtures("qapp")
def test_a_widget_and_those_in_it_take_their_words_once_for_each_change_of_the_language() -> None:
    window = Label()
    inner = Label(window)
    QVBoxLayout(window).addWidget(inner)
    QApplication.sendEvent(window, QEvent(QEvent.Type.LanguageChange))
    QApplication.sendEvent(window, QEvent(QEvent.Type.FontChange))
    assert (window.n_times, inner.n_times) == (1, 1)


def test_every_widget_with_words_of_its_own_follows_the_language_by_the_same_base() -> None:
    widgets: set[type[QWidget]] = set()
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if module.name != "app.__main__":
            members = inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
            widgets.update(one for _, one in members if issubclass(one, QWidget) and hasattr(one, "retranslate"))
    assert len(widgets) > 30
    assert sorted(one.__name__ for one in widgets if not issubclass(one, Retranslating)) == []
