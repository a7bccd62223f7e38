"""Mouse and keyboard in the transcript: hovering, pressing, selecting, moving through what can be pressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip

from app.transcript.boxes import Box
from app.transcript.selection import Position, Selection
from app.transcript.turn_painter import PaintState
from app.transcript.turn_view import Hotspot, Spot
from app.transcript.turns import Action

if TYPE_CHECKING:
    from app.transcript.transcript import Transcript

COPIED_MS = 1500
AUTO_SCROLL_MS = 30
CODE_STEP = 60.0

Place = tuple[int, Hotspot]


class Interaction(QObject):
    """Keeps what is hovered, focused and selected, and turns events into what the transcript does."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self.selection = Selection()
        self._hovered: Place | None = None
        self._hovered_turn: int | None = None
        self._focused: Place | None = None
        self._copied: Place | None = None
        self._pressed: Place | None = None
        self._is_selecting = False
        self._last_double_click = (0, QPointF())
        self._mouse: QPointF | None = None
        self._copied_timer = QTimer(self)
        self._copied_timer.setSingleShot(True)
        self._copied_timer.timeout.connect(self._on_copied_shown)
        self._auto_scroll = QTimer(self)
        self._auto_scroll.setInterval(AUTO_SCROLL_MS)
        self._auto_scroll.timeout.connect(self._on_auto_scroll)
        transcript.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    def forget(self) -> None:
        """The turns are others now."""
        self.selection.clear()
        self._hovered = self._focused = self._copied = self._pressed = None
        self._hovered_turn = None
        self._is_selecting = False
        self._auto_scroll.stop()

    def is_near(self, index: int) -> bool:
        """Whether the pointer or the keyboard is at a turn."""
        return index == self._hovered_turn or (self._focused is not None and self._focused[0] == index)

    def moment(self, index: int) -> PaintState:
        """What is true of a turn now, for painting it."""
        view = self._transcript.views[index]
        for box, n_boxes in view.came:
            self.selection.make_room(index, box, n_boxes)
        view.came.clear()
        boxes = view.boxes

        def selected(box: int) -> tuple[int, int] | None:
            return self.selection.range_in(index, box, boxes[box])

        return PaintState(
            shows_actions=self._transcript.shows_actions(index),
            hovered=_of(self._hovered, index),
            focused=_of(self._focused, index) if self._transcript.hasFocus() else None,
            copied=_of(self._copied, index),
            selection=selected,
        )

    def activate(self, index: int, hotspot: Hotspot) -> None:
        """Do what pressing a place in a turn does."""
        transcript = self._transcript
        view = transcript.views[index]
        if hotspot.spot is Spot.REASONING:
            transcript.toggle_reasoning(index)
        elif hotspot.spot is Spot.LINK:
            transcript.link_activated.emit(hotspot.href)
        elif hotspot.spot is Spot.COPY_CODE or hotspot.action is Action.COPY:
            is_code = hotspot.spot is Spot.COPY_CODE
            QGuiApplication.clipboard().setText(view.code_of(hotspot.box) if is_code else view.turn.text)
            self.show_copied(index, hotspot)
        elif hotspot.action is not None:
            transcript.action_requested.emit(view.turn.id, hotspot.action)

    def show_copied(self, index: int, hotspot: Hotspot) -> None:
        """Show for a moment that something was copied."""
        self._copied = (index, hotspot)
        self._copied_timer.start(COPIED_MS)
        self._transcript.announce(self._transcript.labels.copied)
        self._transcript.viewport().update()

    def select_all(self) -> None:
        """Select all turns."""
        self.selection.clear()
        self.selection.is_everything = bool(self._transcript.views)
        self._selection_changed()

    # Events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: ARG002
        kind = event.type()
        if isinstance(event, QMouseEvent):
            handler = {
                QEvent.Type.MouseButtonPress: self._on_press,
                QEvent.Type.MouseButtonDblClick: self._on_double_click,
                QEvent.Type.MouseMove: self._on_move,
                QEvent.Type.MouseButtonRelease: self._on_release,
            }.get(kind)
            if handler is not None:
                handler(event)
                return True
        elif isinstance(event, QWheelEvent):
            return self._on_wheel(event)
        elif kind == QEvent.Type.Leave:
            self._mouse = None
            self._hover(None, None)
        elif kind == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.place_at(QPointF(event.pos()))
            words = self._transcript.labels.what_it_does(place[1]) if place else ""
            QToolTip.showText(event.globalPos(), words, self._transcript.viewport())
            return True
        return False

    def key_pressed(self, event: QKeyEvent) -> bool:
        """Handle a key; True if it is done with."""
        bar = self._transcript.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self._transcript.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._focused:
            self.activate(*self._focused)
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self._focused and self._focused[1].box >= 0:
            index, hotspot = self._focused
            step = CODE_STEP if event.key() == Qt.Key.Key_Right else -CODE_STEP
            self._transcript.views[index].scroll_code(hotspot.box, step)
            self._transcript.update_turn_area(index)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self._go_to_turn(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() == Qt.Key.Key_End:
            self._transcript.jump_to_end()
        elif event.key() == Qt.Key.Key_Space:
            step = bar.pageStep() - 40
            bar.setValue(bar.value() + (-step if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else step))
        elif event.key() == Qt.Key.Key_Escape and (self._focused or not self.selection.is_empty):
            self._focused = None
            self.selection.clear()
            self._selection_changed()
        else:
            return False
        return True

    def move_focus(self, is_forward: bool) -> bool:
        """Go to the next thing on the screen that can be pressed; False at the end, to leave the transcript."""
        places = self._places()
        at = next((i for i, place in enumerate(places) if _is_same_place(place, self._focused)), None)
        start = at if at is not None else (-1 if is_forward else len(places))
        target = start + (1 if is_forward else -1)
        if not 0 <= target < len(places):
            self._focused = None
            self._transcript.viewport().update()
            return False
        self._focused = places[target]
        self._transcript.announce(self._transcript.labels.what_it_does(places[target][1]))
        self._transcript.viewport().update()
        return True

    def _go_to_turn(self, step: int) -> None:
        """Bring the beginning of the message before or after the one at the upper edge to that edge."""
        transcript = self._transcript
        index = transcript.turn_at(QPointF(0, 1))
        if index is None:
            return
        is_inside = step < 0 and transcript.turn_origin(index).y() < -1
        target = min(max(index + (0 if is_inside else step), 0), len(transcript.views) - 1)
        transcript.scroll_to_turn(transcript.views[target].turn.id)

    def _places(self) -> list[Place]:
        """What can be pressed on the screen, buttons of every turn included."""
        transcript = self._transcript
        height = transcript.viewport().height()
        places: list[Place] = []
        for index in transcript.visible_turns():
            y = transcript.turn_origin(index).y()
            places += [
                (index, hotspot)
                for hotspot in transcript.views[index].hotspots(-y, height - y, transcript.can_show_actions(index))
                if y + hotspot.rect.bottom() > 0 and y + hotspot.rect.top() < height
            ]
        return places

    def place_at(self, point: QPointF) -> Place | None:
        """What can be pressed at a point of the viewport, with the index of its turn."""
        transcript = self._transcript
        index = transcript.turn_at(point)
        if index is None:
            return None
        view = transcript.views[index]
        inside = point - transcript.turn_origin(index)
        y = inside.y()
        spots = list(view.hotspots(y - 1, y + 1, transcript.shows_actions(index)))
        for hotspot in spots:
            if hotspot.spot is not Spot.LINK and hotspot.rect.contains(inside):
                return index, hotspot
        box = view.box_at(inside)
        href = view.boxes[box].link_at(inside) if box >= 0 else None
        link = next((spot for spot in spots if spot.href == href and spot.box == box), None) if href else None
        return (index, link) if link is not None else None

    def _hover(self, turn: int | None, place: Place | None) -> None:
        if turn == self._hovered_turn and _is_same_place(place, self._hovered):
            return
        dirty = {
            turn,
            self._hovered_turn,
            place[0] if place else None,
            self._hovered[0] if self._hovered else None,
        }
        self._hovered_turn, self._hovered = turn, place
        for index in dirty:
            if index is not None and index < len(self._transcript.views):
                self._transcript.update_turn_area(index)

    def _on_press(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.position()
        self._focused = None
        self._pressed = self.place_at(point)
        position = self._transcript.position_at(point)
        is_link = self._pressed is not None and self._pressed[1].spot is Spot.LINK
        if position is None or (self._pressed is not None and not is_link):
            return
        time, place = self._last_double_click
        is_near = (place - point).manhattanLength() < QApplication.startDragDistance()
        if is_near and event.timestamp() - time < QApplication.doubleClickInterval():
            self._select_block(position)
            return
        self._is_selecting = True
        anchor = self.selection.anchor
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and anchor is not None:
            self.selection.set(anchor, position)
        else:
            self.selection.set(position, position)
        self._selection_changed()

    def _on_double_click(self, event: QMouseEvent) -> None:
        position = self._transcript.position_at(event.position())
        if self.place_at(event.position()) is not None or position is None:
            return
        self._last_double_click = (event.timestamp(), event.position())
        box = self._box(position)
        cursor = box.cursor(position.offset, position.offset) if box is not None else None
        if cursor is not None:
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            self._select_in(position, cursor.selectionStart(), cursor.selectionEnd())

    def _on_move(self, event: QMouseEvent) -> None:
        point = event.position()
        self._mouse = point
        if self._is_selecting and event.buttons() & Qt.MouseButton.LeftButton:
            self._extend_to(point)
            is_outside = not 0 <= point.y() <= self._transcript.viewport().height()
            if is_outside and not self._auto_scroll.isActive():
                self._auto_scroll.start()
            elif not is_outside:
                self._auto_scroll.stop()
            return
        self._hover_at(point)

    def _hover_at(self, point: QPointF) -> None:
        place = self.place_at(point)
        self._hover(self._transcript.turn_at(point), place)
        shape = Qt.CursorShape.ArrowCursor
        if place is not None:
            shape = Qt.CursorShape.PointingHandCursor
        elif self._transcript.is_text_at(point):
            shape = Qt.CursorShape.IBeamCursor
        self._transcript.viewport().setCursor(shape)

    def _on_scrolled(self) -> None:
        """Other things have come under the pointer without its moving."""
        if self._mouse is not None and not self._is_selecting:
            self._hover_at(self._mouse)

    def _on_release(self, event: QMouseEvent) -> None:
        self._auto_scroll.stop()
        self._is_selecting = False
        pressed, self._pressed = self._pressed, None
        if pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        # A link may also be where a selection begins.
        if _is_same_place(self.place_at(event.position()), pressed) and self.selection.is_empty:
            self.activate(*pressed)

    def _on_wheel(self, event: QWheelEvent) -> bool:
        """Sideways over code, or with Shift, the long lines of the code are scrolled."""
        delta = event.angleDelta()
        distance = delta.x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not distance:
            distance = delta.y()
        if abs(distance) <= abs(delta.y()) and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return False
        return self._scroll_code(event.position(), -distance / 2)

    def _scroll_code(self, point: QPointF, distance: float) -> bool:
        index = self._transcript.turn_at(point)
        if index is None:
            return False
        view = self._transcript.views[index]
        box = view.box_at(point - self._transcript.turn_origin(index))
        if box < 0 or not view.scroll_code(box, distance):
            return False
        self._transcript.update_turn_area(index)
        return True

    def _on_auto_scroll(self) -> None:
        if self._mouse is None:
            return
        y, height = self._mouse.y(), self._transcript.viewport().height()
        distance = y if y < 0 else max(0.0, y - height)
        bar = self._transcript.verticalScrollBar()
        bar.setValue(bar.value() + round(max(-60.0, min(60.0, distance))))
        self._extend_to(self._mouse)

    def _on_copied_shown(self) -> None:
        self._copied = None
        self._transcript.viewport().update()

    def _extend_to(self, point: QPointF) -> None:
        column = self._transcript.column_rect()
        if not column.left() + 8 < point.x() < column.right() - 8:
            self._scroll_code(point, CODE_STEP / 3 if point.x() > column.center().x() else -CODE_STEP / 3)
        position = self._transcript.position_at(point)
        if position is not None and self.selection.anchor is not None:
            self.selection.set(self.selection.anchor, position)
            self._selection_changed()

    def _select_block(self, position: Position) -> None:
        box = self._box(position)
        if box is not None:
            self._select_in(position, 0, box.text_length())

    def _select_in(self, position: Position, start: int, end: int) -> None:
        self.selection.set(Position(position.turn, position.box, start), Position(position.turn, position.box, end))
        self._selection_changed()

    def _box(self, position: Position) -> Box | None:
        boxes = self._transcript.views[position.turn].boxes
        return boxes[position.box] if position.box < len(boxes) else None

    def _selection_changed(self) -> None:
        self._transcript.viewport().update()
        self._transcript.selection_changed.emit()


def _of(place: Place | None, index: int) -> Hotspot | None:
    return place[1] if place is not None and place[0] == index else None


def _is_same_place(one: Place | None, other: Place | None) -> bool:
    if one is None or other is None:
        return one is other
    return one[0] == other[0] and one[1].is_same(other[1])
