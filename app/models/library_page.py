"""The models on this machine: what they are, whether they fit, and a button that loads them so that they do."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QPushButton, QVBoxLayout, QWidget

from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models import fit_text
from app.models.fit_text import FitText
from app.models.model_card import CARDS_AT_ONCE, CardList, ModelCard
from engine.models.gguf import Attention
from engine.models.library import LibraryModel, Listing
from engine.models.stores import Source


class LibraryCard(ModelCard):
    """One model of this machine; what is broken has no button."""

    def __init__(self, theme: Theme, page: LibraryPage, model: LibraryModel) -> None:
        super().__init__(theme, model.name)
        self.model = model
        self.title.set_line(model.name, str(model.path))
        self.load: QPushButton | None = None
        if model.problem is None:
            self.load = self.add_button("loadModel", lambda: page.load_wanted.emit(str(model.path)), "primary")


class LibraryPage(Retranslating, QWidget):
    """``load_wanted`` carries a path, ``remove_folder_wanted`` that of an added folder; the others nothing."""

    load_wanted = Signal(str)
    add_folder_wanted = Signal()
    remove_folder_wanted = Signal(str)
    open_folder_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("libraryPage")
        self._theme = theme
        self._models: tuple[LibraryModel, ...] = ()
        self._fits: dict[str, FitText] = {}
        self._loaded: str | None = None
        self._loading: str | None = None
        self._cards: dict[Path, LibraryCard] = {}
        self._n_shown = CARDS_AT_ONCE
        self._folders: tuple[str, ...] = ()
        self._filter = QLineEdit()
        self._filter.setObjectName("libraryFilter")
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(self._on_filter)
        self._add = QPushButton()
        self._add.setObjectName("addFolder")
        self._add.setIcon(theme.icon("plus"))
        self._add.clicked.connect(self.add_folder_wanted)
        self._open = QPushButton()
        self._open.setObjectName("openModelsFolder")
        self._open.setIcon(theme.icon("folder"))
        self._open.clicked.connect(self.open_folder_wanted)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._filter, 1)
        row.addWidget(self._add)
        row.addWidget(self._open)
        self.setFocusProxy(self._filter)
        self._list = CardList()
        self._list.more_wanted.connect(self._show_more)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 12, 16)
        column.setSpacing(12)
        column.addLayout(row)
        column.addWidget(self._list, 1)
        theme.changed.connect(self._list.restyle)
        self.retranslate()

    @property
    def cards(self) -> list[ModelCard]:
        """The models that are shown."""
        return self._list.cards

    def show_listing(self, listing: Listing) -> None:
        """The models of a look."""
        before = {model.path: model for model in self._models}
        for model in listing.models:
            if before.get(model.path) != model:
                # Another file under an old name.
                self._fits.pop(str(model.path), None)
        self._models = listing.models
        self._fill()

    def show_fit(self, path: str, fit: FitText) -> None:
        """Whether the model of a file fits."""
        self._fits[path] = fit
        card = self._cards.get(Path(path))
        if card is not None and card.model.problem is None:
            card.set_fit(fit)

    def set_loaded(self, path: str | None, loading: str | None = None) -> None:
        """Mark the model that is loaded, and the one that is on its way."""
        if (path, loading) != (self._loaded, self._loading):
            self._loaded, self._loading = path, loading
            for card in self._cards.values():
                self._render(card)

    def set_folders(self, folders: tuple[str, ...]) -> None:
        """The folders that were added: each can be taken off again."""
        self._folders = folders
        if (old := self._add.menu()) is not None:
            old.deleteLater()
        if not folders:
            self._add.setMenu(None)  # type: ignore[arg-type]  # Qt takes None for no menu; its stubs don't know.
            return
        menu = QMenu(self)
        menu.addAction(self.tr("Add a folder…"), self.add_folder_wanted.emit)
        menu.addSeparator()
        for folder in folders:
            action = menu.addAction(self.tr("Leave out {0}").format(folder))
            action.triggered.connect(lambda _checked=False, folder=folder: self.remove_folder_wanted.emit(folder))
        self._add.setMenu(menu)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setWindowTitle(self.tr("On this computer"))
        self._filter.setPlaceholderText(self.tr("Filter"))
        self._filter.setAccessibleName(self.tr("Filter"))
        self._filter.setToolTip(self.tr("Show only models whose name has these words"))
        self._add.setText(self.tr("Add a folder…"))
        self._add.setToolTip(self.tr("List the models of another folder too; nothing in it is changed"))
        self._open.setText(self.tr("Kvasir's folder"))
        self._open.setToolTip(self.tr("Open the folder that downloads go to"))
        self._list.set_empty_words(
            self.tr(
                "There are no models here yet. Download one under “Find”, put a GGUF file into Kvasir's folder, or add "
                "a folder that has some. LM Studio's, Ollama's and the Hugging Face cache's are listed by themselves."
            )
        )
        self.set_folders(self._folders)
        self._fill()

    def _shown(self) -> list[LibraryModel]:
        words = self._filter.text().casefold().split()
        return [
            model
            for model in self._models
            if all(word in f"{model.name} {model.path.name}".casefold() for word in words)
        ]

    def _on_filter(self) -> None:
        self._n_shown = CARDS_AT_ONCE
        self._fill()

    def _show_more(self) -> None:
        self._n_shown += CARDS_AT_ONCE
        self._fill()

    def _fill(self) -> None:
        found = self._shown()
        self._cards = {model.path: self._card(model) for model in found[: self._n_shown]}
        for card in self._cards.values():
            self._render(card)
        self._list.set_cards(list(self._cards.values()), max(0, len(found) - self._n_shown))

    def _card(self, model: LibraryModel) -> LibraryCard:
        known = self._cards.get(model.path)
        return known if known is not None and known.model == model else LibraryCard(self._theme, self, model)

    def _render(self, card: LibraryCard) -> None:
        model, path = card.model, str(card.model.path)
        card.set_facts(*self._facts(model))
        if card.load is None:
            if model.problem is not None:
                card.set_fit(fit_text.of_problem(model.problem.sentence))
            return
        card.set_fit(self._fits.get(path, fit_text.waiting()))
        words = {self._loaded: self.tr("Loaded"), self._loading: self.tr("Loading…")}
        card.load.setText(words.get(path, self.tr("Load")))
        card.load.setToolTip(self.tr("Load it as the line says; the chat stays, the model before it is given up first"))
        card.offer(*([], [card.load]) if path in words else ([card.load],))

    def _facts(self, model: LibraryModel) -> list[str]:
        where = self._source(model.source)
        info = model.info
        if info is None:
            return [f"{where} · {model.path.parent}"]
        if info.n_params < 1e9:
            parameters = self.tr("{0} M parameters").format(language.number(round(info.n_params / 1e6)))
        else:
            parameters = self.tr("{0} B parameters").format(language.number(info.n_params / 1e9, 1))
        trained = self.tr("trained for {0} tokens").format(language.number(info.n_ctx_train))
        if info.attention is Attention.NONE:
            kv = self.tr("recurrent: no KV")
        elif model.late_kv_bytes_per_1000 < model.kv_bytes_per_1000:
            kv = self.tr("{0}: {1} of KV per 1,000 tokens, {2} beyond the window of {3}").format(
                info.attention.value.upper(),
                language.bytes_text(model.kv_bytes_per_1000),
                language.bytes_text(model.late_kv_bytes_per_1000),
                language.number(info.n_swa),
            )
        else:
            kv = self.tr("{0}: {1} of KV per 1,000 tokens").format(
                info.attention.value.upper(), language.bytes_text(model.kv_bytes_per_1000)
            )
        licence = info.licence or self.tr("no licence named")
        # Ollama names its files by their content only.
        file = [] if model.source is Source.OLLAMA else [_file_words(model.path, len(info.files))]
        return [
            " · ".join([info.quantization, language.bytes_text(info.size_bytes), parameters, trained]),
            " · ".join([kv, licence, where, *file]),
        ]

    def _source(self, source: Source) -> str:
        return {
            Source.KVASIR: self.tr("Kvasir"),
            Source.FOLDER: self.tr("added folder"),
            Source.HUGGING_FACE: "Hugging Face",
            Source.LM_STUDIO: "LM Studio",
            Source.OLLAMA: "Ollama",
            Source.STARTER: self.tr("comes with Kvasir"),
        }[source]


def _file_words(path: Path, n_files: int) -> str:
    return path.name if n_files == 1 else f"{path.name} (× {n_files})"
