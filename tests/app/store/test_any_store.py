"""Any chats that can be kept go out to a file and come back equal, and one that makes no sense costs no other."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.chats.conversation import Conversation
from app.store.files import ImportRefusedError, add_chats, export_from, read_chats
from app.store.json_format import pieces
from app.store.records import (
    MAX_TURN_ID,
    Attachment,
    Changes,
    Chat,
    ChatSettings,
    PromptPreset,
    Turn,
    TurnState,
    WholeChat,
    composed,
)
from app.store.store import ChatStore
from engine.api.declarations import declarations
from engine.api.messages import FinishReason, GenerationStats, Message
from engine.api.settings import PolicySettings, SamplingSettings
from tests.app.store.chats import full, small, turn

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

# With halves of surrogate pairs, which a store makes valid as it takes them.
letters = st.characters(codec=None) | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
words = st.text(letters, max_size=20) | st.builds(lambda text, n: text * n, st.text(letters, max_size=3), st.just(4000))
moments = st.datetimes(timezones=st.just(UTC))
anything = st.none() | st.booleans() | st.integers() | st.floats() | words | st.lists(st.integers(), max_size=2)


def values(declaration):
    """Any value a setting can have, and some it can't."""
    if declaration.choices:
        return st.sampled_from([declaration.kind(one) for one in declaration.choices])
    if declaration.kind is bool:
        return st.booleans()
    low, high = declaration.minimum, declaration.maximum
    numbers = st.integers(int(low), int(high)) if declaration.kind is int else st.floats(low, high)
    return st.none() | numbers if declaration.optional else numbers


def settings_of(kind):
    return st.builds(kind, **{one.name: values(one) for one in declarations(kind)})


numbers = st.integers(0, 2**53 - 1)
rates = st.floats(0, 2**53, exclude_max=True) | st.sampled_from([float("inf"), float("nan")])
stats = st.builds(GenerationStats, *[numbers] * 7, rates, rates, st.none() | rates, numbers, st.none() | rates, rates)


@st.composite
def chats(draw):
    turns = []
    ids = draw(st.lists(st.integers(0, MAX_TURN_ID - 1) | st.integers(1, 9), max_size=4, unique=True))
    for n in sorted(ids):
        files = tuple(draw(st.lists(st.builds(Attachment, words, words), max_size=2)))
        typed = draw(words)
        tokens = draw(st.none() | st.lists(st.integers(0, 2**32 - 1), max_size=4).map(tuple))
        text = composed(files, typed) if files else typed
        turns.append(
            Turn(
                n,
                Message(draw(st.sampled_from(["user", "assistant", "system"])), text, draw(words), tokens),
                draw(st.sampled_from(TurnState)),
                draw(st.none() | st.sampled_from(FinishReason)),
                draw(st.none() | stats),
                draw(moments),
                draw(st.none() | st.integers(0, 9) | st.sampled_from(ids)),
                draw(st.booleans()),
                draw(words),
                files,
                typed if files else "",
            )
        )
    head = Chat(
        draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300)), draw(words), draw(st.booleans()),
        draw(st.booleans()), draw(moments), draw(moments),
        ChatSettings(draw(words), draw(settings_of(SamplingSettings)), draw(st.none() | settings_of(PolicySettings))),
        draw(words),
    )  # fmt: skip
    return WholeChat(head, tuple(turns))


def all_of(store: ChatStore) -> tuple[list[WholeChat], list[PromptPreset]]:
    return [store.load(line.id) for line in store.chats()], store.presets()


def as_after_a_file(whole: WholeChat) -> WholeChat:
    """Ids of tokens that were in a file are foreign from then on."""
    marked = (replace(one.message, has_foreign_ids=one.message.token_ids is not None) for one in whole.turns)
    turns = (replace(one, message=message) for one, message in zip(whole.turns, marked, strict=True))
    return replace(whole, turns=tuple(turns))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(chats(), max_size=3, unique_by=lambda one: one.chat.id),
    st.lists(st.builds(PromptPreset, words.filter(bool), words), max_size=2),
)
def test_any_store_goes_out_and_comes_back_equal(some, presets):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store, other = ChatStore(folder / "chats.db"), ChatStore(folder / "other.db")
        assert store.add(some) == len(some)
        for preset in presets:
            store.save_preset(preset)
        kept, kept_presets = all_of(store)
        store.close()
        assert export_from(folder / "chats.db", folder / "all.json") == (len(some), None)
        found = read_chats(folder / "all.json") if some or presets else None
        if found is not None:
            assert found.left_out == ()
            assert add_chats(other, found) == (len(some), 0)
        chats_back, presets_back = all_of(other)
        other.close()
    assert chats_back == [as_after_a_file(whole) for whole in kept]
    assert presets_back == kept_presets


