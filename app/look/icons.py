"""Line icons drawn crisp at any size in a colour that follows the theme."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.look.resources import resource_dir

ColorOf = Callable[[QIcon.Mode], str]


@lru_cache(maxsize=512)
def _renderer(name: str, color: str) -> QSvgRenderer:
    source = (resource_dir() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(QByteArray(source.replace("currentColor", color).encode()))


def paint_icon(painter: QPainter, name: str, color: str, rect: QRectF) -> None:
    """Draw the icon `name` in `color` ("#rrggbb") into `rect`, in logical pixels."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _renderer(name, color).render(painter, rect)
    painter.restore()


class _LineIconEngine(QIconEngine):
    """Asks for its colour at each painting, so an icon need not be replaced when the theme changes."""

    def __init__(self, name: str, color_of: ColorOf) -> None:
        super().__init__()
        self._name = name
        self._color_of = color_of

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        paint_icon(painter, self._name, self._color_of(mode), QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        pixmap = QPixmap(size * scale)
        pixmap.setDevicePixelRatio(scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _LineIconEngine(self._name, self._color_of)


def line_icon(name: str, color_of: ColorOf) -> QIcon:
    """An icon whose colour comes from `color_of(mode)` each time it is drawn."""
    return QIcon(_LineIconEngine(name, color_of))


def application_icon() -> QIcon:
    """The icon of the program, at the sizes that desktops ask for."""
    icon = QIcon()
    renderer = QSvgRenderer(str(resource_dir() / "icons" / "kvasir.svg"))
    for side in (16, 24, 32, 48, 64, 128, 256):
        pixmap = QPixmap(side, side)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(0, 0, side, side))
        painter.end()
        icon.addPixmap(pixmap)
    return icon
