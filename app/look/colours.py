"""The colours and sizes of the window, named once for light and dark."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Tokens:
    """Colours as "#rrggbb". `text_2` and `text_3` are quieter, and both stay readable on `ground` and `side`."""

    dark: bool
    ground: str
    side: str
    line: str
    line_strong: str
    text: str
    text_2: str
    text_3: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_soft: str
    bubble: str
    card: str
    field: str
    code_chip: str
    hover: str
    pressed: str
    selected: str
    selection: str
    danger: str
    danger_soft: str
    warning: str
    warning_soft: str
    success: str
    cell_system: str
    cell_user: str
    cell_assistant: str
    cell_reused: str
    cell_free: str
    syntax_keyword: str
    syntax_name: str
    syntax_type: str
    syntax_string: str
    syntax_number: str
    syntax_comment: str


LIGHT = Tokens(
    dark=False, ground="#ffffff", side="#f6f7f9", line="#e5e8ec", line_strong="#cdd2d9",
    text="#16191d", text_2="#565e6a", text_3="#687080",
    accent="#2f62e0", accent_hover="#2553c8", on_accent="#ffffff", accent_soft="#e6edfd",
    bubble="#f0f1f4", card="#f6f7f9", field="#ffffff", code_chip="#e9ebf0",
    hover="#eceef2", pressed="#dfe3e9", selected="#e3e7ec", selection="#c5d5fb",
    danger="#b3261e", danger_soft="#fdecea", warning="#8a5a00", warning_soft="#fdf3dd", success="#1a7f45",
    cell_system="#7261d8", cell_user="#2a6fdb", cell_assistant="#0c8f80", cell_reused="#c27c0e",
    cell_free="#e5e8ec",
    syntax_keyword="#8333b8", syntax_name="#2456c4", syntax_type="#0a7568", syntax_string="#2d7a2f",
    syntax_number="#a4520a", syntax_comment="#687080",
)  # fmt: skip

DARK = Tokens(
    dark=True, ground="#17191d", side="#111316", line="#272b31", line_strong="#3b414a",
    text="#e6e8eb", text_2="#a2a9b4", text_3="#8a92a0",
    accent="#5b8cff", accent_hover="#79a1ff", on_accent="#0b1020", accent_soft="#1d2840",
    bubble="#23262c", card="#111316", field="#1d2025", code_chip="#2a2e35",
    hover="#22262c", pressed="#2c3138", selected="#262b32", selection="#2c4474",
    danger="#ff8a80", danger_soft="#3a1f20", warning="#f0b345", warning_soft="#33290f", success="#45c77e",
    cell_system="#9a8cf5", cell_user="#5b9bff", cell_assistant="#2cc4b0", cell_reused="#f0b345",
    cell_free="#2a2e35",
    syntax_keyword="#c792ea", syntax_name="#7fb0ff", syntax_type="#4fd0be", syntax_string="#9bd08a",
    syntax_number="#f0a868", syntax_comment="#8a92a0",
)  # fmt: skip


@dataclass(frozen=True)
class Accent:
    """One accent: its colour, the colour under the pointer, text on it, and a soft ground; light then dark."""

    light: tuple[str, str, str, str]
    dark: tuple[str, str, str, str]


ACCENTS = {
    "blue": Accent(("#2f62e0", "#2553c8", "#ffffff", "#e6edfd"), ("#5b8cff", "#79a1ff", "#0b1020", "#1d2840")),
    "violet": Accent(("#6a4fd0", "#5a40bb", "#ffffff", "#eeeafc"), ("#9a8cf5", "#afa3f8", "#120d26", "#2a2544")),
    "teal": Accent(("#0b7a6e", "#09675d", "#ffffff", "#dff3f0"), ("#2cc4b0", "#52d2c1", "#041a17", "#14332f")),
    "rose": Accent(("#bf2f5f", "#a62551", "#ffffff", "#fce8ef"), ("#f57fa5", "#f89bb9", "#290813", "#3d1f2a")),
    "graphite": Accent(("#3f4753", "#2f3640", "#ffffff", "#e9ebef"), ("#b9c0cb", "#ccd2da", "#14171b", "#2a2e35")),
}


def tokens_for(dark: bool, accent: str) -> Tokens:
    """The tokens of one scheme with one of `ACCENTS`; an unknown accent name gives blue."""
    chosen = ACCENTS.get(accent, ACCENTS["blue"])
    color, hover, on_color, soft = chosen.dark if dark else chosen.light
    return replace(DARK if dark else LIGHT, accent=color, accent_hover=hover, on_accent=on_color, accent_soft=soft)


@dataclass(frozen=True)
class Sizes:
    """Text sizes and line heights in logical pixels, and the layout grid, which does not scale with text."""

    body: int
    body_line: int
    ui: int
    meta: int
    micro: int
    title: int
    number: int
    code: int
    code_line: int
    sidebar: int = 260
    panel: int = 320
    top_bar: int = 52
    column: int = 720
    between_turns: int = 28
    radius_control: int = 8
    radius_card: int = 10
    radius_bubble: int = 16
    radius_chip: int = 4


def sizes_for(scale: float) -> Sizes:
    """Sizes for a text scale (1.0 is 15-pixel body text)."""
    return Sizes(
        body=round(15 * scale), body_line=round(24 * scale), ui=round(13 * scale), meta=round(12 * scale),
        micro=max(10, round(11 * scale)), title=round(15 * scale), number=round(28 * scale),
        code=round(13 * scale), code_line=round(20 * scale), column=round(720 * max(1.0, scale)),
    )  # fmt: skip