@pytest.mark.parametrize(
    "turns",
    [
        (turn(2**62, "high"), turn(2**62 + 5, "higher", 2**62)),
        (turn(1, "x", model="/" + "m" * 20_000),),
        (turn(1, "x", attachments=(Attachment("n" * 300, "text"),), typed="x"),),
    ],
)
def test_what_was_refused_whole_is_taken(tmp_path, turns):
    whole = WholeChat(Chat("webui-" + "i" * 500, "t" * 500), turns)
    path = tmp_path / "all.json"
    path.write_text("".join(pieces([whole, small("b")], [PromptPreset("n" * 500, "text")])))
    found = read_chats(path)
    assert found.chats[0].chat == whole.chat
    assert [(one.id, one.parent, one.model, one.attachments) for one in found.chats[0].turns] == [
        (one.id, one.parent, one.model, one.attachments) for one in turns
    ]
    assert found.presets == (PromptPreset("n" * 500, "text"),)


def changed(path: list, value) -> dict:
    """The sample's file with one value in it changed."""
    plain = json.loads("".join(pieces([small("first", "T", "one", "two"), full(), small("last")])))
    at = plain
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return plain


CHAT_KEYS = ["id", "title", "is_named", "is_pinned", "created", "changed", "settings", "draft"]
TURN_KEYS = ["id", "parent", "is_chosen", "role", "text", "reasoning", "state", "created", "model", "token_ids"]
TURN_KEYS += ["reason", "stats", "attachments"]


@pytest.mark.parametrize("value", ["NaN", "-1", "1" + "0" * 400, '"\\ud835"', "[[]]", "{}", "null", "true", "1e999"])
def test_one_value_that_makes_no_sense_costs_itself_alone(tmp_path, value):
    places = [["chats", 0, key] for key in CHAT_KEYS] + [["chats", 0, "turns", 0, key] for key in TURN_KEYS]
    for place in [*places, ["chats", 0], ["chats", 0, "turns"], ["chats", 0, "turns", 0], ["presets"]]:
        text = json.dumps(changed(place, "HERE")).replace('"HERE"', value)
        (tmp_path / "x.json").write_text(text)
        found = read_chats(tmp_path / "x.json")
        assert {"full", "last"} <= {one.chat.id for one in found.chats}, place
        store = ChatStore(tmp_path / f"{'-'.join(map(str, place))}.db")
        assert sum(add_chats(store, found)) == len(found.chats)
        said = [one.own_text for line in store.chats() for one in store.load(line.id).turns]
        store.close()
        assert {"Read this", "One", "Hi", "Yes"} <= set(said)
        if place[-1] not in (0, "turns"):
            assert "two" in said, place
        if place[-1] in CHAT_KEYS[1:]:
            assert "one" in said, place


@pytest.mark.parametrize("ids", [[1, 1, 2], [2**63, 5, 2**62], [-1, 0, 1], [10**300, 10**300, 1]])
def test_turns_whose_ids_can_not_be_kept_are_numbered_anew(tmp_path, ids):
    plain = json.loads("".join(pieces([small("a", "T", "one", "two", "three")])))
    for one, number, parent in zip(plain["chats"][0]["turns"], ids, [None, *ids], strict=False):
        one["id"], one["parent"] = number, parent
    (tmp_path / "x.json").write_text(json.dumps(plain))
    (whole,) = read_chats(tmp_path / "x.json").chats
    assert [(one.id, one.parent, one.own_text) for one in whole.turns] == [
        (1, None, "one"), (2, 1, "two"), (3, 2, "three"),
    ]  # fmt: skip


