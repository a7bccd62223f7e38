"""The sidebar: all chats, and the way to find one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.chats.chat_list import ROW, ChatListModel, Row, grouped
from app.chats.chat_rows import ChatRows
from app.commands.actions import SIDEBAR_MENU, Actions
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.store.records import ChatLine, Hit
from app.widgets.side_panel import PanelHeader

MIN_WIDTH = 200
SEARCH_MS = 120
NARROW = 940
"""Pixels of the window below which chats and panel do not both fit beside the text."""


class _List(QListView):
    """Enter opens, Delete deletes, F2 renames; a click opens."""

    enter_pressed = Signal()
    delete_pressed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.state() is QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.enter_pressed.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_pressed.emit()
        else:
            super().keyPressEvent(event)


class Sidebar(Retranslating, QDockWidget):
    """Signals carry what a person asked for; ``open_requested`` a chat's id and the id of a turn, or None."""

    open_requested = Signal(str, object)
    rename_requested = Signal(str, str)
    pin_requested = Signal(str, bool)
    delete_requested = Signal(str)
    export_requested = Signal(str)
    forget_requested = Signal(str)
    retranslated = Signal()

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chatSidebar")
        self.setAllowedAreas(Qt.DockWidgetArea.LeftDockWidgetArea | Qt.DockWidgetArea.RightDockWidgetArea)
        self.setFeatures(QDockWidget.DockWidgetFeature.DockWidgetClosable)
        self._theme = theme
        self._chats: Callable[[], list[ChatLine]] = list
        self._search: Callable[[str], list[Hit]] = lambda _wanted: []
        self._is_folded = False
        self.model = ChatListModel()
        self._title = QLabel()
        self._title.setProperty("level", "title")
        self._new = QToolButton()
        self._new.setObjectName("sidebarNewChat")
        self._new.setDefaultAction(actions["new_chat"])
        self._more = QToolButton()
        self._more.setObjectName("sidebarMore")
        self._more.setIcon(theme.icon("more"))
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._more)
        actions.fill(menu, SIDEBAR_MENU)
        self._more.setMenu(menu)
        self._field = QLineEdit()
        self._field.setObjectName("chatSearch")
        self._field.setClearButtonEnabled(True)
        self._field.addAction(theme.icon("search", "text_3"), QLineEdit.ActionPosition.LeadingPosition)
        self._list = _List()
        self._list.setObjectName("chatList")
        self._rows = ChatRows(theme, self.model.badge, self._list)
        self._prepare_list()
        self._lay_out(theme.sizes.top_bar)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SEARCH_MS)
        self._timer.timeout.connect(self.refresh)
        self._field.textChanged.connect(self._timer.start)
        self._field.returnPressed.connect(self._open_first)
        self._field.installEventFilter(self)
        theme.changed.connect(self._on_theme_changed)
        self.retranslate()

    def set_source(self, chats: Callable[[], list[ChatLine]], search: Callable[[str], list[Hit]]) -> None:
        """Where the chats come from."""
        self._chats, self._search = chats, search
        self.refresh()

    @property
    def wanted(self) -> str:
        """What is searched for."""
        return self._field.text().strip()

    def refresh(self) -> None:
        """Look again."""
        if self._list.state() is QAbstractItemView.State.EditingState:
            return
        self._timer.stop()
        wanted = self.wanted
        self._rows.wanted = wanted
        if wanted:
            found = self._search(wanted)
            rows = [Row(self._count_text(len(found))), *(Row(chat=hit.chat, hit=hit) for hit in found)]
        else:
            rows = grouped(self._chats(), datetime.now().astimezone().date())
            if not rows:
                rows = [Row(self.tr("Chats will be listed here"))]
        current, bar = self._current(), self._list.verticalScrollBar()
        place = bar.value()
        self.model.show_rows(rows)
        if current is not None:
            self._list.setCurrentIndex(self.model.index_of(current.id))
        bar.setValue(place)

    def set_opened(self, chat_id: str) -> None:
        """Mark the open chat."""
        self._rows.opened = chat_id
        index = self.model.index_of(chat_id)
        if index.isValid():
            self._list.setCurrentIndex(index)
        self._list.viewport().update()

    def focus_search(self) -> None:
        """Put the keyboard into the search, and show the sidebar if it is hidden."""
        self.show()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()

    def rename(self, chat_id: str) -> None:
        """Let the title be typed."""
        index = self.model.index_of(chat_id)
        if index.isValid():
            self.show()
            self._list.setCurrentIndex(index)
            self._list.edit(index)

    def neighbour(self, chat_id: str, step: int) -> str | None:
        """The chat above (-1) or below (1) another in the list."""
        ids = [row.chat.id for row in self.model.rows if row.chat is not None]
        if not ids:
            return None
        if chat_id not in ids:
            return ids[0]
        place = ids.index(chat_id) + step
        return ids[place] if 0 <= place < len(ids) else None

    def fit(self, window_width: int) -> None:
        """Give way in a narrow window, and come back in a wide one."""
        if window_width < NARROW and not self._is_folded and not self.isHidden():
            self._is_folded = True
            self.hide()
        elif window_width >= NARROW:
            self.unfold()

    def unfold(self) -> None:
        """Come back, so that a state saved now shows it where there is room."""
        if self._is_folded:
            self._is_folded = False
            self.show()

    def chat_menu(self, chat: ChatLine) -> QMenu:
        """What can be done with a chat."""
        menu = QMenu(self)
        for icon, text, do in (
            ("edit", self.tr("Rename"), lambda: self.rename(chat.id)),
            (
                "pin",
                self.tr("Unpin") if chat.is_pinned else self.tr("Pin to the top"),
                lambda: self.pin_requested.emit(chat.id, not chat.is_pinned),
            ),
            ("save", self.tr("Export…"), lambda: self.export_requested.emit(chat.id)),
            ("memory", self.tr("Forget its cache"), lambda: self.forget_requested.emit(chat.id)),
            ("trash", self.tr("Delete"), lambda: self.delete_requested.emit(chat.id)),
        ):
            if icon == "memory" and self.model.badge(chat.id) is None:
                # There is none.
                continue
            action = QAction(self._theme.icon(icon), text, menu)
            action.triggered.connect(do)
            menu.addAction(action)
        return menu

    def _count_text(self, n_chats: int) -> str:
        return self.tr("%Ln chat(s) found", "", n_chats) if n_chats else self.tr("Nothing found")

    def _prepare_list(self) -> None:
        view = self._list
        view.setModel(self.model)
        view.setItemDelegate(self._rows)
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(lambda at: self._open_menu(view.indexAt(at), at))
        view.clicked.connect(self._open)
        view.enter_pressed.connect(lambda: self._open(view.currentIndex()))
        view.delete_pressed.connect(self._delete_current)
        self._rows.menu_wanted.connect(self._open_menu)
        self.model.renamed.connect(self.rename_requested)

    def _lay_out(self, header_height: int) -> None:
        header = PanelHeader(header_height, MIN_WIDTH)
        row = QHBoxLayout(header)
        row.setContentsMargins(18, 0, 10, 0)
        row.setSpacing(2)
        row.addWidget(self._title, 1)
        for button in (self._new, self._more):
            button.setIconSize(QSize(18, 18))
            row.addWidget(button)
        self.setTitleBarWidget(header)
        body = QWidget()
        body.setProperty("surface", "side")
        body.setMinimumWidth(MIN_WIDTH)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 10, 0, 8)
        column.setSpacing(4)
        around = QHBoxLayout()
        around.setContentsMargins(12, 0, 12, 0)
        around.addWidget(self._field)
        column.addLayout(around)
        column.addWidget(self._list, 1)
        self.setWidget(body)

    def _current(self) -> ChatLine | None:
        index = self._list.currentIndex()
        return index.data(ROW).chat if index.isValid() else None

    def _open(self, index: QModelIndex) -> None:
        if index.isValid() and (chat := index.data(ROW).chat) is not None:
            hit = index.data(ROW).hit
            self.open_requested.emit(chat.id, hit.turn_id if hit is not None else None)

    def _open_first(self) -> None:
        if self._timer.isActive():
            self.refresh()
        first = next((number for number, row in enumerate(self.model.rows) if row.chat is not None), None)
        if first is not None:
            self._open(self.model.index(first))

    def _open_menu(self, index: QModelIndex, at: QPoint) -> None:
        chat = index.data(ROW).chat if index.isValid() else None
        if chat is not None:
            menu = self.chat_menu(chat)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(self._list.viewport().mapToGlobal(at))

    def _delete_current(self) -> None:
        if (chat := self._current()) is not None:
            self.delete_requested.emit(chat.id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the search, Down goes to the list and Esc clears."""
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self._list.setFocus(Qt.FocusReason.TabFocusReason)
                if self._current() is None and len(self.model.rows) > 1:
                    self._list.setCurrentIndex(self.model.index(1))
                return True
            if event.key() == Qt.Key.Key_Escape and self._field.text():
                self._field.clear()
                return True
        return super().eventFilter(watched, event)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Chats"))
        self._title.setText(self.tr("Chats"))
        self._field.setPlaceholderText(self.tr("Search"))
        self._field.setAccessibleName(self.tr("Search in all chats"))
        self._field.setToolTip(self.tr("Finds words in titles, messages and attached files"))
        for button, words in zip(
            self._field.findChildren(QToolButton),
            (self.tr("Search in all chats"), self.tr("Clear the search")),
            strict=False,
        ):
            button.setToolTip(words)
            button.setAccessibleName(words)
        self._list.setAccessibleName(self.tr("Chats"))
        self._more.setToolTip(self.tr("Import, export and more"))
        self._more.setAccessibleName(self.tr("Import, export and more"))
        self._new.setAccessibleName(self.tr("New chat"))
        self.refresh()
        self.retranslated.emit()

    def _on_theme_changed(self) -> None:
        self._rows.take_theme()
        self._list.doItemsLayout()
