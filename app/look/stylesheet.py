"""The style sheet of the application, made from the tokens."""

from __future__ import annotations

from dataclasses import asdict
from string import Template

from app.look.colours import Sizes, Tokens
from app.look.resources import resource_dir

# Variants are chosen by a property set in code: kind="primary", "quiet" or "danger" for buttons; level="title",
# "heading", "meta", "micro" or "number" for labels; surface="side" or "ground" or "card" for containers.
_SHEET = Template("""
QWidget { color: $text; font-size: ${ui}px; }
QMainWindow, QDialog { background: $ground; }
QWidget[surface="side"] { background: $side; }
QWidget[surface="ground"] { background: $ground; }
QFrame[surface="card"] { background: $card; border: 1px solid $line; border-radius: ${radius_card}px; }
QFrame#modelCard:focus { border-color: $accent; }
QLabel { background: transparent; }
QLabel[level="title"] { font-size: ${title}px; font-weight: 600; }
QLabel[level="heading"] { font-size: ${ui}px; font-weight: 600; }
QLabel[level="meta"] { font-size: ${meta}px; color: $text_2; }
QLabel[level="micro"] { font-size: ${micro}px; color: $text_3; }
QLabel[level="number"] { font-size: ${number}px; font-weight: 600; }
QToolTip { background: $tip; color: $tip_text; border: none; padding: 5px 8px; font-size: ${meta}px; }

QPushButton { background: $field; border: 1px solid $line_strong; border-radius: ${radius_control}px;
    padding: 6px 14px; min-height: ${control}px; font-weight: 500; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:disabled { color: $text_3; border-color: $line; background: $side; }
QPushButton:focus { border: 2px solid $accent; padding: 5px 13px; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[kind="primary"]:focus { border: 2px solid $text; }
QPushButton[kind="primary"]:disabled { background: $pressed; color: $text_3; border-color: $pressed; }
QPushButton[kind="danger"] { color: $danger; }
QPushButton[kind="quiet"] { background: transparent; border: 1px solid transparent; }
QPushButton[kind="quiet"]:hover { background: $hover; }
QPushButton[kind="quiet"]:focus { border: 2px solid $accent; }

QToolButton { background: transparent; border: 2px solid transparent; border-radius: ${radius_control}px;
    padding: 4px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $pressed; }
QToolButton:focus { border: 2px solid $accent; }
QToolButton::menu-indicator { image: none; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: $field; border: 1px solid $line_strong;
    border-radius: ${radius_control}px; padding: 5px 10px; min-height: ${control}px;
    selection-background-color: $selection; selection-color: $text; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus { border: 2px solid $accent; padding: 4px 9px; }
QLineEdit:disabled, QSpinBox:disabled, QComboBox:disabled { color: $text_3; background: $side; }
QComboBox::drop-down { border: none; width: 24px; }
QComboBox::down-arrow { image: url("$icon_dir/arrow-$scheme.svg"); width: 14px; height: 14px; }
QSpinBox, QDoubleSpinBox { qproperty-alignment: 'AlignRight | AlignVCenter'; padding-right: 28px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right;
    width: 22px; border: none; margin: 3px 3px 0 0; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border;
    subcontrol-position: bottom right; width: 22px; border: none; margin: 0 3px 3px 0; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDoubleSpinBox::up-button:hover,
QDoubleSpinBox::down-button:hover { background: $hover; border-radius: 4px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url("$icon_dir/arrow-up-$scheme.svg");
    width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url("$icon_dir/arrow-$scheme.svg");
    width: 10px; height: 10px; }
QCheckBox, QRadioButton { spacing: 8px; background: transparent; }
QCheckBox::indicator { width: 16px; height: 16px; border: 1px solid $text_3; border-radius: 4px; background: $field; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$icon_dir/check-$scheme.svg"); }
QCheckBox::indicator:disabled { border-color: $line_strong; }
QCheckBox:focus { color: $accent; }
QComboBox QAbstractItemView { background: $field; border: 1px solid $line; padding: 4px; outline: none;
    selection-background-color: $selected; selection-color: $text; }
QPlainTextEdit, QTextEdit { background: $field; border: 1px solid $line; border-radius: ${radius_control}px;
    selection-background-color: $selection; selection-color: $text; }

QMenu { background: $field; border: 1px solid $line; padding: 6px; }
QMenu::item { padding: 7px 26px 7px 12px; border-radius: 6px; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $text_3; }
QMenu::separator { height: 1px; background: $line; margin: 6px 8px; }

QAbstractItemView { outline: none; }
QListView, QTreeView { background: transparent; border: none; }
QListView::item { border-radius: ${radius_control}px; padding: 7px 8px; }
QListView::item:hover { background: $hover; }
QListView::item:selected { background: $selected; color: $text; }

QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $line_strong; border-radius: 3px; margin: 3px; }
QScrollBar::handle:vertical { min-height: 36px; }
QScrollBar::handle:horizontal { min-width: 36px; }
QScrollBar::handle:hover { background: $text_3; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }

QProgressBar { background: $line; border: none; border-radius: 3px; max-height: 6px; min-height: 6px;
    text-align: center; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSlider { background: transparent; min-height: 24px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $line_strong; }
QSlider::sub-page:horizontal { height: 4px; background: $accent; border-radius: 2px; }
QSlider::handle:horizontal { background: $ground; border: 2px solid $accent; width: 12px; height: 12px;
    margin: -6px 0; border-radius: 8px; }
QSlider::handle:horizontal:focus { background: $accent; }
QTabBar::tab { background: transparent; color: $text_2; padding: 8px 12px; border: none;
    border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabWidget::pane { border: none; border-top: 1px solid $line; }

#transcript { background: $ground; border: none; }
#composerCard { background: $field; border: 1px solid $line_strong; border-radius: ${radius_bubble}px; }
#composerCard[focused="true"] { border: 1px solid $accent; }
#composer { background: transparent; border: none; font-size: ${body}px; }
#composerRoom, #composerHint { color: $text_2; font-size: ${meta}px; }
#composerHint { font-size: ${micro}px; color: $text_3; }
#composerRoom[over="true"] { color: $danger; font-weight: 600; }
#sendButton, #stopButton { background: $accent; border-radius: 16px; border: 2px solid $accent; padding: 0; }
#sendButton:hover, #stopButton:hover { background: $accent_hover; border-color: $accent_hover; }
#sendButton:focus, #stopButton:focus { border: 2px solid $text; }
#sendButton:disabled { background: $pressed; border-color: $pressed; }
#jumpButton { background: $field; border: 1px solid $line_strong; border-radius: 17px; padding: 0; }
#jumpButton:hover { background: $hover; }
#jumpButton:focus { border: 2px solid $accent; }
""")


def stylesheet(tokens: Tokens, sizes: Sizes) -> str:
    """The QSS text for these tokens and sizes."""
    names = {**asdict(tokens), **asdict(sizes)}
    return _SHEET.substitute(
        names,
        control=sizes.ui + 5,
        tip=tokens.line_strong if tokens.dark else tokens.text,
        tip_text=tokens.text if tokens.dark else tokens.ground,
        icon_dir=(resource_dir() / "icons").as_posix(),
        scheme="dark" if tokens.dark else "light",
    )
