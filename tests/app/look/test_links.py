"""Where a link leads is said before it opens, and nothing of others is invisible or turns our words around."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel

from app.look.foreign_text import elided, visible
from app.look.links import Link
from app.look.plain_tip import plain_tip
from app.look.theme import Theme
from app.transcript.labels import Labels
from app.transcript.turn_view import Hotspot, Spot
from app.widgets.elided_label import ElidedLabel
from app.widgets.notices import Level, Notices

CYRILLIC = "аррӏе.com (xn--80ak6aa92e.com)"
HIDDEN = "https://bank.example" + "-" * 1500 + "@evil.example/"


@pytest.mark.parametrize(
    ("address", "target"),
    [
        (HIDDEN, "evil.example"),
        ("https://user:password@h.example:8443/p", "h.example"),
        ("https://good.example\\@evil.example/", "evil.example"),
        ("https://ex%61mple.com/", "example.com"),
        ("https://ｅｖｉｌ.example/", "evil.example"),
        ("https://a\u200bb.example/", "ab.example"),
        ("https://аррӏе.com/", CYRILLIC),
        ("https://xn--80ak6aa92e.com/", CYRILLIC),
        ("https://bücher.example/", "bücher.example (xn--bcher-kva.example)"),
        ("https://bank.example./", "bank.example."),
        ("https://[::1]:80/", "::1"),
        ("http://2130706433/", "127.0.0.1"),
        ("https://a.example/\u202egpj.exe", "a.example"),
        ("mailto:someone@a.example?subject=x", "someone@a.example"),
    ],
)
def test_the_host_that_is_opened_is_named_alone(address: str, target: str) -> None:
    link = Link(address)
    assert link.can_open
    assert link.target == target
    assert link.url.host() in target or link.url.path() == target
    assert link.address.isascii() or len(link.address) < len(address)


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "steam://run/1",
        "http:evil.example",
        "https:///evil.example",
        "https:/\\evil.example",
        "https://good.example\\.evil.example/",
        "https://a\tb.example/\n",
        "https://b\u202ecod.example/",
        "https://a.example%2f.evil.example/",
        "https://a.example:99999/",
        "mailto:",
        "",
    ],
)
def test_what_leads_nowhere_certain_is_not_opened(address: str) -> None:
    assert not Link(address).can_open


def test_the_question_names_the_host_and_opens_just_that(start_desk, monkeypatch) -> None:
    opened = []
    monkeypatch.setattr("app.window.engine_notices.QDesktopServices.openUrl", opened.append)
    desk = start_desk(is_loaded=False)
    desk.program.transcript.link_activated.emit(HIDDEN)
    [words] = [label.text() for label in desk.program.notices.findChildren(QLabel, "noticeText")]
    assert "evil.example." in words.splitlines()[0]
    assert "bank" not in words.splitlines()[0]
    assert words.endswith("@evil.example/")
    assert len(words) < 400
    desk.program.notices.findChild(QAbstractButton, "noticeAction").click()
    assert [url.host() for url in opened] == ["evil.example"]
    desk.program.transcript.link_activated.emit("steam://run/\u202e" + "1" * 5000)
    assert "\u202e" not in desk.notices()[-1]
    assert len(desk.notices()[-1]) < 400


def test_a_tip_over_a_link_names_its_host(qapp) -> None:
    labels = Labels()
    labels.retranslate()
    words = labels.what_it_does(Hotspot(Spot.LINK, None, href=HIDDEN))
    assert "evil.example" in words.splitlines()[0]
    assert len(words) < 400


def test_what_can_not_be_seen_is_written_as_its_number() -> None:
    assert visible("a\u202eb\u2066c\x1bd") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+001B⟩d"
    family = "\U0001f468\u200d\U0001f469"
    assert visible(f"{family} می\u200cخواهم\n") == f"{family} می\u200cخواهم\n"
    assert visible("a\u200db", kept="") == "a⟨U+200D⟩b"


def test_a_long_text_keeps_both_ends() -> None:
    assert elided("a" * 5, 5) == "aaaaa"
    assert elided("abcdefghijkl", 7) == "abcd…kl"
    assert len(elided("x" * 5000)) == 200


def test_names_of_others_turn_nothing_around(qtbot, qapp) -> None:
    name = "report\u202efdp.gguf" + "x" * 100_000
    assert "\u202e" not in plain_tip(name)
    assert len(plain_tip(name)) < 3000
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.set_line(name)
    assert "\u202e" not in label.line
    stack = Notices(Theme(qapp))
    qtbot.addWidget(stack)
    stack.tell(Level.WARNING, f"“{name}” is no model.", name)
    text = stack.findChild(QLabel, "noticeText")
    assert "\u202e" not in text.text()
    assert text.text().endswith("is no model.")
    assert text.textFormat() == Qt.TextFormat.PlainText
