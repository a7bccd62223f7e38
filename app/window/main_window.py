"""The main window: where its parts stand."""

from __future__ import annotations

import base64
import binascii

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QMainWindow, QVBoxLayout, QWidget

from app.chats.sidebar import Sidebar
from app.look.icons import application_icon
from app.look.theme import Theme
from app.look.window_style import window_stylesheet
from app.widgets.enter_key import press_button
from app.widgets.side_panel import SidePanel

FIRST_SIZE = QSize(1280, 820)
SMALLEST = QSize(640, 480)
STATE_VERSION = 1
MARGIN = 24


class Centred(QWidget):
    """Keeps one widget in the middle, as wide as the text column and aligned with it."""

    def __init__(self, widget: QWidget, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(MARGIN, 0, MARGIN, 0)
        self._layout.addWidget(widget)
        theme.changed.connect(self._align)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the margins with the width."""
        super().resizeEvent(event)
        self._align()

    def _align(self) -> None:
        margin = max(MARGIN, (self.width() - self._theme.sizes.column) // 2)
        self._layout.setContentsMargins(margin, 0, margin, 0)


class MainWindow(QMainWindow):
    """``painted`` comes once, with the first picture on the screen; ``closing`` before the window goes;
    ``activated`` when it gets the keyboard."""

    painted = Signal()
    closing = Signal()
    activated = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Kvasir")
        self.setWindowIcon(application_icon())
        self.setMinimumSize(SMALLEST)
        self.resize(FIRST_SIZE)
        self.setDockOptions(QMainWindow.DockOption.AnimatedDocks)
        self._theme = theme
        # The width of separators is read when the style changes, which a window without a style does not notice.
        self.ensurePolished()
        self._panel: SidePanel | None = None
        self._sidebar: Sidebar | None = None
        self._was_painted = False
        self._hint = QLabel(self)
        self._hint.setObjectName("dropHint")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint.hide()
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def place(self, parts: list[QWidget], stretching: QWidget, panel: SidePanel, sidebar: Sidebar) -> None:
        """Put the parts of the centre under each other, one taking all the room, and panel and sidebar beside them."""
        centre = QWidget()
        centre.setProperty("surface", "ground")
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in parts:
            column.addWidget(part, 1 if part is stretching else 0)
        self.setCentralWidget(centre)
        self._panel = panel
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, panel)
        self._sidebar = sidebar
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, sidebar)
        sizes = self._theme.sizes
        self.resizeDocks([sidebar, panel], [sizes.sidebar, sizes.panel], Qt.Orientation.Horizontal)

    def move_panel(self) -> None:
        """Take the side panel to the other side."""
        panel = self._panel
        if panel is None:
            return
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        panel.setFloating(False)
        self.addDockWidget(left if self.dockWidgetArea(panel) == right else right, panel)
        panel.show()

    def toggle_full_screen(self) -> None:
        """Fill the screen, or go back to a window."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def geometry_text(self) -> str:
        """Size and place, for the preferences."""
        return _text(self.saveGeometry())

    def state_text(self) -> str:
        """Where the panels are, for the preferences."""
        if self._sidebar is not None:
            self._sidebar.unfold()
        return _text(self.saveState(STATE_VERSION))

    def restore(self, geometry: str, state: str) -> None:
        """Put size, place and panels back; what makes no sense changes nothing."""
        if geometry:
            self.restoreGeometry(_bytes(geometry))
        if state:
            self.restoreState(_bytes(state), STATE_VERSION)

    def show_drop_hint(self, is_shown: bool) -> None:
        """Say, over everything, what a dropped file would do."""
        self._hint.setText(self.tr("Drop a .gguf file to load it, or other files to attach them"))
        self._hint.setGeometry(self.rect().adjusted(24, 24, -24, -24))
        self._hint.setVisible(is_shown)
        self._hint.raise_()

    def _on_theme_changed(self) -> None:
        self.setStyleSheet(window_stylesheet(self._theme.tokens, self._theme.sizes))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Notice the first picture."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            self.painted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the list of chats gives way to the text."""
        super().resizeEvent(event)
        if self._sidebar is not None:
            self._sidebar.fit(self.width())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses buttons."""
        if not press_button(self, event):
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Emit ``activated`` when the window gets the focus."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.activated.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit ``closing`` while everything still exists."""
        self.closing.emit()
        super().closeEvent(event)


def _text(data: QByteArray) -> str:
    return base64.b64encode(data.data()).decode("ascii")


def _bytes(text: str) -> QByteArray:
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray()
