"""The transcript: turns painted in one scrolled column, of which only those near the screen are laid out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolButton, QWidget

from app.chat.documents import DocumentFactory
from app.chat.heights import HeightIndex
from app.chat.interaction import Interaction
from app.chat.selection import Position
from app.chat.stream import TextCoalescer
from app.chat.turn_painter import Labels, TurnPainter
from app.chat.turn_view import Hotspot, Spot, TurnView
from app.chat.turns import Action, Turn, TurnState, Visibility, clean
from app.theme import Theme

MARGIN = 24.0
N_TURNS_KEPT = 80
JUMP_SIDE = 34
_AFTER = {"user": 8.0}
_AFTER_OTHERS = 18.0


class Transcript(QAbstractScrollArea):
    """See the package for the interface."""

    link_activated = Signal(str)
    action_requested = Signal(str, Action)
    following_changed = Signal(bool)
    selection_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self._theme = theme
        self._views: list[TurnView] = []
        self._index_of: dict[str, int] = {}
        self._heights = HeightIndex()
        self._recent: OrderedDict[str, TurnView] = OrderedDict()
        self._labels = Labels()
        self._factory = DocumentFactory(theme, self)
        self._painter = TurnPainter(theme, self._labels)
        self._is_following = True
        self._is_settling = False
        self._welcome: QWidget | None = None
        self._actions_of: Callable[[Turn, bool], tuple[Action, ...]] = default_actions
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
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        theme.changed.connect(self._on_theme_changed)
        self.retranslate()

    # What the window calls

    @property
    def turns(self) -> list[Turn]:
        """The turns in order."""
        return [view.turn for view in self._views]

    @property
    def views(self) -> list[TurnView]:
        """The laid out turns, for painting, selecting and reading aloud."""
        return self._views

    @property
    def is_following(self) -> bool:
        """Whether the end stays in view while text arrives."""
        return self._is_following

    def set_turns(self, turns: Sequence[Turn]) -> None:
        """Show another chat, at its end."""
        self._coalescer.forget()
        self._interaction.forget()
        self._views = [TurnView(turn) for turn in turns]
        self._index_of = {turn.id: i for i, turn in enumerate(turns)}
        self._recent.clear()
        self._assign_actions()
        self._place_all()
        self.jump_to_end()
        self._show_welcome()
        self.viewport().update()

    def append_turn(self, turn: Turn) -> None:
        """Add a turn at the end and follow it."""
        self._coalescer.flush_now()
        view = TurnView(turn)
        self._index_of[turn.id] = len(self._views)
        self._views.append(view)
        view.place(self.column().width(), self._theme.sizes)
        self._heights.append(self._outer_height(view))
        self._assign_actions()
        self._show_welcome()
        self.jump_to_end()
        self.viewport().update()

    def append_text(self, turn_id: str, text: str, reasoning: str = "") -> None:
        """Add streamed text to a turn; it is shown within 30 ms or three times what the last showing took."""
        self._coalescer.add(turn_id, text, reasoning)

    def finish_turn(self, turn_id: str, state: TurnState, facts: tuple[str, ...] = (), note: str = "") -> None:
        """End a streaming turn; its text is read once more as a whole."""
        self._coalescer.flush_now()
        index = self._index_of.get(turn_id)
        if index is None:
            return
        view = self._views[index]
        view.turn.state, view.turn.facts, view.turn.note = state, facts, note
        view.text_grew(self._factory, self._theme.sizes, is_final=True)
        self._assign_actions()
        self._changed(index)

    def update_turn(self, turn_id: str, **fields: object) -> None:
        """Replace fields of a turn, for instance `visibility`, `facts` or `variant`."""
        index = self._index_of.get(turn_id)
        if index is None:
            return
        view = self._views[index]
        view.turn = replace(view.turn, **fields)  # type: ignore[arg-type]
        if {"text", "reasoning", "note", "role"} & fields.keys():
            view.text_grew(self._factory, self._theme.sizes, is_final=True)
        self._assign_actions()
        self._changed(index)

    def set_visibility(self, visibility: dict[str, Visibility]) -> None:
        """How much of each of these turns the model still sees."""
        for turn_id, value in visibility.items():
            index = self._index_of.get(turn_id)
            if index is not None and self._views[index].turn.visibility is not value:
                self._views[index].turn.visibility = value
                self.viewport().update()

    def remove_turns_from(self, turn_id: str) -> None:
        """Remove a turn and all after it."""
        self._coalescer.flush_now()
        index = self._index_of.get(turn_id)
        if index is None:
            return
        for view in self._views[index:]:
            self._index_of.pop(view.turn.id, None)
            self._recent.pop(view.turn.id, None)
        del self._views[index:]
        self._heights.cut(index)
        self._interaction.forget()
        self._assign_actions()
        self._update_range()
        self._show_welcome()
        self.viewport().update()

    def set_actions(self, actions_of: Callable[[Turn, bool], tuple[Action, ...]]) -> None:
        """Choose the buttons under a turn, given the turn and whether it is the last."""
        self._actions_of = actions_of
        self._assign_actions()
        self.viewport().update()

    def set_welcome(self, widget: QWidget | None) -> None:
        """What to show while there are no turns."""
        if self._welcome is not None:
            self._welcome.hide()
            self._welcome.setParent(None)
        self._welcome = widget
        if widget is not None:
            widget.setParent(self)
        self._show_welcome()

    def jump_to_end(self) -> None:
        """Scroll to the end and follow it."""
        self._set_following(True)
        self._settle()
        self._scroll_to_end()

    def scroll_to_turn(self, turn_id: str) -> None:
        """Bring the beginning of a turn to the top."""
        index = self._index_of.get(turn_id)
        if index is not None:
            self.verticalScrollBar().setValue(round(self._heights.top(index)))

    def selected_markdown(self) -> str:
        """The source of what is selected."""
        return self._interaction.selection.markdown(self._views)

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
        labels = self._labels
        labels.you = self.tr("You")
        labels.assistant = self.tr("Assistant")
        labels.system = self.tr("System prompt")
        labels.copy = self.tr("Copy")
        labels.copied = self.tr("Copied")
        labels.code = self.tr("Code")
        labels.thinking = self.tr("Thinking…")
        labels.thoughts = self.tr("Thoughts")
        labels.gone = self.tr("The model no longer sees this")
        labels.partly_gone = self.tr("The model no longer sees all of this")
        self.setAccessibleName(self.tr("Conversation"))
        self._jump.setToolTip(self.tr("Jump to the end"))
        self._jump.setAccessibleName(self.tr("Jump to the end"))
        self.viewport().update()

    # Geometry, also for the interaction and for screen readers

    def column(self) -> QRectF:
        """The column of text in the viewport."""
        room = self.viewport().width()
        width = min(float(self._theme.sizes.column), max(200.0, room - 2 * MARGIN))
        return QRectF(round((room - width) / 2), 0, width, self.viewport().height())

    def turn_origin(self, index: int) -> QPointF:
        """Where the corner of a turn lies in the viewport."""
        y = MARGIN + self._heights.top(index) - self.verticalScrollBar().value()
        return QPointF(self.column().x(), round(y))

    def turn_at(self, point: QPointF) -> int | None:
        """The index of the turn nearest to a point of the viewport."""
        if not self._views:
            return None
        return self._heights.at(point.y() + self.verticalScrollBar().value() - MARGIN)

    def visible_turns(self) -> range:
        """The indexes of the turns on the screen."""
        if not self._views:
            return range(0)
        top = self.verticalScrollBar().value() - MARGIN
        return range(self._heights.at(top), self._heights.at(top + self.viewport().height()) + 1)

    def position_at(self, point: QPointF) -> Position | None:
        """The text position nearest to a point of the viewport."""
        index = self.turn_at(point)
        if index is None:
            return None
        view = self._views[index]
        inside = point - self.turn_origin(index)
        box = view.box_at(inside)
        return Position(index, box, view.boxes[box].position_at(inside)) if box >= 0 else Position(index, 0, 0)

    def is_text_at(self, point: QPointF) -> bool:
        """Whether there is text to select at a point of the viewport."""
        index = self.turn_at(point)
        if index is None:
            return False
        inside = point - self.turn_origin(index)
        return any(box.rect.contains(inside) for box in self._views[index].boxes)

    def shows_actions(self, index: int) -> bool:
        """Whether the buttons under a turn are shown: for the last, the hovered and the focused one."""
        view = self._views[index]
        if view.turn.state is TurnState.STREAMING:
            return False
        is_last = index == len(self._views) - 1 and not view.is_user
        return is_last or self._interaction.is_near(index)

    def update_turn_area(self, index: int) -> None:
        """Paint a turn again."""
        origin = self.turn_origin(index)
        height = self._views[index].height
        self.viewport().update(QRect(0, round(origin.y()) - 4, self.viewport().width(), round(height) + 8))

    def activate(self, index: int, hotspot: Hotspot) -> None:
        """Do what pressing a place in a turn does."""
        view = self._views[index]
        if hotspot.spot is Spot.REASONING:
            self._keep_anchored(lambda: view.set_unfolded(not view.is_unfolded, self._theme.sizes), index)
        elif hotspot.spot is Spot.COPY_CODE:
            QGuiApplication.clipboard().setText(view.code_of(hotspot.box))
            self._interaction.show_copied(index, hotspot)
        elif hotspot.spot is Spot.LINK:
            self.link_activated.emit(hotspot.href)
        elif hotspot.action is Action.COPY:
            QGuiApplication.clipboard().setText(view.turn.text)
            self._interaction.show_copied(index, hotspot)
        elif hotspot.action is not None:
            self.action_requested.emit(view.turn.id, hotspot.action)

    def action_words(self, hotspot: Hotspot) -> str:
        """What pressing a place does, in words."""
        if hotspot.spot is Spot.LINK:
            return self.tr("Open link: {address}").format(address=hotspot.href)
        if hotspot.spot is Spot.COPY_CODE:
            return self.tr("Copy this code")
        if hotspot.spot is Spot.REASONING:
            return self.tr("Show or hide the model's thoughts")
        return {
            Action.COPY: self.tr("Copy this message as Markdown"),
            Action.EDIT: self.tr("Edit this message; the answers after it are written again"),
            Action.REGENERATE: self.tr("Write this answer again; only what follows is computed"),
            Action.CONTINUE: self.tr("Continue this answer from where it stopped"),
            Action.BRANCH: self.tr("Start a new chat from here"),
            Action.PREVIOUS: self.tr("Show the previous version"),
            Action.NEXT: self.tr("Show the next version"),
        }.get(hotspot.action or Action.COPY, "")

    # Laying out

    def _outer_height(self, view: TurnView) -> float:
        return view.height + _AFTER.get(view.turn.role, _AFTER_OTHERS)

    def _place_all(self) -> None:
        width, sizes = self.column().width(), self._theme.sizes
        for view in self._views:
            view.place(width, sizes)
        self._heights.replace_all([self._outer_height(view) for view in self._views])
        self._update_range()

    def _assign_actions(self) -> None:
        last = len(self._views) - 1
        for i, view in enumerate(self._views):
            view.actions = self._actions_of(view.turn, i == last)

    def _changed(self, index: int) -> None:
        """A turn has a new content or height: settle and paint it and what is below it."""
        self._heights.set(index, self._outer_height(self._views[index]))
        self._settle()
        if self._is_following:
            self._scroll_to_end()
        top = round(self.turn_origin(index).y()) - 4
        self.viewport().update(QRect(0, top, self.viewport().width(), max(0, self.viewport().height() - top)))

    def _take_text(self, turn_id: str, text: str, reasoning: str) -> None:
        index = self._index_of.get(turn_id)
        if index is None:
            return
        view = self._views[index]
        view.turn.text += clean(text)
        view.turn.reasoning += clean(reasoning)
        view.text_grew(self._factory, self._theme.sizes, is_final=False)
        self._changed(index)

    def _settle(self) -> None:
        """Lay out what is on the screen; while heights are corrected, what was laid out keeps its place."""
        if self._is_settling or not self._views:
            self._update_range()
            return
        self._is_settling = True
        for _ in range(6):
            self._update_range()
            if self._is_following:
                self._scroll_to_end()
            if not self._lay_out_visible():
                break
        self._is_settling = False
        while len(self._recent) > N_TURNS_KEPT:
            _, view = self._recent.popitem(last=False)
            view.drop_documents()

    def _lay_out_visible(self) -> bool:
        sizes, scroll = self._theme.sizes, self.verticalScrollBar()
        screen = self.viewport().height()
        changed = False
        for index in self.visible_turns():
            view = self._views[index]
            self._recent[view.turn.id] = view
            self._recent.move_to_end(view.turn.id)
            top = scroll.value() - MARGIN - self._heights.top(index)
            was_open, before = view.is_open, view.height
            anchor = view.anchor(top)
            if view.lay_out(top - 50, top + screen + 50, self._factory, sizes):
                changed = True
            if not self._heights.set(index, self._outer_height(view)):
                continue
            changed = True
            if not self._is_following and top > 0:
                moved = view.anchor_shift(anchor) if was_open else view.height - before
                self._update_range()
                scroll.setValue(scroll.value() + round(moved))
        return changed

    def _keep_anchored(self, change: Callable[[], None], index: int) -> None:
        """Change a turn's height without following, so that what was pressed stays under the pointer."""
        self._set_following(False)
        change()
        self._changed(index)
        self._on_scrolled()

    def _update_range(self) -> None:
        bar = self.verticalScrollBar()
        screen = self.viewport().height()
        total = self._heights.total() + 2 * MARGIN if self._views else 0.0
        bar.setPageStep(screen)
        bar.setSingleStep(self._theme.sizes.body_line * 2)
        bar.setRange(0, max(0, round(total) - screen))

    def _scroll_to_end(self) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _set_following(self, is_following: bool) -> None:
        if is_following != self._is_following:
            self._is_following = is_following
            self._jump.setVisible(not is_following)
            self.following_changed.emit(is_following)

    def _on_scrolled(self) -> None:
        if self._is_settling:
            return
        bar = self.verticalScrollBar()
        self._set_following(bar.value() >= bar.maximum() - 4)
        self._settle()

    def _on_theme_changed(self) -> None:
        self._factory = DocumentFactory(self._theme, self)
        self._painter = TurnPainter(self._theme, self._labels)
        for view in self._views:
            view.rebuild(self._theme.sizes)
        self._resized()

    def _resized(self) -> None:
        index = self.visible_turns()[0] if self._views else 0
        inside = self.verticalScrollBar().value() - self._heights.top(index)
        share = inside / self._heights.height(index) if self._views else 0.0
        self._place_all()
        if self._is_following:
            self._settle()
            self._scroll_to_end()
        elif self._views:
            value = self._heights.top(index) + share * self._heights.height(index)
            self.verticalScrollBar().setValue(round(value))
            self._settle()
        self.viewport().update()

    def _show_welcome(self) -> None:
        if self._welcome is not None:
            self._welcome.setVisible(not self._views)
            self._welcome.setGeometry(self.viewport().geometry())

    # Qt

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().scroll(dx, dy)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._resized()
        self._show_welcome()
        column = self.column()
        self._jump.move(round(column.center().x() - JUMP_SIDE / 2), self.viewport().height() - JUMP_SIDE - 14)
        self._jump.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._settle()
        painter = QPainter(self.viewport())
        clip = QRectF(event.rect())
        painter.fillRect(clip, self._theme.tokens.ground)
        for index in self.visible_turns():
            view, origin = self._views[index], self.turn_origin(index)
            area = clip.translated(-origin)
            if area.bottom() < -4 or area.top() > view.height + 4:
                continue
            painter.save()
            painter.translate(origin)
            self._painter.paint(painter, view, area, self._interaction.moment(index))
            painter.restore()
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._interaction.key_pressed(event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        return self._interaction.move_focus(is_next) or super().focusNextPrevChild(is_next)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()


def default_actions(turn: Turn, is_last: bool) -> tuple[Action, ...]:
    """Copy for all; edit for what the user wrote; regenerate and, at the end of a chat, continue for answers."""
    if turn.role == "user":
        return (Action.COPY, Action.EDIT)
    if turn.role == "system":
        return (Action.COPY,)
    if is_last:
        return (Action.COPY, Action.REGENERATE, Action.CONTINUE)
    return (Action.COPY, Action.REGENERATE)
