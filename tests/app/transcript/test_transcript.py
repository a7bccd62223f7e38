"""The transcript as a person uses it: following, scrolling, pressing, and what is announced."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QToolButton

from app.look.theme import Mode
from app.transcript import Action, ShownState, ShownTurn, Visibility
from app.transcript.documents import SafeDocument
from app.transcript.menu import transcript_menu
from app.transcript.transcript import Transcript
from app.transcript.turn_view import HEADER
from tests.app.transcript.samples import ANSWER, EVERYTHING, chat

LEFT = Qt.MouseButton.LeftButton


def part(transcript: Transcript, turn: int, words: str) -> QRect:
    """Where the button or link that screen readers call `words` lies in the viewport."""
    item = QAccessible.queryAccessibleInterface(transcript).child(turn)
    for i in range(item.childCount()):
        if words in item.child(i).text(QAccessible.Text.Name):
            rect = item.child(i).rect()
            return QRect(transcript.viewport().mapFromGlobal(rect.topLeft()), rect.size())
    raise AssertionError(f"nothing called {words!r} in turn {turn}")


def press(qtbot, transcript: Transcript, turn: int, words: str) -> None:
    at = part(transcript, turn, words).center()
    qtbot.mouseMove(transcript.viewport(), at)
    qtbot.mouseClick(transcript.viewport(), LEFT, pos=at)


def top_of(transcript: Transcript, turn: int) -> int:
    return round(transcript.turn_origin(turn).y())


def test_a_chat_opens_at_its_end(show):
    transcript = show(*chat(60))
    bar = transcript.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    assert transcript.is_following


def test_streamed_text_is_followed_until_the_reader_scrolls_up(qtbot, show):
    transcript = show(*chat(20), ShownTurn("new", "assistant", state=ShownState.STREAMING))
    bar = transcript.verticalScrollBar()
    for word in ("one\n\n" * 30, "two\n\n" * 30):
        transcript.append_text("new", word)
        qtbot.waitUntil(lambda word=word: transcript.turns[-1].text.endswith(word))
        assert bar.value() == bar.maximum()
    with qtbot.waitSignal(transcript.following_changed) as told:
        bar.setValue(bar.value() - 300)
    assert told.args == [False]
    before = top_of(transcript, 20)
    transcript.append_text("new", "three\n\n" * 30)
    qtbot.waitUntil(lambda: "three" in transcript.turns[-1].text)
    assert top_of(transcript, 20) == before
    assert not transcript.is_following


def test_the_jump_button_returns_to_the_end(qtbot, show):
    transcript = show(*chat(40))
    jump = transcript.findChild(QToolButton, "jumpButton")
    assert not jump.isVisible()
    transcript.verticalScrollBar().setValue(0)
    assert jump.isVisible()
    qtbot.mouseClick(jump, LEFT)
    assert transcript.is_following
    assert not jump.isVisible()


def test_text_of_an_unknown_turn_is_ignored(qtbot, show):
    transcript = show(*chat(2))
    transcript.append_text("other", "x")
    transcript.finish_turn("other", ShownState.DONE)
    transcript.remove_turns_from("other")
    assert [turn.id for turn in transcript.turns] == ["0", "1"]


def test_finishing_shows_all_text_at_once(show):
    transcript = show(ShownTurn("a", "assistant", state=ShownState.STREAMING))
    transcript.append_text("a", "all ", "thought")
    transcript.append_text("a", "of\r\nit")
    transcript.finish_turn("a", ShownState.STOPPED, ("3 tokens",), "Stopped")
    turn = transcript.turns[0]
    assert (turn.text, turn.reasoning, turn.state) == ("all of\nit", "thought", ShownState.STOPPED)
    assert (turn.facts, turn.note) == (("3 tokens",), "Stopped")


def test_what_is_on_screen_moves_exactly_as_far_as_it_is_scrolled(show):
    transcript = show(*chat(300))
    bar = transcript.verticalScrollBar()
    for _ in range(120):
        turn = transcript.visible_turns()[-1]
        before = top_of(transcript, turn)
        bar.setValue(bar.value() - 97)
        transcript.grab()
        assert abs(top_of(transcript, turn) - before - 97) <= 1


@pytest.mark.parametrize("change", ["resize", "theme", "scale"])
def test_the_turn_at_the_top_stays_there(show, theme, change: str):
    transcript = show(*chat(200))
    transcript.scroll_to_turn("100")
    transcript.grab()
    if change == "resize":
        transcript.resize(560, 700)
    elif change == "theme":
        theme.set_mode(Mode.DARK)
    else:
        theme.set_text_scale(1.4)
    transcript.grab()
    assert transcript.turn_at(QPointF(10, 10)) in (99, 100)


def test_jumping_home_and_paging(qtbot, show):
    transcript = show(*chat(60))
    transcript.setFocus()
    bar = transcript.verticalScrollBar()
    qtbot.keyClick(transcript, Qt.Key.Key_Home)
    assert bar.value() == 0
    qtbot.keyClick(transcript, Qt.Key.Key_PageDown)
    assert 0 < bar.value() <= transcript.viewport().height()
    qtbot.keyClick(transcript, Qt.Key.Key_Down)
    qtbot.keyClick(transcript, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()


def test_buttons_under_a_turn(qtbot, show):
    transcript = show(ShownTurn("q", "user", "the *question*"), ShownTurn("a", "assistant", ANSWER))
    press(qtbot, transcript, 1, "Copy this message")
    assert QGuiApplication.clipboard().text() == ANSWER
    for turn, words, expected in ((1, "again", ("a", Action.REGENERATE)), (0, "Edit", ("q", Action.EDIT))):
        transcript.verticalScrollBar().setValue(0 if turn == 0 else transcript.verticalScrollBar().maximum())
        with qtbot.waitSignal(transcript.action_requested) as asked:
            press(qtbot, transcript, turn, words)
        assert tuple(asked.args) == expected


def test_code_is_copied_whole(qtbot, show):
    code = "\n".join(f"line {i}" for i in range(900))
    transcript = show(ShownTurn("a", "assistant", f"Look:\n\n```\n{code}\n```"))
    transcript.verticalScrollBar().setValue(0)
    press(qtbot, transcript, 0, "Copy this code")
    assert QGuiApplication.clipboard().text() == code


def test_long_lines_of_code_are_scrolled_sideways(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", "```\n" + "x" * 60 + " " + "y" * 200 + "\nshort\n```"))
    before = transcript.grab().toImage()
    at = QPointF(part(transcript, 0, "Copy this code").bottomLeft() + QPoint(-80, 30))
    for sideways in (-400, 4000):
        delta = QPoint(sideways, 0)
        wheel = QWheelEvent(
            at, transcript.viewport().mapToGlobal(at), QPoint(), delta, Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(transcript.viewport(), wheel)
        assert (transcript.grab().toImage() == before) == (sideways > 0)


def test_going_from_message_to_message(qtbot, show):
    transcript = show(*chat(40))
    transcript.setFocus()
    transcript.scroll_to_turn("10")
    alt = Qt.KeyboardModifier.AltModifier
    for key, turn in ((Qt.Key.Key_Down, 11), (Qt.Key.Key_Down, 12), (Qt.Key.Key_Up, 11)):
        qtbot.keyClick(transcript, key, alt)
        assert abs(top_of(transcript, turn)) <= 2


def test_versions_of_a_turn(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", "Second try.", variant=(2, 3)))
    for words, action in (("version before", Action.PREVIOUS), ("version after", Action.NEXT)):
        with qtbot.waitSignal(transcript.action_requested) as asked:
            press(qtbot, transcript, 0, words)
        assert tuple(asked.args) == ("a", action)
    transcript.update_turn("a", variant=None)
    with pytest.raises(AssertionError):
        part(transcript, 0, "version")


def test_the_menu_copies_the_message_and_the_link(show):
    transcript = show(ShownTurn("a", "assistant", "[words](https://example.org/x)"))
    at = QPointF(part(transcript, 0, "example.org").center())
    menu = transcript_menu(transcript, at)
    texts = {action.text(): action for action in menu.actions()}
    assert not texts["Copy"].isEnabled()
    texts["Copy message"].trigger()
    assert QGuiApplication.clipboard().text() == "[words](https://example.org/x)"
    texts["Copy link address"].trigger()
    assert QGuiApplication.clipboard().text() == "https://example.org/x"
    texts["Select all"].trigger()
    assert transcript.selected_markdown() == "[words](https://example.org/x)"


def test_a_link_is_told_and_not_opened(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", "See [the page](https://example.org/x) here."))
    with qtbot.waitSignal(transcript.link_activated) as told:
        press(qtbot, transcript, 0, "https://example.org/x")
    assert told.args == ["https://example.org/x"]


def test_reasoning_is_folded_and_unfolds(qtbot, show):
    transcript = show(ShownTurn("a", "assistant", "Answer.", reasoning="First this.\n\nThen that."))
    folded = transcript.views[0].height
    press(qtbot, transcript, 0, "thoughts")
    assert transcript.views[0].height > folded + 40
    press(qtbot, transcript, 0, "thoughts")
    assert transcript.views[0].height == folded


def test_a_turn_being_written_has_no_buttons(show):
    transcript = show(ShownTurn("a", "assistant", "plain", state=ShownState.STREAMING))
    assert QAccessible.queryAccessibleInterface(transcript).child(0).childCount() == 0
    transcript.finish_turn("a", ShownState.DONE)
    assert QAccessible.queryAccessibleInterface(transcript).child(0).childCount() == 3


def test_tab_goes_through_what_can_be_pressed_and_then_leaves(qtbot, show):
    transcript = show(ShownTurn("q", "user", "hello"), ShownTurn("a", "assistant", "[x](https://e.org/)"))
    transcript.setFocus()
    asked: list[tuple[str, Action]] = []
    transcript.action_requested.connect(lambda turn, action: asked.append((turn, action)))
    links: list[str] = []
    transcript.link_activated.connect(links.append)
    for _ in range(6):
        assert transcript.focusNextPrevChild(True)
        qtbot.keyClick(transcript, Qt.Key.Key_Return)
    assert asked == [("q", Action.EDIT), ("a", Action.REGENERATE), ("a", Action.CONTINUE)]
    assert links == ["https://e.org/"]
    assert transcript.focusNextPrevChild(False)


def test_an_evicted_turn_is_paler_and_says_so(show):
    transcript = show(ShownTurn("q", "user", "hello " * 20), ShownTurn("a", "assistant", "words " * 40))
    before = transcript.grab().toImage()
    transcript.set_visibility({"a": Visibility.NONE})
    after = transcript.grab().toImage()
    view = transcript.views[1]
    area = QRect(transcript.turn_origin(1).toPoint() + QPoint(0, 30), QPoint(700, round(view.height) + 40))
    dark = [
        sum(image.pixelColor(x, y).lightness() < 100 for x in range(area.left(), 600) for y in range(area.top(), 200))
        for image in (before, after)
    ]
    assert dark[1] < dark[0] / 4
    item = QAccessible.queryAccessibleInterface(transcript).child(1)
    assert "no longer sees" in item.text(QAccessible.Text.Description)


def test_what_the_model_sees_in_part_is_dimmed_in_part_and_said_in_its_header(show):
    transcript = show(ShownTurn("a", "assistant", "words " * 40), ShownTurn("q", "user", "hello"))
    origin = transcript.turn_origin(0).toPoint()
    first_line = range(origin.y() + int(HEADER), origin.y() + int(HEADER) + 24)

    def darkest(seen: Visibility) -> int:
        transcript.set_visibility({"a": seen})
        image = transcript.grab().toImage()
        return min(image.pixelColor(x, y).lightness() for y in first_line for x in range(origin.x(), origin.x() + 200))

    assert darkest(Visibility.ALL) < darkest(Visibility.PARTLY) < darkest(Visibility.NONE)
    item = QAccessible.queryAccessibleInterface(transcript).child(0)
    transcript.set_visibility({"a": Visibility.PARTLY})
    assert "no longer sees all" in item.text(QAccessible.Text.Description)
    header = QRect(origin + QPoint(200, 0), QPoint(transcript.width() - 20, origin.y() + int(HEADER) - 1))
    said = transcript.grab(header).toImage()
    transcript.set_visibility({"a": Visibility.ALL})
    assert transcript.grab(header).toImage() != said


def test_removing_turns_and_welcoming(show):
    welcome = QLabel("Hello")
    transcript = show(*chat(6), welcome=welcome)
    assert not welcome.isVisible()
    transcript.remove_turns_from("4")
    assert [turn.id for turn in transcript.turns] == ["0", "1", "2", "3"]
    transcript.remove_turns_from("0")
    assert welcome.isVisible()
    transcript.append_turn(ShownTurn("n", "user", "x"))
    assert not welcome.isVisible()


def test_screen_readers_get_each_message(show):
    transcript = show(
        ShownTurn("q", "user", "What?"), ShownTurn("a", "assistant", "That.", author="Model", facts=("3 tokens",))
    )
    root = QAccessible.queryAccessibleInterface(transcript)
    names = [root.child(i).text(QAccessible.Text.Name) for i in range(root.childCount())]
    assert names == ["You: What?", "Model: That."]
    assert "3 tokens" in root.child(1).text(QAccessible.Text.Description)
    assert root.child(1).rect().width() > 0


def test_showing_a_message_loads_nothing(show):
    document = SafeDocument()
    document.setHtml('<img src="file:///etc/passwd">')
    assert document.resource(2, "file:///etc/passwd").isNull()
    assert show(ShownTurn("a", "assistant", EVERYTHING)).views[0].height > 0


@pytest.mark.parametrize("text", ["", "\n\n", "```", "- ", "|a|\n|-|", "$$", "x" * 200_000, ">" * 300, "#" * 10])
def test_odd_messages_are_painted(show, text: str):
    transcript = show(ShownTurn("q", "user", text), ShownTurn("a", "assistant", text, reasoning=text))
    assert all(0 < view.height < 100_000 for view in transcript.views)


def test_every_prefix_of_an_answer_is_painted(show):
    transcript = show(ShownTurn("a", "assistant", state=ShownState.STREAMING))
    for end in range(0, len(EVERYTHING), 23):
        transcript.append_text("a", EVERYTHING[end : end + 23])
        transcript.jump_to_end()
        transcript.update_turn("a", facts=(str(end),))
        transcript.grab()
    heights = transcript.views[0].height
    transcript.finish_turn("a", ShownState.DONE)
    assert transcript.turns[0].text == EVERYTHING
    assert abs(transcript.views[0].height - heights) < 80


@pytest.mark.parametrize("n_lines", [5, 100])
def test_code_that_was_streamed_ends_in_the_same_colours_as_code_shown_at_once(show, n_lines: int):
    code = '```python\n"""\n' + "for words in a text\n" * n_lines + '"""\nx = 1\n'
    streamed = show(ShownTurn("a", "assistant", state=ShownState.STREAMING))
    for end in range(0, len(code), 40):
        streamed.append_text("a", code[end : end + 40])
        streamed.update_turn("a", facts=())
        streamed.grab()
    streamed.finish_turn("a", ShownState.DONE)
    assert streamed.grab().toImage() == show(ShownTurn("a", "assistant", code)).grab().toImage()


def test_the_ground_of_code_is_not_parted_from_it_at_the_end_of_a_line(show):
    for n in range(40, 70):
        transcript = show(ShownTurn("a", "assistant", "w" * n + " words `[::-1]` end"))
        (box,) = transcript.views[0].boxes
        assert all(len(box.range_rects(start, end)) == 1 for start, end in box.built.chips)


def test_where_there_are_versions_they_can_be_seen(show):
    transcript = show(
        ShownTurn("a", "user", "Hi", variant=(1, 2)), ShownTurn("b", "user", "Hi"), ShownTurn("c", "assistant", "Yes")
    )
    assert [transcript.shows_actions(index) for index in range(3)] == [True, False, True]


def test_what_comes_under_the_pointer_by_scrolling_is_hovered(qtbot, show):
    transcript = show(*chat(40))
    transcript.scroll_to_turn("10")
    qtbot.mouseMove(transcript.viewport(), QPoint(300, 5))
    assert transcript.shows_actions(10)
    transcript.scroll_to_turn("21")
    assert transcript.shows_actions(21)
    assert not transcript.shows_actions(10)
    QApplication.sendEvent(transcript.viewport(), QEvent(QEvent.Type.Leave))
    transcript.scroll_to_turn("11")
    assert not any(transcript.shows_actions(index) for index in transcript.visible_turns())
