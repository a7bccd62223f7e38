"""Finding a model on the hub: words or an address on top, repositories on the left, their files with the fit beside."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models import fit_text
from app.models.fit_text import FitText
from app.models.model_card import CARDS_AT_ONCE, CardList, ModelCard
from app.widgets.elided_label import ElidedLabel
from engine.models.hub.remote import RemoteModel, Repo, SearchResult
from engine.models.hub.suggestions import Suggested

JUDGED_AT_ONCE = 3
"""Headers have megabytes: only those of the likeliest files are read unasked."""
USUAL = "Q4_K_M"


class FileCard(ModelCard):
    """One file of a repository, or all shards of a model."""

    def __init__(self, theme: Theme, page: FindPage, model: RemoteModel) -> None:
        super().__init__(theme, model.name)
        self.model = model
        self.judge = self.add_button("judgeModel", lambda: page.judge(model), "quiet")
        self.download = self.add_button("downloadModel", lambda: page.download_wanted.emit(model), "primary")


class FindPage(Retranslating, QWidget):
    """``asked`` carries what was typed, ``repo_wanted`` a repository's name, ``judge_wanted`` and ``download_wanted`` a
    RemoteModel; ``token_wanted`` nothing."""

    asked = Signal(str)
    repo_wanted = Signal(str)
    judge_wanted = Signal(object)
    download_wanted = Signal(object)
    token_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findPage")
        self._theme = theme
        self._suggestions: tuple[Suggested, ...] = ()
        self._found: tuple[SearchResult, ...] | None = None
        self._repo: Repo | None = None
        self._fits: dict[str, FitText] = {}
        self._not_judged: set[str] = set()
        self._n_shown = CARDS_AT_ONCE
        self._queued: frozenset[str] = frozenset()
        self._cards: dict[str, FileCard] = {}
        self.field = QLineEdit()
        self.field.setObjectName("modelSearch")
        self.field.setClearButtonEnabled(True)
        self.setFocusProxy(self.field)
        self.field.returnPressed.connect(self._ask)
        self._go = QPushButton()
        self._go.setObjectName("searchModels")
        self._go.setIcon(theme.icon("search"))
        self._go.clicked.connect(self._ask)
        self._token = QPushButton()
        self._token.setObjectName("accessToken")
        self._token.setIcon(theme.icon("lock"))
        self._token.clicked.connect(self.token_wanted)
        self._message = QLabel()
        self._message.setObjectName("findMessage")
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setWordWrap(True)
        self._message.hide()
        self._message_color = "text_2"
        self._repos = QListWidget()
        self._repos.setObjectName("foundRepos")
        self._repos.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._repos.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._repos.itemActivated.connect(self._on_chosen)
        self._repos.itemClicked.connect(self._on_chosen)
        self._heading = ElidedLabel()
        self._heading.setProperty("level", "heading")
        self._list = CardList()
        self._list.more_wanted.connect(self._show_more)
        self._lay_out()
        theme.changed.connect(self._restyle)
        self.retranslate()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.field, 1)
        row.addWidget(self._go)
        row.addWidget(self._token)
        right = QWidget()
        files = QVBoxLayout(right)
        files.setContentsMargins(12, 0, 0, 0)
        files.setSpacing(10)
        files.addWidget(self._heading)
        files.addWidget(self._list, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self._repos)
        split.addWidget(right)
        split.setSizes([300, 480])
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 12, 16)
        column.setSpacing(12)
        column.addLayout(row)
        column.addWidget(self._message)
        column.addWidget(split, 1)

    @property
    def cards(self) -> list[ModelCard]:
        """The files that are shown."""
        return self._list.cards

    def suggest(self, suggestions: tuple[Suggested, ...]) -> None:
        """What to show before anything was searched."""
        self._suggestions = suggestions
        if self._found is None:
            self._fill_repos()

    def show_found(self, found: tuple[SearchResult, ...]) -> None:
        """The answers of a search."""
        self._found = found
        self._say("" if found else self.tr("Nothing found: try fewer words, or paste owner/name."), "text_2")
        self._fill_repos()

    def show_repo(self, repo: Repo) -> None:
        """The files of a repository; the likeliest ones are judged at once.

        What was judged before is judged anew: there may be other memory now, or a token.
        """
        self._repo = repo
        self._fits.clear()
        self._not_judged.clear()
        self._say("", "text_2")
        usual = next((i for i, model in enumerate(repo.models) if model.quantization == USUAL), 0)
        first = max(0, min(usual - 1, len(repo.models) - JUDGED_AT_ONCE))
        self._n_shown = max(CARDS_AT_ONCE, first + JUDGED_AT_ONCE)
        self._fill_files()
        for model in repo.models[first : first + JUDGED_AT_ONCE]:
            self.judge(model)

    def show_fit(self, key: str, fit: FitText) -> None:
        """Whether a file fits."""
        self._fits[key] = fit
        self._not_judged.discard(key)
        if key in self._cards:
            self._render(self._cards[key])

    def show_not_judged(self, key: str, fit: FitText) -> None:
        """Why it could not be told whether a file fits; it can be tried again."""
        self._fits[key] = fit
        self._not_judged.add(key)
        if key in self._cards:
            self._render(self._cards[key])

    def show_problem(self, sentence: str) -> None:
        """Why there is no answer."""
        self._say(sentence, "danger")

    def show_waiting(self) -> None:
        """An answer is on its way."""
        self._say(self.tr("Asking…"), "text_3")

    def set_queued(self, keys: frozenset[str]) -> None:
        """Models that are downloads already."""
        if keys != self._queued:
            self._queued = keys
            for card in self._cards.values():
                self._render(card)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("Find"))
        self.field.setPlaceholderText(self.tr("Search, or paste owner/name or the address of a model"))
        self.field.setAccessibleName(self.tr("Search for models"))
        self.field.setToolTip(self.tr("Asks the model hub; only these words leave this computer"))
        self._go.setText(self.tr("Search"))
        self._go.setToolTip(self.tr("Ask the model hub for GGUF models"))
        self._token.setText(self.tr("Access token…"))
        self._token.setToolTip(self.tr("For gated and private models; kept in the system's keyring"))
        self._repos.setAccessibleName(self.tr("Repositories"))
        self._list.set_empty_words(self.tr("Choose a repository to see its files, and whether they fit this computer."))
        self._fill_repos()
        self._fill_files()

    def _say(self, sentence: str, color: str) -> None:
        self._message_color = color
        self._message.setText(sentence)
        self._message.setVisible(bool(sentence))
        self._message.setStyleSheet(f"color: {getattr(self._theme.tokens, color)}")

    def _ask(self) -> None:
        text = self.field.text().strip()
        if text:
            self.show_waiting()
            self.asked.emit(text)

    def _on_chosen(self, item: QListWidgetItem) -> None:
        self.show_waiting()
        self.repo_wanted.emit(item.data(Qt.ItemDataRole.UserRole))

    def _fill_repos(self) -> None:
        self._repos.clear()
        if self._found is None:
            for model in (one.model for one in self._suggestions):
                size = language.bytes_text(model.size_bytes)
                self._add_repo(model.repo, model.name, self.tr("Suggested for this computer · {0}").format(size))
            return
        for found in self._found:
            parts = [
                self.tr("{0} downloads").format(language.number(found.n_downloads)),
                found.licence,
                self.tr("gated") if found.is_gated else "",
            ]
            self._add_repo(found.repo, found.repo, " · ".join(part for part in parts if part))

    def _add_repo(self, repo: str, title: str, facts: str) -> None:
        item = QListWidgetItem(f"{title}\n{facts}")
        item.setData(Qt.ItemDataRole.UserRole, repo)
        item.setToolTip(repo)
        self._repos.addItem(item)

    def _fill_files(self) -> None:
        repo = self._repo
        if repo is None:
            self._heading.hide()
            return
        parts = [repo.name, repo.licence, self.tr("gated") if repo.is_gated else ""]
        self._heading.set_line(" · ".join(part for part in parts if part))
        self._heading.show()
        if not repo.models:
            self._list.set_empty_words(self.tr("There is no GGUF model in it: look for one whose name ends in GGUF."))
        self._cards = {model.key: self._card(model) for model in repo.models[: self._n_shown]}
        for card in self._cards.values():
            self._render(card)
        self._list.set_cards(list(self._cards.values()), max(0, len(repo.models) - self._n_shown))

    def _show_more(self) -> None:
        self._n_shown += CARDS_AT_ONCE
        self._fill_files()

    def _card(self, model: RemoteModel) -> FileCard:
        known = self._cards.get(model.key)
        return known if known is not None and known.model == model else FileCard(self._theme, self, model)

    def _render(self, card: FileCard) -> None:
        model = card.model
        parts = [model.quantization, language.bytes_text(model.size_bytes)]
        if len(model.files) > 1:
            parts.append(self.tr("{0} files").format(len(model.files)))
        card.set_facts(" · ".join(part for part in parts if part))
        judge, download = card.judge, card.download
        judge.setText(self.tr("Does it fit?"))
        judge.setToolTip(self.tr("Read the header of the file, a few megabytes, and plan what it would take"))
        is_queued = model.key in self._queued
        download.setText(self.tr("Added") if is_queued else self.tr("Download"))
        download.setToolTip(self.tr("Download {0}").format(language.bytes_text(model.size_bytes)))
        fit = self._fits.get(model.key)
        card.set_fit(fit if fit is not None else FitText("", "text_3"))
        can_judge = model.key not in self._fits or model.key in self._not_judged
        usable = [judge] if can_judge else []
        card.offer(*(usable, [download]) if is_queued else ([*usable, download],))

    def judge(self, model: RemoteModel) -> None:
        """Have it looked at whether a file fits, once."""
        if model.key not in self._fits or model.key in self._not_judged:
            self.show_fit(model.key, fit_text.waiting())
            self.judge_wanted.emit(model)

    def _restyle(self) -> None:
        self._list.restyle()
        self._say(self._message.text(), self._message_color)
