"""A form made from the declarations of a settings class: one field for each setting, with its words and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, Qt, Signal
from PySide6.QtGui import QResizeEvent, QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.look.retranslating import Retranslating
from app.widgets.elided_label import ElidedLabel
from engine.api.declarations import Declaration, declarations
from engine.api.errors import EngineError

SPACING = 12
CONTROL_WIDTH = 132
CONTEXT = "Settings"
"""The translation context of labels, help and words of the declarations."""


def words(text: str) -> str:
    """A word of a declaration in the language in force."""
    return QCoreApplication.translate(CONTEXT, text) if text else ""


class ChoiceBox(QComboBox):
    """A wheel that scrolls the panel changes nothing on its way."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class SettingField(Retranslating, QWidget):
    """One setting: its label and the control that fits its type; ``edited`` is emitted when a person changes it.

    What can't be a value stays in the field as it was typed, marked, with a sentence that says what would be right; the
    setting keeps the last good value.
    """

    edited = Signal()

    def __init__(self, declaration: Declaration, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declaration = declaration
        self._value: Any = declaration.default
        self._default: Any = declaration.default
        self._refusals: dict[str, str] = {}
        self._locked = ""
        self.setObjectName(f"setting_{declaration.name}")
        self._label = ElidedLabel()
        self._label.setProperty("level", "field")
        self._error = QLabel()
        self._error.setObjectName("settingError")
        self._error.setTextFormat(Qt.TextFormat.PlainText)
        self._error.setWordWrap(True)
        self._error.hide()
        self._control = self._make_control()
        self._control.setObjectName(f"{declaration.name}Input")
        self._label.setBuddy(self._control)
        grid = self._grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACING)
        grid.setVerticalSpacing(4)
        grid.addWidget(self._label, 0, 0)
        grid.addWidget(self._error, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        self._is_alone = False
        self._is_below: bool | None = None
        self._arrange()
        self.retranslate()
        self._show_value()

    @property
    def value(self) -> Any:
        """The last good value, in the declared type."""
        return self._value

    def set_value(self, value: Any) -> None:
        """Show a value that is known to be good."""
        self._value = value
        self._error.hide()
        self._show_value()

    def set_default(self, value: Any) -> None:
        """The default for this model."""
        if value != self._default:
            self._default = value
            self.retranslate()

    def take(self, value: Any) -> None:
        """Change to a good value as if a person had."""
        self._error.hide()
        self._take(value)

    def set_refusals(self, reasons: Mapping[str, str]) -> None:
        """Grey out choices, each with the reason; one that is chosen all the same shows it."""
        if reasons != self._refusals:
            self._refusals = dict(reasons)
            self._show_refusals()

    def fill_row(self) -> None:
        """Give the control the whole row, where what stands above says what it is."""
        self._is_alone = True
        self._label.hide()
        self._arrange()

    def _arrange(self) -> None:
        """The control beside the label, or below it where both don't fit."""
        is_box = isinstance(self._control, QCheckBox)
        is_narrow = self._label.sizeHint().width() + SPACING + CONTROL_WIDTH > self.width()
        is_below = self._is_alone or (is_narrow and not is_box)
        if is_below == self._is_below:
            return
        self._is_below = is_below
        if not is_box:
            self._control.setMinimumWidth(60 if is_below else CONTROL_WIDTH)
            self._control.setMaximumWidth(16_777_215 if is_below else CONTROL_WIDTH)
        self._grid.removeWidget(self._control)
        if is_below:
            self._grid.addWidget(self._control, 1, 0, 1, 2)
        else:
            self._grid.addWidget(self._control, 0, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside or below."""
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        """Words or their font changed: what fitted beside them may not any more."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def lock(self, reason: str) -> None:
        """Disable it with the reason in its tooltip; an empty reason enables it again."""
        self._locked = reason
        self._control.setEnabled(not reason)
        self._label.setEnabled(not reason)
        self.retranslate()

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        label = words(self.declaration.label)
        tip = self._tip()
        self._label.set_line(label, tip)
        for widget in (self, self._control):
            widget.setToolTip(tip)
        self._control.setAccessibleName(label)
        self._control.setAccessibleDescription(tip)
        if isinstance(self._control, QComboBox):
            self._fill_choices(self._control)
        if isinstance(self._control, QLineEdit):
            self._control.setPlaceholderText(words(self.declaration.none_label))
        self._show_value()

    def _tip(self) -> str:
        declaration = self.declaration
        lines = [*filter(None, [self._locked]), words(declaration.help)]
        low, high = declaration.minimum, declaration.maximum
        if low is not None and high is not None:
            bounds = self.tr("From {0} to {1}").format(_plain(low), _plain(high))
            lines.append(f"{bounds} {words(declaration.unit)}".strip())
        lines.append(self.tr("Default: {0}").format(self._text_of(self._default) or "–"))
        return "\n".join(lines)

    def _make_control(self) -> QWidget:
        declaration = self.declaration
        if declaration.kind is bool:
            box = QCheckBox()
            box.setProperty("bare", True)
            box.toggled.connect(self._on_toggled)
            return box
        if declaration.choices:
            combo = ChoiceBox()
            combo.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            combo.activated.connect(self._on_chosen)
            return combo
        line = QLineEdit()
        line.setMaxLength(200)
        line.setAlignment(Qt.AlignmentFlag.AlignRight)
        line.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        line.editingFinished.connect(self._on_typed)
        return line

    def _fill_choices(self, combo: QComboBox) -> None:
        combo.clear()
        if self.declaration.optional:
            combo.addItem(words(self.declaration.none_label), None)
        for choice in self.declaration.choices:
            combo.addItem(words(choice), choice)
        self._show_refusals()

    def _show_refusals(self) -> None:
        combo = self._control
        if not isinstance(combo, QComboBox):
            return
        model = combo.model()
        assert isinstance(model, QStandardItemModel)
        for row in range(combo.count()):
            reason = self._refusals.get(combo.itemData(row) or "", "")
            model.item(row).setEnabled(not reason)
            model.item(row).setToolTip(reason)
        chosen = self._refusals.get("" if self._value is None else str(self._value), "")
        self._error.setText(chosen)
        self._error.setVisible(bool(chosen))

    def _text_of(self, value: Any) -> str:
        if value is None:
            return words(self.declaration.none_label)
        if self.declaration.kind is bool:
            return self.tr("on") if value else self.tr("off")
        if isinstance(value, tuple):
            return ",".join(_plain(part) for part in value)
        return _plain(value) if isinstance(value, int | float) else words(str(value))

    def _show_value(self) -> None:
        control, value = self._control, self._value
        if isinstance(control, QCheckBox):
            control.blockSignals(True)
            control.setChecked(bool(value))
            control.blockSignals(False)
        elif isinstance(control, QComboBox):
            control.setCurrentIndex(control.findData(None if value is None else str(value)))
            self._show_refusals()
        elif isinstance(control, QLineEdit) and self._error.isHidden():
            control.setText("" if value is None else self._text_of(value))

    def _on_toggled(self, is_on: bool) -> None:
        self._take(is_on)

    def _on_chosen(self, index: int) -> None:
        control = self._control
        assert isinstance(control, QComboBox)
        data = control.itemData(index)
        self._take(self.declaration.check(data))

    def _on_typed(self) -> None:
        control = self._control
        assert isinstance(control, QLineEdit)
        text = control.text()
        if text.strip() == words(self.declaration.none_label):
            text = "" if self.declaration.optional else text
        text = next((word for word in self.declaration.words if text.strip() == words(word)), text)
        if self.declaration.kind is int:
            text = _ungrouped(text)
        try:
            value = self.declaration.parse(text)
        except EngineError:
            self._error.setText(self._refusal())
            self._error.show()
            return
        self._error.hide()
        self._take(value)

    def _refusal(self) -> str:
        low, high = self.declaration.minimum, self.declaration.maximum
        if low is None or high is None:
            return self.tr("This can't be used here: {0}").format(words(self.declaration.help))
        if self.declaration.kind is int:
            return self.tr("A whole number from {0} to {1}, please.").format(_plain(low), _plain(high))
        return self.tr("A number from {0} to {1}, please.").format(_plain(low), _plain(high))

    def _take(self, value: Any) -> None:
        changed = value != self._value
        self._value = value
        self._show_value()
        if changed:
            self.edited.emit()


class SettingsForm(QWidget):
    """All settings of one settings class; ``edited`` carries the new settings object."""

    edited = Signal(object)

    def __init__(self, settings: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._class = type(settings)
        self._fields = [SettingField(declaration, self) for declaration in declarations(self._class)]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for setting in self._fields:
            column.addWidget(setting)
            setting.edited.connect(self._on_edited)
        self.set_settings(settings)

    @property
    def settings(self) -> Any:
        """What the fields say, as an object of the settings class."""
        return self._class(**{setting.declaration.name: setting.value for setting in self._fields})

    def set_settings(self, settings: Any) -> None:
        """Show these settings."""
        for setting in self._fields:
            setting.set_value(setting.declaration.check(getattr(settings, setting.declaration.name)))

    def field(self, name: str) -> SettingField:
        """The field of a setting, by the setting's name."""
        return next(setting for setting in self._fields if setting.declaration.name == name)

    def _on_edited(self) -> None:
        self.edited.emit(self.settings)


def _ungrouped(text: str) -> str:
    """A whole number without the separators with which Kvasir shows it elsewhere: "4,096"; other texts as they are."""
    mark = QLocale().groupSeparator()
    groups = text.strip().split(mark)
    is_number = all(group.isdecimal() for group in groups) and all(len(group) == 3 for group in groups[1:])
    return "".join(groups) if mark and is_number and len(groups[0]) <= 3 else text


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"
