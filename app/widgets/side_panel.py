"""The panel at the side: pages under one header, docked left or right, floating, or hidden."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QButtonGroup,
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QStyle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.look.retranslating import Retranslating
from app.look.theme import Theme

MIN_WIDTH = 280
LIFT = 48
"""Pixels by which a panel leaves its place when it is taken out: it has no frame, and would only cover the text."""


class PanelHeader(QWidget):
    """The row on top of a dock, as high as the bar on top of the window; a dock asks for its size hint only."""

    def __init__(self, height: int, min_width: int) -> None:
        super().__init__()
        self._min_width = min_width
        self.setObjectName("panelHeader")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._height = height

    def sizeHint(self) -> QSize:
        """Any width, one height."""
        return QSize(super().sizeHint().width(), self._height)

    def minimumSizeHint(self) -> QSize:
        """Room for all that is in it, one height."""
        return QSize(max(self._min_width, super().minimumSizeHint().width()), self._height)


class SidePanel(Retranslating, QDockWidget):
    """Pages are added once and shown by name. A page's window title is the text of its tab, in every language."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidePanel")
        self.setAllowedAreas(Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
        self._theme = theme
        self._pages: dict[str, QWidget] = {}
        self._tabs = QButtonGroup(self)
        self._tabs.setExclusive(True)
        self._close = QToolButton()
        self._close.setObjectName("closePanel")
        self._close.setIcon(theme.icon("close"))
        self._close.clicked.connect(self.hide)
        header = PanelHeader(theme.sizes.top_bar, MIN_WIDTH)
        self._row = QHBoxLayout(header)
        self._row.setContentsMargins(14, 0, 10, 0)
        self._row.setSpacing(2)
        self._row.addStretch()
        self._row.addWidget(self._close)
        self.setTitleBarWidget(header)
        self._stack = QStackedWidget()
        body = QWidget()
        body.setObjectName("panelBody")
        body.setProperty("surface", "side")
        body.setMinimumWidth(MIN_WIDTH)
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._stack)
        self.setWidget(body)
        self.topLevelChanged.connect(self._draw_edge)
        theme.changed.connect(self._fit_later)
        self.retranslate()

    def add_page(self, name: str, page: QWidget) -> None:
        """Add a page with its tab."""
        tab = QPushButton(page.windowTitle())
        tab.setObjectName(f"{name}Tab")
        tab.setProperty("kind", "tab")
        tab.setCheckable(True)
        tab.setToolTip(page.windowTitle())
        page.windowTitleChanged.connect(tab.setText)
        page.windowTitleChanged.connect(tab.setToolTip)
        tab.clicked.connect(lambda: self.show_page(name))
        self._tabs.addButton(tab)
        self._pages[name] = page
        self._row.insertWidget(self._stack.count(), tab)
        self._stack.addWidget(page)
        self._fit_later()
        if len(self._pages) == 1:
            tab.setChecked(True)

    def show_page(self, name: str) -> None:
        """Bring a page to the front, and the panel back if it was hidden."""
        self._stack.setCurrentWidget(self._pages[name])
        for tab, page in zip(self._tabs.buttons(), self._pages.values(), strict=True):
            tab.setChecked(page is self._pages[name])
        self.show()

    def toggle_floating(self) -> None:
        """Take the panel out of the window, or put it back."""
        place, size = self.mapToGlobal(QPoint(0, 0)), self.size()
        window = self.parent()
        area = window.dockWidgetArea(self) if isinstance(window, QMainWindow) else None
        self.setFloating(not self.isFloating())
        self.show()
        if self.isFloating():
            self.resize(size.width(), max(self.minimumHeight(), size.height() - 2 * LIFT))
            self.move(place + QPoint(LIFT if area == Qt.DockWidgetArea.LeftDockWidgetArea else -LIFT, LIFT))

    def _draw_edge(self, is_floating: bool) -> None:
        """Outside of the window it has an edge; with a title bar of our own Qt draws none."""
        edge = 1 if is_floating else 0
        self._column.setContentsMargins(edge, 0, edge, edge)
        for part in (self.titleBarWidget(), self.widget()):
            part.setProperty("floating", is_floating)
            part.style().unpolish(part)
            part.style().polish(part)

    def _fit_later(self) -> None:
        # Widgets know the size of their words only once the style has reached them.
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        """Wide enough for every page: they scroll up and down only."""
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        for page in self._pages.values():
            content = page.widget() if isinstance(page, QScrollArea) else None
            if content is not None:
                page.setMinimumWidth(max(MIN_WIDTH, content.minimumSizeHint().width() + bar))

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Panel"))
        self.setAccessibleName(self.tr("Panel"))
        self._close.setToolTip(self.tr("Hide the panel (F9 shows it again)"))
        self._close.setAccessibleName(self.tr("Hide the panel"))
        self._fit_later()