def test_a_parent_that_can_not_be_kept_costs_nothing(tmp_path):
    plain = json.loads("".join(pieces([small("a", "T", "one", "two")])))
    plain["chats"][0]["turns"][1]["parent"] = 2**63
    (tmp_path / "x.json").write_text(json.dumps(plain))
    store = ChatStore(tmp_path / "chats.db")
    assert add_chats(store, read_chats(tmp_path / "x.json")) == (1, 0)
    assert [one.parent for one in store.load("a").turns] == [None, 1]
    store.close()


def test_a_chat_with_the_highest_ids_goes_on(tmp_path):
    store = ChatStore(tmp_path / "chats.db")
    conversation = Conversation("a", (turn(MAX_TURN_ID - 1, "high"),))
    said = conversation.add_user("higher")
    store.save(Chat("a"), Changes((turn(MAX_TURN_ID - 1, "high"), said)))
    assert [one.own_text for one in store.load("a").turns] == ["high", "higher"]
    store.close()


DEEP = "[" * 900 + "]" * 900


@pytest.mark.parametrize("value", ["1" + "0" * 400, "NaN", "-1e999", DEEP, "true", '"x"', "-5", "9" * 5000])
@pytest.mark.parametrize("place", ["create_time", "update_time", "title", "mapping", "conversation_id", "current_node"])
def test_a_conversation_of_chatgpt_that_makes_no_sense_costs_no_other(tmp_path, place, value):
    from tests.app.store.test_files import chatgpt

    bad, good = chatgpt("Bad"), {**chatgpt("Good"), "conversation_id": "good"}
    bad["mapping"]["q"]["message"]["create_time"] = bad[place] = "HERE"
    text = json.dumps([bad, good]).replace('"HERE"', value)
    (tmp_path / "x.json").write_text(text)
    found = read_chats(tmp_path / "x.json")
    assert "Good" in [one.chat.title for one in found.chats]
    assert len(found.chats) + len(found.left_out) == 2
    store = ChatStore(tmp_path / "chats.db")
    assert sum(add_chats(store, found)) == len(found.chats)
    store.close()


@pytest.mark.parametrize("value", ["1" + "0" * 400, "NaN", DEEP, "true", '"\\ud800"', "{}"])
@pytest.mark.parametrize("place", ["id", "timestamp", "parent", "content", "extra", "role"])
def test_a_message_of_the_web_page_that_makes_no_sense_costs_no_other(tmp_path, place, value):
    from tests.app.store.test_files import webui, webui_lines

    bad = webui()
    bad["messages"][2][place] = "HERE"
    text = json.dumps([bad, webui()]).replace('"HERE"', value)
    (tmp_path / "x.json").write_text(text)
    assert len(read_chats(tmp_path / "x.json").chats) == 2
    (tmp_path / "x.jsonl").write_text(f"{webui_lines()}\n{{broken\n{webui_lines()}")
    found = read_chats(tmp_path / "x.jsonl")
    assert (len(found.chats), len(found.left_out)) == (2, 1)


@pytest.mark.expected_log("can't be read")
def test_whatever_is_raised_while_a_file_is_read_is_a_refusal(tmp_path, monkeypatch):
    (tmp_path / "x.json").write_text("[]")

    def fail(_text):
        raise MemoryError

    monkeypatch.setattr("app.store.files.read_json", fail)
    with pytest.raises(ImportRefusedError):
        read_chats(tmp_path / "x.json")


def test_a_chat_that_the_database_can_not_hold_costs_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr("app.store.store.SERIAL_BITS", 3)
    store = ChatStore(tmp_path / "chats.db")
    long = small("long", "T", *"abcdefgh")
    assert store.add([small("a"), long, small("b")]) == 2
    assert {line.id for line in store.chats()} == {"a", "b"}
    store.save(Chat("a"), Changes((turn(3, "more", 2),)))
    store.close()


def test_in_the_window_what_was_left_out_is_said(start_desk, qtbot, tmp_path):
    text = json.dumps(changed(["chats", 0, "turns", 0], 5))
    (tmp_path / "x.json").write_text(text)
    desk = start_desk()
    desk.program.chat_files.import_file(tmp_path / "x.json")
    qtbot.waitUntil(lambda: bool(desk.notices()))
    assert desk.notices() == ["3 chats imported. 1 part of the file made no sense and was left out."]
