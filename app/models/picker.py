"""The model picker: the starter, recent files, a file of one's own, and how loading goes."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.commands.actions import Actions
from app.link.status import EngineStatus
from app.look import language
from app.look.plain_tip import plain_tip
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models.file_names import name_of_file
from app.store.preferences import RecentModel
from app.widgets.elided_label import ElidedLabel
from app.widgets.popup import Popup

WIDTH = 400
LIST_HEIGHT = 360


class ModelRow(QPushButton):
    """One file: its name, what it is, and in place what went wrong with it."""

    def __init__(self, model: RecentModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.setObjectName("modelRow")
        self.setProperty("kind", "row")
        self._title = ElidedLabel()
        self._title.set_line(model.name or name_of_file(model.path))
        self._title.setFont(theme.font(theme.sizes.ui, 600))
        self._facts = ElidedLabel()
        self._facts.setProperty("level", "meta")
        self._error = QLabel()
        self._error.setObjectName("settingError")
        self._error.setTextFormat(Qt.TextFormat.PlainText)
        self._error.setWordWrap(True)
        self._error.hide()
        self._mark = QLabel()
        self._mark.setPixmap(theme.icon("check", "accent").pixmap(16, 16))
        self._mark.hide()
        column = QVBoxLayout()
        column.setSpacing(1)
        for label in (self._title, self._facts, self._error):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(label)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(10, 7, 10, 7)
        row.addLayout(column, 1)
        row.addWidget(self._mark)
        parts = [
            model.quantization,
            language.bytes_text(model.size_bytes) if model.size_bytes else "",
            _place(model),
        ]
        self._facts.set_line(" · ".join(part for part in parts if part))
        self.setAccessibleName(f"{self._title.line}, {self._facts.line}")

    def set_current(self, is_current: bool) -> None:
        """Mark the model that is loaded."""
        self._mark.setVisible(is_current)

    def set_error(self, sentence: str) -> None:
        """Say what is wrong with this file."""
        self._error.setText(sentence)
        self._error.setVisible(bool(sentence))
        self.setAccessibleDescription(sentence)

    def sizeHint(self) -> QSize:
        """As much as the labels want; a button by itself would only count its own text."""
        return self._row.sizeHint()


def _place(model: RecentModel) -> str:
    """The file, or its folder where the title is the file's name already."""
    path = PurePath(model.path)
    if name_of_file(model.path) != path.stem:
        return "Ollama"
    return path.name if model.name else str(path.parent)


