"""A card that floats over the window until something else is clicked."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QBitmap, QGuiApplication, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.look.colours import Sizes
from app.widgets.enter_key import press_button

EDGE = 8
"""Pixels kept between a popup and the edge of the window."""


class Popup(QWidget):
    """A Qt popup with a rounded card in it; put widgets into ``column``."""

    def __init__(self, parent: QWidget, width: int) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self._owner = parent
        self._width = width
        self.card = QFrame(self)
        self.card.setObjectName("popupCard")
        outer = self._outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.card)
        self.column = QVBoxLayout(self.card)
        self.column.setContentsMargins(8, 8, 8, 8)
        self.column.setSpacing(4)

    def open_at(self, anchor: QWidget | None) -> None:
        """Show below a widget, or for None centred near the top of the window, always inside of it."""
        window = self._owner.window()
        area = QRect(window.mapToGlobal(QPoint(0, 0)), window.size()).adjusted(EDGE, EDGE, -EDGE, -EDGE)
        self.setFixedWidth(min(self._width, area.width()))
        self.fit(area.height())
        if anchor is None:
            place = QPoint(area.center().x() - self.width() // 2, area.top() + area.height() // 8)
        else:
            place = anchor.mapToGlobal(QPoint(0, anchor.height() + 4))
        place.setX(max(area.left(), min(place.x(), area.right() - self.width())))
        place.setY(max(area.top(), min(place.y(), area.bottom() - self.height())))
        self.move(place)
        self.show()
        self.activateWindow()

    def fit(self, most: int) -> None:
        """Take the height of the content, at most this many pixels."""
        self.setMaximumHeight(most)
        self._outer.activate()
        self.resize(self.width(), min(most, self.sizeHint().height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses buttons."""
        if not press_button(self, event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut off the corners, which an X server without a compositor would fill with black."""
        super().resizeEvent(event)
        if QGuiApplication.platformName() == "xcb":
            self.setMask(rounded_mask(self.rect()))


def rounded_mask(area: QRect) -> QBitmap:
    """An area with the corners of a card."""
    mask = QBitmap(area.size())
    mask.fill(Qt.GlobalColor.color0)
    painter = QPainter(mask)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.GlobalColor.color1)
    painter.drawRoundedRect(QRectF(area), Sizes.radius_card, Sizes.radius_card)
    painter.end()
    return mask
