"""The downloads: how far each is, how fast, and what can be done about it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models import download_text, fit_text
from app.models.model_card import CardList, ModelCard
from engine.api.sentences import Sentence
from engine.models.hub.downloads import Download, DownloadState


class DownloadCard(ModelCard):
    """One download."""

    def __init__(self, theme: Theme, page: DownloadsPage, download: Download) -> None:
        super().__init__(theme, f"{download.model.name} · {download.model.repo}")
        self.key = download.key
        self.pause = self.add_button("pauseDownload", lambda: page.pause_wanted.emit(self.key))
        self.resume = self.add_button("resumeDownload", lambda: page.resume_wanted.emit(self.key))
        self.load = self.add_button("loadDownload", lambda: page.load(self.path), "primary")
        self.remove: QPushButton = self.add_button("removeDownload", lambda: page.remove_wanted.emit(self.key), "quiet")
        self.remove.setIcon(theme.icon("trash"))
        self.path = ""


class DownloadsPage(Retranslating, QWidget):
    """The signals carry the key of a download, ``load_wanted`` the path of a finished model."""

    pause_wanted = Signal(str)
    resume_wanted = Signal(str)
    remove_wanted = Signal(str)
    load_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("downloadsPage")
        self._theme = theme
        self._downloads: tuple[Download, ...] = ()
        self._not_loaded: dict[str, Sentence] = {}
        self._list = CardList()
        self.setFocusProxy(self._list)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 12, 16)
        column.addWidget(self._list)
        theme.changed.connect(self._list.restyle)
        self.retranslate()

    @property
    def cards(self) -> list[ModelCard]:
        """The downloads that are shown."""
        return self._list.cards

    def show_downloads(self, downloads: tuple[Download, ...]) -> None:
        """All downloads as they are."""
        self._downloads = downloads
        known = {card.key: card for card in self._list.cards if isinstance(card, DownloadCard)}
        cards: list[ModelCard] = []
        for download in downloads:
            card = known.get(download.key) or DownloadCard(self._theme, self, download)
            self._render(card, download)
            cards.append(card)
        if cards != self._list.cards:
            self._list.set_cards(cards)

    def load(self, path: str) -> None:
        """Have a finished model loaded."""
        if self._not_loaded.pop(path, None) is not None:
            self.show_downloads(self._downloads)
        self.load_wanted.emit(path)

    def show_not_loaded(self, path: str, sentence: Sentence) -> None:
        """Why a finished model could not be loaded."""
        self._not_loaded[path] = sentence
        self.show_downloads(self._downloads)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Downloads"))
        self._list.set_empty_words(self.tr("Nothing is being downloaded."))
        self.show_downloads(self._downloads)

    def _render(self, card: DownloadCard, download: Download) -> None:
        state = download.state
        is_active = state in (DownloadState.WAITING, DownloadState.RUNNING, DownloadState.CHECKING)
        card.path = str(download.path) if download.path is not None else ""
        card.pause.setText(self.tr("Pause"))
        card.pause.setToolTip(self.tr("Stop for now; what is there stays"))
        card.resume.setText(self.tr("Try again") if state is DownloadState.FAILED else self.tr("Resume"))
        card.resume.setToolTip(self.tr("Go on where it stopped; what is there is checked and kept"))
        card.load.setText(self.tr("Load"))
        card.load.setToolTip(self.tr("Load it with settings that fit the free memory"))
        is_done = state is DownloadState.DONE
        tip = (
            self.tr("Take it off this list; the model stays")
            if is_done
            else self.tr("Give up, and delete what is there")
        )
        card.remove.setToolTip(tip)
        first = card.pause if is_active else card.load if is_done else card.resume
        card.offer([first, card.remove])
        card.set_facts(download_text.progress(download))
        card.set_progress(None if is_done else download.n_done / max(1, download.n_total))
        if is_done and card.path in self._not_loaded:
            card.set_fit(fit_text.of_problem(self._not_loaded[card.path]))
        else:
            card.set_fit(download_text.state(download))
