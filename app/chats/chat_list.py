"""The list of chats: rows in groups of dates, or the chats that a search found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QLocale, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.look.foreign_text import elided, visible
from app.look.plain_tip import plain_tip
from app.store.records import ChatLine, Hit

LONGEST_TITLE = 300
ROW = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Badge:
    """Where the cache of a chat is kept: a word, how large it is, and what both mean in a sentence.

    ``color`` is the name of a token; the mark ``is_hollow`` where the cache is not in memory.
    """

    word: str
    size: str
    meaning: str
    color: str
    is_hollow: bool = False


@dataclass(frozen=True)
class Row:
    """A heading (no chat), or a chat; ``hit`` where a search found it."""

    heading: str = ""
    chat: ChatLine | None = None
    hit: Hit | None = None


def group_of(moment: datetime, today: date) -> str:
    """The heading under which a chat of this moment stands."""
    day = moment.astimezone().date()
    translate = QCoreApplication.translate
    if day >= today:
        return translate("ChatList", "Today")
    if day == today - timedelta(days=1):
        return translate("ChatList", "Yesterday")
    if day > today - timedelta(days=7):
        return translate("ChatList", "Last 7 days")
    if day > today - timedelta(days=30):
        return translate("ChatList", "Last 30 days")
    pattern = "yyyy年M月" if QLocale().language() == QLocale.Language.Chinese else "MMMM yyyy"
    return QLocale().toString(day, pattern)  # type: ignore[call-overload]


def grouped(chats: Iterable[ChatLine], today: date) -> list[Row]:
    """Chats as they come, with headings between them."""
    rows: list[Row] = []
    heading = ""
    # Most chats of a long list are of the same few days.
    known: dict[int, str] = {}
    for chat in chats:
        if chat.is_pinned:
            group = QCoreApplication.translate("ChatList", "Pinned")
        else:
            day = int(chat.changed.timestamp() // 3600)
            group = known.get(day) or known.setdefault(day, group_of(chat.changed, today))
        if group != heading:
            heading = group
            rows.append(Row(heading))
        rows.append(Row(chat=chat))
    return rows


class ChatListModel(QAbstractListModel):
    """Rows as `grouped` gives them, or hits; ``renamed`` carries the chat's id and what a person typed."""

    renamed = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Row] = []
        self._row_of: dict[str, int] = {}
        self._badges: dict[str, Badge] = {}

    @property
    def rows(self) -> Sequence[Row]:
        """All rows."""
        return self._rows

    def show_rows(self, rows: list[Row]) -> None:
        """Others in place of those that are here."""
        if rows == self._rows:
            return
        self.beginResetModel()
        self._rows = rows
        self._row_of = {row.chat.id: number for number, row in enumerate(rows) if row.chat is not None}
        self.endResetModel()

    def set_badges(self, badges: dict[str, Badge]) -> None:
        """Where the caches of chats are, by the id of the chat."""
        self._badges = badges
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def badge(self, chat_id: str) -> Badge | None:
        """Where the cache of a chat is."""
        return self._badges.get(chat_id)

    def index_of(self, chat_id: str) -> QModelIndex:
        """Where a chat stands; an invalid index if it doesn't."""
        number = self._row_of.get(chat_id)
        return QModelIndex() if number is None else self.index(number)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """How many rows there are."""
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings can't be chosen."""
        if not index.isValid() or self._rows[index.row()].chat is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The row, its words, and what a screen reader says."""
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.EditRole and row.chat is not None and row.chat.title:
            return " ".join(row.chat.title.split())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return title_of(row.chat) if row.chat is not None else row.heading
        if role == Qt.ItemDataRole.ToolTipRole and row.chat is not None:
            return plain_tip(self._tip(row.chat))
        if role == Qt.ItemDataRole.AccessibleTextRole and row.chat is not None:
            snippet = row.hit.snippet if row.hit is not None else ""
            pinned = QCoreApplication.translate("ChatList", "pinned") if row.chat.is_pinned else ""
            badge = self._badges.get(row.chat.id)
            where = badge.meaning if badge is not None else ""
            return ", ".join(filter(None, (title_of(row.chat), pinned, where, snippet)))
        return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A person typed another title."""
        chat = self._rows[index.row()].chat
        title = " ".join(str(value).split())
        if chat is None or role != Qt.ItemDataRole.EditRole or not title:
            return False
        if title != chat.title:
            self.renamed.emit(chat.id, title)
        return True

    def _tip(self, chat: ChatLine) -> str:
        moment = QLocale().toString(chat.changed.astimezone(), QLocale.FormatType.ShortFormat)  # type: ignore[call-overload]
        lines = [title_of(chat), str(moment)]
        if (badge := self._badges.get(chat.id)) is not None:
            lines.append(badge.meaning)
        return "\n".join(lines)


def title_of(chat: ChatLine) -> str:
    """What a chat is called, in one line also where an imported title has several; one without has no words either."""
    title = " ".join(chat.title.split())
    return elided(visible(title), LONGEST_TITLE) or QCoreApplication.translate("ChatList", "New chat")
