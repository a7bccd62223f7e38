"""All settings of a setup in groups: one field for each declaration, and a slider for the context window."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.look.retranslating import Retranslating
from app.settings.context_slider import ContextSlider
from app.settings.form import SettingField
from app.store.setup import Setup
from app.widgets.elided_label import ElidedLabel
from engine.api.declarations import Applies, Declaration, declarations
from engine.api.settings import LoadSettings, PolicySettings

GROUPS = ("cache", "policy", "model")
GPU_SETTINGS = ("n_gpu_layers", "offload_kqv", "main_gpu", "split_mode", "tensor_split")
SEVERAL_GPUS = ("main_gpu", "split_mode", "tensor_split")
TYPES = ("type_k", "type_v")


class _Group(QWidget):
    """A heading, when its settings take effect, and its fields."""

    def __init__(self, name: str, applies: Applies) -> None:
        super().__init__()
        self.name = name
        self.applies = applies
        self.heading = QLabel()
        self.heading.setProperty("level", "heading")
        self.when = ElidedLabel()
        self.when.setProperty("level", "micro")
        self.when.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout()
        row.addWidget(self.heading)
        row.addWidget(self.when, 1)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(8)
        self.column.addLayout(row)


class SetupForm(Retranslating, QWidget):
    """``edited`` carries the Setup that the fields say, whenever a person changed one."""

    edited = Signal(object)

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self._setup = setup
        self._fields: dict[str, SettingField] = {}
        self._groups: list[_Group] = []
        self._types_match = False
        self._n_gpus = 0
        self.slider = ContextSlider()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(20)
        found = [*declarations(LoadSettings), *declarations(PolicySettings)]
        for name in GROUPS:
            column.addWidget(self._make_group(name, [one for one in found if one.group == name]))
        self._fields["policy"].fill_row()
        self.slider.moved_to.connect(self._fields["n_ctx"].take)
        self.retranslate()
        self.show_setup(setup)

    def _make_group(self, name: str, found: list[Declaration]) -> QWidget:
        group = _Group(name, found[0].applies)
        self._groups.append(group)
        for declaration in found:
            field = self._fields[declaration.name] = SettingField(declaration)
            field.edited.connect(lambda name=declaration.name: self._on_edited(name))
            group.column.addWidget(field)
            if declaration.name == "n_ctx":
                group.column.addWidget(self.slider)
        return group

    @property
    def setup(self) -> Setup:
        """What the fields say."""
        return self._setup

    def show_setup(self, setup: Setup) -> None:
        """Show another setup."""
        self._setup = setup
        for settings in (setup.load, setup.policy):
            for declaration in declarations(type(settings)):
                self._fields[declaration.name].set_value(declaration.check(getattr(settings, declaration.name)))
        self._show_slider()

    def show_defaults(self, setup: Setup) -> None:
        """Show the default of each setting in its tooltip."""
        for settings in (setup.load, setup.policy):
            for declaration in declarations(type(settings)):
                self._fields[declaration.name].set_default(getattr(settings, declaration.name))

    def change(self, setup: Setup) -> None:
        """Change to another setup as if a person had."""
        self.show_setup(setup)
        self.edited.emit(setup)

    def field(self, name: str) -> SettingField:
        """The field of a setting."""
        return self._fields[name]

    def set_most_tokens(self, n_tokens: int) -> None:
        """The right end of the slider: the length a model was trained on."""
        self.slider.set_most(n_tokens)
        self._show_slider()

    def set_gpus(self, n_gpus: int) -> None:
        """Settings of GPUs can't be changed where there are none."""
        self._n_gpus = n_gpus
        self._lock_gpu_settings()

    def set_refusals(self, reasons: Mapping[str, Mapping[str, str]], *, types_match: bool) -> None:
        """By setting and value: why it is impossible. With ``types_match`` K and V always change together."""
        self._types_match = types_match
        for name, field in self._fields.items():
            field.set_refusals(reasons.get(name, {}))

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        titles = {
            "cache": self.tr("Cache"),
            "policy": self.tr("When the cache is full"),
            "model": self.tr("Model"),
        }
        for group in self._groups:
            group.heading.setText(titles[group.name])
            is_live = group.applies is Applies.LIVE
            group.when.set_line(self.tr("from the next message") if is_live else self.tr("needs a reload"))
        self.slider.setAccessibleName(self.tr("Context window"))
        self.slider.setToolTip(self.tr("Slide to see what each context window costs; nothing changes until you apply"))
        self._lock_gpu_settings()

    def _lock_gpu_settings(self) -> None:
        for name in GPU_SETTINGS:
            if self._n_gpus == 0:
                reason = self.tr("llama.cpp sees no GPU here.")
            elif self._n_gpus == 1 and name in SEVERAL_GPUS:
                reason = self.tr("There is only one GPU.")
            else:
                reason = ""
            self._fields[name].lock(reason)

    def _show_slider(self) -> None:
        self.slider.show_tokens(self._setup.load.n_ctx or self.slider.tokens(self.slider.maximum()))

    def _on_edited(self, name: str) -> None:
        value = self._fields[name].value
        setup = self._setup.changed(name, value)
        if name in TYPES and self._types_match:
            other = TYPES[1 - TYPES.index(name)]
            setup = setup.changed(other, value)
            self._fields[other].set_value(value)
        self._setup = setup
        if name == "n_ctx":
            self._show_slider()
        self.edited.emit(setup)