class ModelPicker(Retranslating, Popup):
    """``model_chosen`` carries a path; ``starter_chosen`` and ``cancelled`` nothing."""

    model_chosen = Signal(str)
    starter_chosen = Signal()
    cancelled = Signal()

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent, WIDTH)
        self.setObjectName("modelPickerPopup")
        self._theme = theme
        self._recent: tuple[RecentModel, ...] = ()
        self._starter_path: str | None = None
        self._status = EngineStatus()
        self._errors: dict[str, str] = {}
        self._rows: list[ModelRow] = []
        self._progress = self._make_progress()
        self._list = QVBoxLayout()
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(2)
        content = QWidget()
        content.setObjectName("modelList")
        content.setLayout(self._list)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(content)
        self._open = self._button("openModelButton", "folder", actions["open_model"])
        self._all = self._button("allModelsButton", "memory", actions["show_models"])
        self._find = self._button("findModelsButton", "download", actions["find_models"])
        more = QHBoxLayout()
        more.setSpacing(6)
        more.addWidget(self._all)
        more.addWidget(self._find)
        self._hint = QLabel()
        self._hint.setProperty("level", "micro")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        for widget in (self._progress, self._scroll, self._open):
            self.column.addWidget(widget)
        self.column.addLayout(more)
        self.column.addWidget(self._hint)
        theme.changed.connect(self._fill)
        self.retranslate()

    def _button(self, name: str, icon: str, action: QAction) -> QPushButton:
        button = QPushButton()
        button.setObjectName(name)
        button.setIcon(self._theme.icon(icon))
        button.clicked.connect(self.close)
        button.clicked.connect(action.trigger)
        return button

    def _make_progress(self) -> QWidget:
        frame = QWidget()
        self._loading = QLabel()
        self._loading.setTextFormat(Qt.TextFormat.PlainText)
        self._bar = QProgressBar()
        self._bar.setObjectName("loadBar")
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._cancel = QPushButton()
        self._cancel.setObjectName("cancelLoad")
        self._cancel.clicked.connect(self.cancelled)
        words = QVBoxLayout()
        words.setSpacing(6)
        words.addWidget(self._loading)
        words.addWidget(self._bar)
        row = QHBoxLayout(frame)
        row.setContentsMargins(10, 6, 4, 8)
        row.setSpacing(12)
        row.addLayout(words, 1)
        row.addWidget(self._cancel)
        return frame

    def set_recent(self, models: tuple[RecentModel, ...], starter_path: str | None) -> None:
        """What to offer; None: the starter is not installed."""
        self._recent, self._starter_path = models, starter_path
        self._fill()

    def set_error(self, path: str, sentence: str) -> None:
        """Remember what is wrong with a file, and show it at its place."""
        self._errors[path] = sentence
        self._fill()

    def set_status(self, status: EngineStatus) -> None:
        """Show how loading goes and which model is loaded."""
        was_loaded, self._status = self._status.facts, status
        if status.facts is not None:
            self._errors.pop(status.facts.path, None)
        if status.facts != was_loaded:
            self._fill()
        is_loading = status.can_cancel_load
        if is_loading != (not self._progress.isHidden()):
            self._progress.setVisible(is_loading)
            self._refit()
        self._bar.setValue(round(1000 * status.fraction))
        self._loading.setText(
            self.tr("Loading {0} · {1}").format(
                name_of_file(status.model_path or "")[:40], language.percent(status.fraction)
            )
        )

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        self.setAccessibleName(self.tr("Models"))
        self._open.setText(self.tr("Open a file…"))
        self._open.setToolTip(self.tr("Load a GGUF file; its weights and its KV cache take memory"))
        self._all.setText(self.tr("All models…"))
        self._all.setToolTip(self.tr("Show all models on this computer, and which fit"))
        self._find.setText(self.tr("Find…"))
        self._find.setToolTip(self.tr("Find models on the hub, and download those that fit"))
        self._cancel.setText(self.tr("Cancel"))
        self._cancel.setToolTip(self.tr("Give up loading; what was loaded of it is freed"))
        self._bar.setAccessibleName(self.tr("Loading"))
        self._hint.setText(self.tr("Or drop a .gguf file anywhere on the window"))
        self._fill()

    def open_below(self, anchor: QWidget) -> None:
        """Show it with the keyboard on the first model."""
        self.open_at(anchor)
        if self._rows:
            self._rows[0].setFocus(Qt.FocusReason.PopupFocusReason)

    def _fill(self) -> None:
        while (item := self._list.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._rows = []
        starter = self._starter_path
        if starter is not None:
            self._add_row(RecentModel(starter, self.tr("SmolLM2 135M, the starter")), is_starter=True)
        others = [model for model in self._recent if model.path != starter]
        if others:
            heading = QLabel(self.tr("Recent"))
            heading.setProperty("level", "micro")
            heading.setContentsMargins(10, 8, 0, 2)
            self._list.addWidget(heading)
        for model in others:
            self._add_row(model)
        known = {row.model.path for row in self._rows}
        for path in self._errors:
            if path not in known:
                self._add_row(RecentModel(path))
        self._list.addStretch()
        self._refit()

    def _add_row(self, model: RecentModel, *, is_starter: bool = False) -> None:
        row = ModelRow(model, self._theme)
        row.setToolTip(plain_tip(model.path))
        facts = self._status.facts
        row.set_current(facts is not None and facts.path == model.path)
        row.set_error(self._errors.get(model.path, ""))
        if is_starter:
            row.clicked.connect(lambda: self._choose(None))
        else:
            row.clicked.connect(lambda: self._choose(model.path))
        self._rows.append(row)
        self._list.addWidget(row)

    def _choose(self, path: str | None) -> None:
        self.close()
        if path is None:
            self.starter_chosen.emit()
        else:
            self._errors.pop(path, None)
            self.model_chosen.emit(path)

    def _refit(self) -> None:
        wanted = self._list.sizeHint().height() + 4
        self._scroll.setFixedHeight(min(LIST_HEIGHT, max(40, wanted)))
        if self.isVisible():
            self.fit(self.maximumHeight())
