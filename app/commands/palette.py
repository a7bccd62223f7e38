"""The command palette: type a part of a name, press Enter."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent, QKeySequence, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.widgets.popup import Popup

ACTION_ROLE = Qt.ItemDataRole.UserRole + 1
WIDTH = 560
ROWS_SHOWN = 11

AnyIndex = QModelIndex | QPersistentModelIndex


def matches(query: str, name: str) -> bool:
    """Whether every word of the query stands in the name, or the query's letters in order do."""
    wanted, text = query.casefold().strip(), name.casefold()
    if all(word in text for word in wanted.split()):
        return True
    letters = iter(text)
    return all(letter in letters for letter in wanted if not letter.isspace())


def ranked(query: str, names: Iterable[str]) -> list[str]:
    """The names that match, those that hold the query's words before those that only hold its letters."""
    found = [name for name in names if matches(query, name)]
    words = query.casefold().split()

    def rank(name: str) -> tuple[bool, bool]:
        text = name.casefold()
        return (not text.startswith(query.casefold().strip()), not all(word in text for word in words))

    return sorted(found, key=rank)


class _CommandDelegate(QStyledItemDelegate):
    """Icon and name on the left, key on the right; what can't be done now is quiet."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:  # noqa: ARG002
        return QSize(100, self._theme.sizes.ui + 21)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        action: QAction = index.data(ACTION_ROLE)
        tokens, sizes = self._theme.tokens, self._theme.sizes
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selected))
            painter.drawRoundedRect(rect, 6, 6)
        icon = action.icon()
        if not icon.isNull():
            icon.paint(painter, QRect(rect.left() + 10, rect.center().y() - 8, 17, 17))
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        painter.setFont(self._theme.font(sizes.meta))
        painter.setPen(QColor(tokens.text_3))
        vertical = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect.adjusted(0, 0, -12, 0), Qt.AlignmentFlag.AlignRight | vertical, keys)
        keys_width = painter.fontMetrics().horizontalAdvance(keys)
        painter.setFont(self._theme.font(sizes.ui))
        painter.setPen(QColor(tokens.text if action.isEnabled() else tokens.text_3))
        room = rect.adjusted(38, 0, -28 - keys_width, 0)
        text = painter.fontMetrics().elidedText(action.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | vertical, text)
        painter.restore()


class CommandPalette(Retranslating, Popup):
    """A search field over the list of all actions."""

    def __init__(self, actions: tuple[QAction, ...], theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, WIDTH)
        self.setObjectName("commandPalette")
        self._actions = actions
        self._theme = theme
        self._search = QLineEdit()
        self._search.setObjectName("commandSearch")
        self._search.textChanged.connect(self._fill)
        self._search.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self._list = QListView()
        self._list.setObjectName("commandList")
        self._list.setModel(self._model)
        self._list.setItemDelegate(_CommandDelegate(theme, self._list))
        self._list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.clicked.connect(self._run)
        self.column.addWidget(self._search)
        self.column.addWidget(self._list)
        self.retranslate()

    def open(self) -> None:
        """Show all commands, with the keyboard in the search field."""
        self._search.clear()
        self._fill("")
        row = self._theme.sizes.ui + 21
        self._list.setFixedHeight(min(ROWS_SHOWN, len(self._actions)) * row + 4)
        self.open_at(None)
        self._search.setFocus()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("Commands"))
        self._search.setPlaceholderText(self.tr("What would you like to do?"))
        self._search.setAccessibleName(self.tr("Search commands"))
        self._search.setToolTip(self.tr("Type part of a name; ↑ ↓ choose, Enter does it, Esc closes"))
        self._list.setAccessibleName(self.tr("Commands"))

    def _fill(self, query: str) -> None:
        by_name = {action.text(): action for action in self._actions}
        self._model.clear()
        for name in ranked(query, by_name):
            item = QStandardItem(name)
            item.setData(by_name[name], ACTION_ROLE)
            item.setToolTip(by_name[name].statusTip())
            keys = by_name[name].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            item.setData(f"{name}, {keys}", Qt.ItemDataRole.AccessibleTextRole)
            self._model.appendRow(item)
        self._list.setCurrentIndex(self._model.index(0, 0))

    def _run(self, index: QModelIndex) -> None:
        action: QAction | None = index.data(ACTION_ROLE)
        self.close()
        if action is not None and action.isEnabled():
            action.trigger()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The arrow keys of the search field move in the list; Enter does what is chosen."""
        if watched is self._search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(self._list.currentIndex())
                return True
            step = {
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_PageDown: ROWS_SHOWN - 1,
                Qt.Key.Key_PageUp: 1 - ROWS_SHOWN,
            }.get(Qt.Key(event.key()))
            if step is not None and self._model.rowCount():
                row = min(max(self._list.currentIndex().row() + step, 0), self._model.rowCount() - 1)
                self._list.setCurrentIndex(self._model.index(row, 0))
                return True
        return super().eventFilter(watched, event)
