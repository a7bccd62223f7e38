"""The style sheet of the window's own parts, in addition to the application's."""

from __future__ import annotations

from dataclasses import asdict
from string import Template

from app.look.colours import Sizes, Tokens

_SHEET = Template("""
QMainWindow::separator { background: $line; width: 1px; height: 1px; }
#topBar { background: $ground; border-bottom: 1px solid $line; }
#panelHeader { background: $side; border-bottom: 1px solid $line; }
#chatList { background: $side; border: none; }
#attachmentChip { background: $side; border: 1px solid $line; border-radius: ${radius_control}px; }
#chatTitle { padding: 2px 8px; }
#panelHeader[floating="true"] { border: 1px solid $line_strong; border-bottom-color: $line; }
#panelBody[floating="true"] { border: 1px solid $line_strong; border-top: none; }
#sidePanel QScrollArea, #sidePanel QStackedWidget { background: $side; }
#modelPicker { padding: 0; border-radius: ${radius_control}px; }
QPushButton[kind="pill"] { background: transparent; border: 1px solid $line; border-radius: ${pill}px;
    padding: 3px 12px 3px 26px; font-size: ${meta}px; font-weight: 500; color: $text_2; }
QPushButton[kind="pill"]:hover { background: $hover; }
QPushButton[kind="pill"]:focus { border: 2px solid $accent; padding: 2px 11px 2px 25px; }
QPushButton[kind="tab"] { background: transparent; border: 2px solid transparent; color: $text_2; padding: 4px 10px;
    border-radius: ${radius_control}px; font-weight: 500; }
QPushButton[kind="tab"]:hover { background: $hover; }
QPushButton[kind="tab"]:checked { color: $text; background: $selected; font-weight: 600; }
QPushButton[kind="tab"]:focus { border: 2px solid $accent; }
#modelPickerPopup QScrollArea, #modelList { background: transparent; }
QPushButton[kind="row"] { background: transparent; border: 2px solid transparent; border-radius: ${radius_control}px;
    text-align: left; padding: 0; }
QPushButton[kind="row"]:hover { background: $hover; }
QPushButton[kind="row"]:focus { border: 2px solid $accent; }
QPushButton[kind="suggestion"] { background: $ground; border: 1px solid $line; border-radius: ${radius_card}px;
    padding: 0; }
QPushButton[kind="suggestion"]:hover { background: $side; border-color: $line_strong; }
QPushButton[kind="suggestion"]:focus { border: 2px solid $accent; }
QPushButton[kind="swatch"] { border: 2px solid transparent; border-radius: ${radius_control}px; padding: 4px; }
QPushButton[kind="swatch"]:checked { border: 2px solid $text; }
QPushButton[kind="swatch"]:focus { border: 2px solid $accent; }
QLabel[level="row"] { color: $text_2; }
QLabel[level="field"] { color: $text; }
QLabel[level="tile"] { font-size: ${tile}px; font-weight: 600; }
QLabel[level="hero"] { font-size: ${hero}px; font-weight: 600; }
QPushButton[kind="link"] { background: transparent; border: 2px solid transparent; color: $accent; padding: 0;
    border-radius: ${radius_control}px; text-align: left; font-size: ${meta}px; min-height: ${meta}px; }
QPushButton[kind="link"]:hover { background: $hover; }
QPushButton[kind="link"]:focus { border: 2px solid $accent; }
QPushButton[kind="link"]:disabled { color: $text_3; background: transparent; }
QLabel:disabled { color: $text_3; }
QCheckBox[bare="true"] { spacing: 0; }
QCheckBox::indicator:focus { border: 2px solid $accent; width: 14px; height: 14px; }
QCheckBox::indicator:checked:disabled { background: $line_strong; border-color: $line_strong; }
#setupFoot { background: $side; border: none; border-top: 1px solid $line; }
#cacheFullDialog QPushButton[kind="suggestion"]:disabled { background: $side; }
#settingError { color: $danger; font-size: ${meta}px; }
#popupCard { background: $field; border: 1px solid $line_strong; border-radius: ${radius_card}px; }
#panelLine { border: none; border-bottom: 1px solid $line; margin-bottom: 8px; }
#noticeLog, #engineLog { background: $side; border: 1px solid $line; }
#dropHint { background: $accent_soft; border: 2px dashed $accent; border-radius: ${radius_bubble}px; color: $text;
    font-size: ${title}px; font-weight: 600; }
""")


def window_stylesheet(tokens: Tokens, sizes: Sizes) -> str:
    """The QSS text for these tokens and sizes."""
    return _SHEET.substitute(
        {**asdict(tokens), **asdict(sizes)},
        pill=(sizes.meta + 12) // 2,
        tile=sizes.title + 3,
        hero=round(sizes.number * 0.86),
    )
