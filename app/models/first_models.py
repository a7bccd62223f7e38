"""Models to begin with, as cards of the welcome page: some that are here already, or some to download."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.look.theme import Theme
from app.models.first_cards import FirstCard, FoundCard, SuggestedCard
from engine.api.sentences import Sentence
from engine.models.hub.downloads import Download
from engine.models.hub.suggestions import Suggested, Suggestion

if TYPE_CHECKING:
    # The main window is to be there first.
    from engine.models.library import LibraryModel

MOST = 3


class Offer(Enum):
    """What the page offers."""

    NOTHING = "nothing"
    FOUND = "found"
    SUGGESTED = "suggested"
    NO_CONNECTION = "no connection"


class FirstModels(QWidget):
    """``download_wanted`` carries a Suggestion, ``pause_wanted`` and ``resume_wanted`` the key of a download,
    ``open_wanted`` the path of a model; ``offer_changed`` nothing, also when a card has become higher."""

    download_wanted = Signal(object)
    pause_wanted = Signal(str)
    resume_wanted = Signal(str)
    open_wanted = Signal(str)
    offer_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.offer = Offer.NOTHING
        self.cards: list[FirstCard] = []
        self._offered: tuple[LibraryModel, ...] | tuple[Suggested, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        theme.changed.connect(self._restyle)

    def offer_nothing(self) -> None:
        """There is a model to talk to."""
        self._set(Offer.NOTHING, ())

    def offer_without_connection(self) -> None:
        """Nothing can be downloaded now."""
        self._set(Offer.NO_CONNECTION, ())

    def offer_found(self, models: tuple[LibraryModel, ...]) -> None:
        """Some that are here already."""
        self._set(Offer.FOUND, models[:MOST])

    def offer_suggested(self, suggested: tuple[Suggested, ...], free_gpu: int, free_ram: int) -> None:
        """Some to download, for the bytes that are free on the GPUs together and in the RAM."""
        self._set(Offer.SUGGESTED, suggested[:MOST])
        for card in self._suggested_cards():
            card.set_free(free_gpu, free_ram)

    def show_asking(self, suggestion: Suggestion) -> None:
        """The hub is asked where the file of a suggestion lies."""
        for card in self._suggested_cards():
            if card.model == suggestion:
                card.set_asking()

    def show_problem(self, repo: str, sentence: Sentence) -> None:
        """Why a download did not begin."""
        for card in self._suggested_cards():
            if card.model.repo == repo:
                card.set_problem(sentence)
        self.offer_changed.emit()

    def show_downloads(self, downloads: dict[str, Download]) -> None:
        """The downloads of suggestions, by their repositories."""
        before = [card.fit.isHidden() for card in self.cards]
        for card in self._suggested_cards():
            card.set_download(downloads.get(card.model.repo))
        if before != [card.fit.isHidden() for card in self.cards]:
            self.offer_changed.emit()

    @property
    def has_downloads(self) -> bool:
        """Whether a card shows a download."""
        return any(card.is_download for card in self._suggested_cards())

    def shows(self, key: str) -> bool:
        """Whether the progress of a download is visible here."""
        return any(card.isVisible() and card.has_download(key) for card in self._suggested_cards())

    def _suggested_cards(self) -> list[SuggestedCard]:
        return [card for card in self.cards if isinstance(card, SuggestedCard)]

    def _set(self, offer: Offer, offered: tuple[LibraryModel, ...] | tuple[Suggested, ...]) -> None:
        if (offer, offered) == (self.offer, self._offered):
            return
        self.offer, self._offered = offer, offered
        for old in self.cards:
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        self.cards = []
        for one in offered:
            card = self._card(one)
            self._column.addWidget(card)
            self.cards.append(card)
        self.offer_changed.emit()

    def _card(self, one: LibraryModel | Suggested) -> FirstCard:
        is_first = not self.cards
        if not isinstance(one, Suggested):
            return FoundCard(self._theme, one, self.open_wanted.emit, is_first=is_first)
        card = SuggestedCard(self._theme, one, is_first=is_first)
        card.download_wanted.connect(self.download_wanted)
        card.pause_wanted.connect(self.pause_wanted)
        card.resume_wanted.connect(self.resume_wanted)
        card.open_wanted.connect(self.open_wanted)
        return card

    def _restyle(self) -> None:
        for card in self.cards:
            card.restyle()
