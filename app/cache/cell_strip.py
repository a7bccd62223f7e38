"""Every cell of the cache as a square, in the order of the sequence; the one under the pointer is described."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.cache.cell_grid import GAP, SQUARE, Grid
from app.cache.cell_map import CellCounts, CellMap, CellPlace
from app.cache.marks import paint_hatching
from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from engine.api.messages import CacheUsage, Span, SpanState

if TYPE_CHECKING:
    from app.cache.cell_raster import CellRaster

STUB = 18
"""Width of the stub that stands for what was evicted."""
STUB_GAP = 6
TEXT_MARGIN = 6
DEFAULT_COLUMNS = 46
KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class CellStrip(Retranslating, QWidget):
    """``pointed`` carries the cells of a square as a range and the CellPlace of the first, if it is in use; two Nones
    when nothing is pointed at. ``pressed`` carries the Span of a cell in use, or of what was evicted last."""

    pointed = Signal(object, object)
    pressed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cellStrip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._theme = theme
        self._usage: CacheUsage | None = None
        self._map: CellMap | None = None
        self._n_cells = 0
        self._raster: CellRaster | None = None
        self._square: int | None = None
        theme.changed.connect(self._renew)
        self.retranslate()

    # What it shows

    def show_usage(self, usage: CacheUsage | None, n_cells: int) -> CellCounts | None:
        """Show a cache; without a usage all of its cells are free. Only what changed is drawn again."""
        had_stub, n_before = self._has_stub, self._n_cells
        self._usage, self._n_cells = usage, n_cells
        self._map = CellMap(usage) if usage is not None else None
        if self._has_stub != had_stub or n_cells != n_before:
            self.updateGeometry()
            self._renew()
        elif usage is None:
            self._renew()
        if usage is None:
            return None
        # NumPy is not loaded before there are cells: the window is to be there first.
        from app.cache.cells import cell_codes, count_cells

        codes = cell_codes(usage)
        raster = self._raster
        if raster is not None:
            touched = raster.update(codes)
            if touched is not None:
                self.update(touched.translated(self._left, 0))
        if self._has_stub:
            self.update(0, 0, STUB, self.height())
        self._tell_square()
        return count_cells(codes)

    @property
    def n_gone(self) -> int:
        """Tokens of the sequence without a cell."""
        return self._usage.n_evicted + self._usage.n_skipped if self._usage is not None else 0

    @property
    def raster(self) -> CellRaster | None:
        """What is painted; None without cells."""
        return self._raster

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("Cells"))
        self.setAccessibleDescription(
            self.tr("Arrow keys go from cell to cell; Enter shows the message that a cell belongs to")
        )

    @property
    def _has_stub(self) -> bool:
        return self.n_gone > 0

    @property
    def _left(self) -> int:
        return STUB + STUB_GAP if self._has_stub else 0

    # Geometry

    def hasHeightForWidth(self) -> bool:
        """Wider ones have fewer rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """As many rows as the cells need."""
        return Grid.fitting(max(1, self._n_cells), width - self._left).height

    def sizeHint(self) -> QSize:
        """As in the panel's usual width."""
        width = DEFAULT_COLUMNS * (SQUARE + GAP)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Ten columns, and whatever height they get."""
        return QSize(10 * (SQUARE + GAP), SQUARE)

    def square_center(self, square: int) -> QPointF:
        """Where a square stands in the widget."""
        assert self._raster is not None
        return self._raster.grid.rect(square).translated(self._left, 0).center()

    def _renew(self) -> None:
        """Another grid, other colours: everything is made again."""
        width = self.width() - self._left
        if self._n_cells <= 0 or width < SQUARE:
            self._raster = None
        else:
            from app.cache.cell_raster import CellRaster, tiles
            from app.cache.cells import cell_codes

            ratio = self.devicePixelRatioF()
            grid = Grid.fitting(self._n_cells, width)
            self._raster = CellRaster(grid, tiles(self._theme.tokens, ratio), ratio)
            if self._usage is not None:
                self._raster.update(cell_codes(self._usage))
        if self._raster is None or (self._square is not None and self._square >= self._raster.grid.n_squares):
            self._square = None
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More columns, or fewer."""
        super().resizeEvent(event)
        self._renew()

    def event(self, event: QEvent) -> bool:
        """Follow the window to a screen with other pixels."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._renew()
        return super().event(event)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, the stub on its left, and a ring around the square that is pointed at."""
        super().paintEvent(event)
        painter = QPainter(self)
        if self._raster is not None:
            painter.drawImage(QPointF(self._left, 0), self._raster.image)
        if self._has_stub:
            self._paint_stub(painter)
        if self._raster is not None and self._square is not None:
            place = self._raster.grid.rect(self._square).translated(self._left, 0).adjusted(-1.5, -1.5, 1.5, 1.5)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._theme.tokens.text), 2))
            painter.drawRoundedRect(place, 2, 2)
        painter.end()

    def _paint_stub(self, painter: QPainter) -> None:
        tokens = self._theme.tokens
        place = QRectF(0, 0, STUB, self.height())
        paint_hatching(painter, place, QColor(tokens.text_3))
        painter.setFont(self._theme.font(self._theme.sizes.micro, 600, tabular=True))
        text = language.number(self.n_gone)
        metrics = painter.fontMetrics()
        length = metrics.horizontalAdvance(text) + 2 * TEXT_MARGIN
        if length > place.height():
            return
        painter.save()
        painter.translate(place.center())
        painter.rotate(-90)
        label = QRectF(-length / 2, -STUB / 2, length, STUB)
        painter.fillRect(label, QColor(tokens.side))
        painter.setPen(QColor(tokens.text_2))
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()

    # Pointing

    def place_of(self, square: int) -> CellPlace | None:
        """What lies in the first cell of a square."""
        if self._raster is None or self._map is None:
            return None
        return self._map.at(self._raster.grid.cells(square).start)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at a square."""
        point = event.position()
        self.setToolTip(self._stub_text() if self._is_on_stub(point) else "")
        grid = self._raster.grid if self._raster is not None else None
        self._point_at(grid.square_at(point.x() - self._left, point.y()) if grid is not None else None)

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self._point_at(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the message."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.mouseMoveEvent(event)
            gone = self._last_gone() if self._is_on_stub(event.position()) else None
            if gone is not None:
                self.pressed.emit(gone)
            else:
                self._press()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The press was for us, so this is too."""
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """From square to square, and to its message."""
        raster = self._raster
        if raster is None:
            return
        columns, last = raster.grid.n_columns, raster.grid.n_squares - 1
        here = self._square if self._square is not None else 0
        target = {
            Qt.Key.Key_Left: here - 1,
            Qt.Key.Key_Right: here + 1,
            Qt.Key.Key_Up: here - columns,
            Qt.Key.Key_Down: here + columns,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(Qt.Key(event.key()))
        if target is not None:
            self._point_at(min(max(0, target), last))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._press()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The keyboard begins at the first cell."""
        super().focusInEvent(event)
        if self._square is None and event.reason() in KEYBOARD:
            self._point_at(0 if self._raster is not None else None)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keyboard points at nothing any more."""
        super().focusOutEvent(event)
        self._point_at(None)

    def _press(self) -> None:
        place = self.place_of(self._square) if self._square is not None else None
        if place is not None:
            self.pressed.emit(place.span)

    def _is_on_stub(self, point: QPointF) -> bool:
        return self._has_stub and point.x() < STUB

    def _stub_text(self) -> str:
        return self.tr("%Ln token(s) without cells: the model no longer sees them", "", self.n_gone)

    def _last_gone(self) -> Span | None:
        spans = self._usage.spans if self._usage is not None else ()
        return next((span for span in reversed(spans) if span.state is not SpanState.CACHED), None)

    def _point_at(self, square: int | None) -> None:
        if square != self._square:
            self._square = square
            self.update()
            self._tell_square()

    def _tell_square(self) -> None:
        if self._square is None or self._raster is None:
            self.pointed.emit(None, None)
        else:
            self.pointed.emit(self._raster.grid.cells(self._square), self.place_of(self._square))
