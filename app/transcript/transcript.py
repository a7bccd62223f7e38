"""The transcript: turns painted in one scrolled column, of which only those near the screen are laid out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTransform,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolButton, QWidget

from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.transcript.accessible import TranscriptInterface, transcript_interface
from app.transcript.column import TurnColumn
from app.transcript.documents import DocumentFactory
from app.transcript.interaction import Interaction
from app.transcript.labels import Labels
from app.transcript.menu import transcript_menu
from app.transcript.scroller import Scroller
from app.transcript.selection import Position
from app.transcript.stream import TextCoalescer
from app.transcript.turn_painter import TurnPainter
from app.transcript.turn_view import Hotspot, TurnView
from app.transcript.turns import Action, ShownState, ShownTurn, Visibility, clean, default_actions

SIDE_MARGIN = 24.0
JUMP_SIDE = 34


class Transcript(Retranslating, QAbstractScrollArea):
    """See the package for the interface; ``welcome`` is shown while there are no turns."""

    link_activated = Signal(str)
    action_requested = Signal(str, Action)
    following_changed = Signal(bool)
    selection_changed = Signal()
    language_changed = Signal()

    def __init__(self, theme: Theme, welcome: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self._theme = theme
        self._column = TurnColumn(theme.sizes, theme.tokens)
        self._scroller = Scroller(self, self._column)
        self._labels = Labels()
        self._factory = DocumentFactory(theme, self)
        self._scroller.set_factory(self._factory, theme.sizes.body_line)
        self._painter = TurnPainter(theme, self._labels)
        self._welcome = welcome
        self._accessible: TranscriptInterface | None = None
        QAccessible.installFactory(transcript_interface)
        self._actions_of: Callable[[ShownTurn, bool], tuple[Action, ...]] = default_actions
        self._coalescer = TextCoalescer(self._take_text, self)
        self._interaction = Interaction(self)
        self.viewport().installEventFilter(self._interaction)
        self._jump = QToolButton(self)
        self._jump.setObjectName("jumpButton")
        self._jump.setFixedSize(JUMP_SIDE, JUMP_SIDE)
        self._jump.setIcon(theme.icon("arrow-down", "text"))
        self._jump.setIconSize(QSize(18, 18))
        self._jump.clicked.connect(self.jump_to_end)
        self._jump.hide()
        self._scroller.following_changed.connect(self._on_following_changed)
        theme.changed.connect(self._on_theme_changed)
        self.retranslate()
        welcome.setParent(self)
        self._show_welcome()

    # What the window calls

    @property
    def turns(self) -> list[ShownTurn]:
        """The turns in order."""
        return [view.turn for view in self._column.views]

    @property
    def is_following(self) -> bool:
        """Whether the end stays in view while text arrives."""
        return self._scroller.is_following

    def set_turns(self, turns: Sequence[ShownTurn]) -> None:
        """Show another chat, at its end."""
        self._coalescer.forget()
        self._interaction.forget()
        self._column.set_turns(turns)
        self._turns_changed()
        self.jump_to_end()

    def append_turn(self, turn: ShownTurn) -> None:
        """Add a turn at the end and follow it."""
        self._coalescer.flush_now()
        self._column.append(turn)
        self._turns_changed()
        self.jump_to_end()

    def append_text(self, turn_id: str, text: str, reasoning: str = "") -> None:
        """Add streamed text to a turn; it is shown within 30 ms or three times what the last showing took."""
        self._coalescer.add(turn_id, text, reasoning)

    def finish_turn(self, turn_id: str, state: ShownState, facts: tuple[str, ...] = (), note: str = "") -> None:
        """End a streaming turn; its text is read once more as a whole."""
        self._coalescer.flush_now()
        index = self._column.index_of(turn_id)
        if index is None:
            return
        view = self.views[index]
        view.turn.state, view.turn.facts, view.turn.note = state, facts, note
        view.text_grew(self._factory, self._theme.sizes, is_final=True)
        self._assign_actions()
        self._changed(index)
        self.announce(view.turn.note or view.turn.text)

    def announce(self, words: str) -> None:
        """Have a screen reader say something, if there is one."""
        if words and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def update_turn(self, turn_id: str, **fields: object) -> None:
        """Replace fields of a turn, for instance `note`, `facts` or `variant`."""
        self._coalescer.flush_now()
        index = self._column.index_of(turn_id)
        if index is None:
            return
        view = self.views[index]
        view.turn = replace(view.turn, **fields)  # type: ignore[arg-type]
        view.text_grew(self._factory, self._theme.sizes, is_final=bool({"text", "reasoning"} & fields.keys()))
        self._assign_actions()
        self._changed(index)

    def set_words(self, words: dict[str, tuple[str, tuple[str, ...], str]]) -> None:
        """The time, the facts and the note of turns in another language; none is higher for it."""
        for turn in self.turns:
            turn.time, turn.facts, turn.note = words.get(turn.id, (turn.time, turn.facts, turn.note))
        self.viewport().update()

    def set_visibility(self, visibility: dict[str, Visibility]) -> None:
        """How much of each of these turns the model still sees."""
        for turn_id, value in visibility.items():
            index = self._column.index_of(turn_id)
            if index is not None and self.views[index].turn.visibility is not value:
                self.views[index].turn.visibility = value
                self.update_turn_area(index)

    def remove_turns_from(self, turn_id: str) -> None:
        """Remove a turn and all after it."""
        self._coalescer.flush_now()
        index = self._column.index_of(turn_id)
        if index is not None:
            self._column.cut(index)
            self._interaction.forget()
            self._turns_changed()
            self._scroller.settle()

    def set_actions(self, actions_of: Callable[[ShownTurn, bool], tuple[Action, ...]]) -> None:
        """Choose the buttons under a turn, given the turn and whether it is the last."""
        self._actions_of = actions_of
        self._assign_actions()
        self.viewport().update()

    def jump_to_end(self) -> None:
        """Scroll to the end and follow it."""
        self._scroller.follow(True)
        self._scroller.settle()

    def scroll_to_turn(self, turn_id: str) -> None:
        """Bring the beginning of a turn to the top."""
        index = self._column.index_of(turn_id)
        if index is not None:
            self._scroller.scroll_to(self._column.top(index))

    def selected_markdown(self) -> str:
        """The source of what is selected."""
        return self._interaction.selection.markdown(self.views)

    def copy(self) -> None:
        """Put the source of what is selected on the clipboard."""
        text = self.selected_markdown()
        if text:
            QGuiApplication.clipboard().setText(text)

    def select_all(self) -> None:
        """Select all turns."""
        self._interaction.select_all()

    def retranslate(self) -> None:
        """Take all words from the language in force."""
        self._labels.retranslate()
        self.setAccessibleName(self.tr("Conversation"))
        self._jump.setToolTip(self.tr("Jump to the end (End)"))
        self._jump.setAccessibleName(self.tr("Jump to the end"))
        self.viewport().update()
        self.language_changed.emit()

    # Also for the interaction and for screen readers

    @property
    def views(self) -> list[TurnView]:
        """The turns as they are laid out."""
        return self._column.views

    @property
    def labels(self) -> Labels:
        """The words in the language in force."""
        return self._labels

    def hotspots(self, index: int) -> list[Hotspot]:
        """What can be pressed in a turn, on the screen or not, as far as it is laid out."""
        view = self.views[index]
        return list(view.hotspots(0.0, view.height, self.can_show_actions(index)))

    def accessible_interface(self) -> QAccessibleInterface:
        """What screen readers are told; it lives as long as the transcript."""
        if self._accessible is None:
            self._accessible = TranscriptInterface(self)
        return self._accessible

    def column_rect(self) -> QRectF:
        """The column of text in the viewport, centred in the whole width, as the composer is."""
        room = float(self.viewport().width())
        width = min(float(self._theme.sizes.column), max(160.0, self.width() - 2 * SIDE_MARGIN))
        x = min((self.width() - width) // 2, room - width - SIDE_MARGIN / 2)
        return QRectF(max(0.0, x), 0, width, self.viewport().height())

    def turn_origin(self, index: int) -> QPointF:
        """Where the corner of a turn lies in the viewport."""
        y = self._column.top(index) - self._scroller.top
        return QPointF(self.column_rect().x(), round(y))

    def turn_at(self, point: QPointF) -> int | None:
        """The index of the turn nearest to a point of the viewport."""
        return self._column.at(point.y() + self._scroller.top)

    def visible_turns(self) -> range:
        """The indexes of the turns on the screen."""
        top = self._scroller.top
        return self._column.between(top, top + self._scroller.screen)

    def position_at(self, point: QPointF) -> Position | None:
        """The text position nearest to a point of the viewport."""
        index = self.turn_at(point)
        if index is None:
            return None
        view = self.views[index]
        inside = point - self.turn_origin(index)
        box = view.box_at(inside)
        return Position(index, max(0, box), view.boxes[box].position_at(inside) if box >= 0 else 0)

    def place_at(self, point: QPointF) -> tuple[int, Hotspot] | None:
        """What can be pressed at a point of the viewport, with the index of its turn."""
        return self._interaction.place_at(point)

    def is_text_at(self, point: QPointF) -> bool:
        """Whether there is text to select at a point of the viewport."""
        index = self.turn_at(point)
        if index is None:
            return False
        inside = point - self.turn_origin(index)
        box = self.views[index].box_at(inside)
        return box >= 0 and self.views[index].boxes[box].rect.contains(inside)

    def shows_actions(self, index: int) -> bool:
        """Whether the buttons under a turn are shown: for the last answer, where there are versions, and near by."""
        stays = self.views[index].has_versions or (index == len(self.views) - 1 and not self.views[index].is_user)
        return self.can_show_actions(index) and (stays or self._interaction.is_near(index))

    def can_show_actions(self, index: int) -> bool:
        """Whether a turn has buttons at all: not while it is being written."""
        return self.views[index].turn.state is not ShownState.STREAMING

    def update_turn_area(self, index: int) -> None:
        """Paint a turn again."""
        top = round(self.turn_origin(index).y()) - 4
        self.viewport().update(QRect(0, top, self.viewport().width(), round(self.views[index].height) + 8))

    def toggle_reasoning(self, index: int) -> None:
        """Unfold or fold the reasoning of a turn; what was pressed stays under the pointer, so the end is let go of."""
        self._scroller.follow(False)
        view = self.views[index]
        view.set_unfolded(not view.is_unfolded, self._theme.sizes)
        self._changed(index)
        self._scroller.look_again()

    # Laying out and scrolling

    def _turns_changed(self) -> None:
        self._assign_actions()
        self._show_welcome()
        self.viewport().update()

    def _assign_actions(self) -> None:
        last = len(self.views) - 1
        for i, view in enumerate(self.views):
            view.actions = self._actions_of(view.turn, i == last)

    def _changed(self, index: int) -> None:
        """A turn has other content: settle, and paint it and what is below it."""
        self._column.measure(index)
        self._scroller.settle()
        top = max(0, round(self.turn_origin(index).y()) - 4)
        self.viewport().update(QRect(0, top, self.viewport().width(), self.viewport().height() - top))

    def _take_text(self, turn_id: str, text: str, reasoning: str) -> None:
        index = self._column.index_of(turn_id)
        if index is None:
            return
        view = self.views[index]
        view.turn.text += clean(text)
        view.turn.reasoning += clean(reasoning)
        view.text_grew(self._factory, self._theme.sizes, is_final=False)
        self._changed(index)

    def _on_following_changed(self, is_following: bool) -> None:
        self._jump.setVisible(not is_following)
        self.following_changed.emit(is_following)

    def _on_theme_changed(self) -> None:
        self._factory = DocumentFactory(self._theme, self)
        self._painter = TurnPainter(self._theme, self._labels)
        self._scroller.set_factory(self._factory, self._theme.sizes.body_line)
        self._reflow()

    def _reflow(self) -> None:
        """Colours, sizes or the width have changed."""
        sizes, width = self._theme.sizes, self.column_rect().width()
        self._scroller.reflow(lambda: self._column.place(width, sizes, self._theme.tokens))
        self.viewport().update()

    def _show_welcome(self) -> None:
        self._welcome.setVisible(not self.views)
        self._welcome.setGeometry(self.viewport().geometry())

    # Qt

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().scroll(dx, dy)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._reflow()
        self._show_welcome()
        middle = self.column_rect().center().x()
        self._jump.move(round(middle - JUMP_SIDE / 2), self.viewport().height() - JUMP_SIDE - 14)
        self._jump.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._scroller.settle()
        painter = QPainter(self.viewport())
        try:
            self._paint(painter, QRectF(event.rect()))
        finally:
            # A painter that outlives its event takes the whole process with it.
            painter.end()

    def _paint(self, painter: QPainter, clip: QRectF) -> None:
        painter.fillRect(clip, self._theme.tokens.ground)
        for index in self.visible_turns():
            view, origin = self.views[index], self.turn_origin(index)
            area = clip.translated(-origin)
            if area.bottom() >= -4 and area.top() <= view.height + 4:
                painter.setTransform(QTransform.fromTranslate(origin.x(), origin.y()))
                self._painter.paint(painter, view, area, self._interaction.moment(index))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        transcript_menu(self, QPointF(event.pos())).exec(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._interaction.key_pressed(event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        return self._interaction.move_focus(is_next) or super().focusNextPrevChild(is_next)
