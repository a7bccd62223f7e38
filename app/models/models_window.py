"""The window of models: what is here, what can be found, and what is on its way."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QTabWidget, QVBoxLayout, QWidget

from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models.downloads_page import DownloadsPage
from app.models.find_page import FindPage
from app.models.library_page import LibraryPage

WIDEST = 1200


class ModelsWindow(Retranslating, QDialog):
    """Does not stop the main window; ``shown`` is emitted whenever it comes up, ``retranslated`` after a change of the
    language, for words that were given to it."""

    shown = Signal()
    retranslated = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelsWindow")
        self.setModal(False)
        self.resize(920, 640)
        self.library = LibraryPage(theme)
        self.finder = FindPage(theme)
        self.downloads = DownloadsPage(theme)
        self._pages: tuple[QWidget, ...] = (self.library, self.finder, self.downloads)
        self._tabs = QTabWidget()
        self._tabs.setObjectName("modelsTabs")
        self._tabs.setDocumentMode(True)
        self._tabs.tabBar().setDrawBase(False)
        for page in self._pages:
            self._tabs.addTab(page, "")
            # Pages take the words of a new language after their window.
            page.windowTitleChanged.connect(self._name_tabs)
        self._n_active = 0
        self._tabs.currentChanged.connect(self._on_page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.addWidget(self._tabs)
        self.retranslate()

    def show_page(self, page: QWidget) -> None:
        """Bring a page, and the window, to the front."""
        self._tabs.setCurrentWidget(page)
        self.show()
        self.activateWindow()

    def _on_page(self, index: int) -> None:
        """The keyboard begins where the page does; on the tabs it stays, to go on from one to the next."""
        if index >= 0 and not self._tabs.tabBar().hasFocus():
            self._pages[index].setFocus()

    def set_n_active(self, n_active: int) -> None:
        """How many downloads are on their way: the tab says so."""
        self._n_active = n_active
        self._name_tabs()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Models"))
        self._name_tabs()
        self.retranslated.emit()

    def _name_tabs(self) -> None:
        for index, page in enumerate(self._pages):
            is_busy = page is self.downloads and self._n_active > 0
            title = page.windowTitle()
            self._tabs.setTabText(index, f"{title} ({self._n_active})" if is_busy else title)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a wide window lists stay in the middle: a button must not be far from what it is about."""
        super().resizeEvent(event)
        side = max(0, (self.width() - WIDEST) // 2)
        for page in self._pages:
            if (layout := page.layout()) is not None:
                layout.setContentsMargins(20 + side, 16, 12 + side, 16)

    def showEvent(self, event: QShowEvent) -> None:
        """Emit ``shown``."""
        super().showEvent(event)
        self.shown.emit()
