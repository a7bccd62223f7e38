"""What screen readers are told of the painted transcript: one item for each turn, one for each button in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QPointF, QRect, QRectF
from PySide6.QtGui import QAccessible, QAccessibleInterface, QColor, QWindow
from PySide6.QtWidgets import QAccessibleWidget

from app.transcript.turn_view import Hotspot
from app.transcript.turns import Visibility

if TYPE_CHECKING:
    from app.transcript.transcript import Transcript

MAX_NAME = 20_000


class _Part(QAccessibleInterface):
    """A painted thing inside the transcript, which has no widget of its own."""

    def __init__(self, transcript: Transcript, parent: QAccessibleInterface) -> None:
        super().__init__()
        self._transcript = transcript
        self._parent = parent

    def isValid(self) -> bool:
        return True

    def object(self) -> QObject | None:  # type: ignore[override]
        return None

    def window(self) -> QWindow | None:  # type: ignore[override]
        return self._transcript.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        return self._parent

    def relations(
        self,
        match: QAccessible.RelationFlag = QAccessible.RelationFlag.AllRelations,  # noqa: ARG002
    ) -> list[tuple[QAccessibleInterface, QAccessible.RelationFlag]]:
        return []

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        found = (self.child(i) for i in range(self.childCount()))
        return next((child for child in found if child is not None and child.rect().contains(x, y)), None)

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # noqa: ARG002
        return None

    def childCount(self) -> int:
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:  # noqa: ARG002
        return -1

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing painted can be edited in place."""

    def foregroundColor(self) -> QColor:
        return QColor()

    def backgroundColor(self) -> QColor:
        return QColor()

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.readOnly = True
        return state

    def _on_screen(self, rect: QRectF) -> QRect:
        top_left = self._transcript.viewport().mapToGlobal(rect.topLeft())
        return QRectF(QPointF(top_left), rect.size()).toRect()


class _TurnPart(_Part):
    """One message: its name is who wrote it and what."""

    def __init__(self, transcript: Transcript, parent: QAccessibleInterface, index: int) -> None:
        super().__init__(transcript, parent)
        self._index = index
        self._buttons: list[_ButtonPart] = []

    def _exists(self) -> bool:
        return self._index < len(self._transcript.views)

    def isValid(self) -> bool:
        return self._exists()

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def rect(self) -> QRect:
        if not self._exists():
            return QRect()
        view = self._transcript.views[self._index]
        origin = self._transcript.turn_origin(self._index)
        return self._on_screen(QRectF(origin.x(), origin.y(), view.width, view.height))

    def text(self, kind: QAccessible.Text) -> str:
        if not self._exists():
            return ""
        turn = self._transcript.views[self._index].turn
        words = self._transcript.labels
        if kind == QAccessible.Text.Name:
            default = {"user": words.you, "assistant": words.assistant}.get(turn.role, words.system)
            return f"{turn.author or default}: {turn.text[:MAX_NAME]}"
        if kind == QAccessible.Text.Value:
            return turn.text
        if kind == QAccessible.Text.Description:
            gone = {Visibility.NONE: words.gone, Visibility.PARTLY: words.partly_gone}.get(turn.visibility, "")
            return " · ".join(part for part in (turn.note, gone, *turn.facts) if part)
        return ""

    def childCount(self) -> int:
        return len(self._hotspots())

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        if not 0 <= index < self.childCount():
            return None
        while len(self._buttons) <= index:
            self._buttons.append(_ButtonPart(self._transcript, self, self._index, len(self._buttons)))
        return self._buttons[index]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return next((i for i, button in enumerate(self._buttons) if button is child), -1)

    def _hotspots(self) -> list[Hotspot]:
        return self._transcript.hotspots(self._index) if self._exists() else []


class _ButtonPart(_Part):
    """A button or link in a message."""

    def __init__(self, transcript: Transcript, parent: QAccessibleInterface, turn: int, index: int) -> None:
        super().__init__(transcript, parent)
        self._turn = turn
        self._index = index

    def role(self) -> QAccessible.Role:
        spot = self._hotspot()
        return QAccessible.Role.Link if spot is not None and spot.href else QAccessible.Role.Button

    def rect(self) -> QRect:
        spot = self._hotspot()
        if spot is None:
            return QRect()
        return self._on_screen(spot.rect.translated(self._transcript.turn_origin(self._turn)))

    def text(self, kind: QAccessible.Text) -> str:
        spot = self._hotspot()
        if spot is None or kind != QAccessible.Text.Name:
            return ""
        return self._transcript.labels.what_it_does(spot)

    def _hotspot(self) -> Hotspot | None:
        if self._turn >= len(self._transcript.views):
            return None
        spots = self._transcript.hotspots(self._turn)
        return spots[self._index] if self._index < len(spots) else None


class TranscriptInterface(QAccessibleWidget):
    """The transcript as a list of messages."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript, QAccessible.Role.List, transcript.accessibleName())
        self._transcript = transcript
        self._turns: list[_TurnPart] = []

    def childCount(self) -> int:
        return len(self._transcript.views)

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        if not 0 <= index < self.childCount():
            return None
        while len(self._turns) <= index:
            self._turns.append(_TurnPart(self._transcript, self, len(self._turns)))
        return self._turns[index]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return next((i for i, turn in enumerate(self._turns) if turn is child), -1)

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        point = self._transcript.viewport().mapFromGlobal(QPointF(x, y))
        index = self._transcript.turn_at(point)
        return None if index is None else self.child(index)

    def text(self, kind: QAccessible.Text) -> str:
        return self._transcript.accessibleName() if kind == QAccessible.Text.Name else ""


def transcript_interface(class_name: str, watched: QObject | None) -> QAccessibleInterface | None:
    """The factory for `QAccessible.installFactory`; it answers for transcripts only."""
    if class_name != "Transcript" or watched is None:
        return None
    transcript = cast("Transcript", watched)
    return transcript.accessible_interface()
