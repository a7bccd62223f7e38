"""The store: what is written is read again, searches find it."""

from __future__ import annotations

import sqlite3
import stat
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.records import Attachment, Changes, Chat, ChatSettings, PromptPreset, Turn, TurnState, WholeChat
from app.store.schema import FromTheFutureError
from app.store.store import ChatStore
from app.store.token_ids import pack, unpack
from app.store.words import hits, snippet
from engine.api.messages import Message
from tests.app.store.chats import full, small, turn


@pytest.fixture
def store(tmp_path):
    store = ChatStore(tmp_path / "chats.db")
    yield store
    store.close()


def test_a_chat_is_read_as_it_was_written(store):
    store.add([full()])
    assert store.load("full") == full_as_kept(store)
    chat = store.load("full").chat
    assert store.chats() == [(chat.id, chat.title, True, chat.changed)]


def full_as_kept(store):
    """The chat of the samples; moments are made anew at each call, so they are taken from what was kept."""
    kept = store.load("full")
    made = full()
    turns = tuple(replace(one, moment=other.moment) for one, other in zip(made.turns, kept.turns, strict=True))
    return WholeChat(replace(made.chat, created=kept.chat.created, changed=kept.chat.changed), turns)


def test_an_answer_that_was_being_written_has_broken_off(store):
    store.save(Chat("a"), Changes((turn(1, "Hi"), turn(2, "I was ab", 1, "assistant", state=TurnState.STREAMING))))
    assert store.load("a").turns[1].state is TurnState.FAILED
    assert store.load("a").turns[1].message.text == "I was ab"


def test_turns_are_changed_and_deleted(store):
    store.add([small("a", "T", "one", "two", "three")])
    store.save(Chat("a", "T"), Changes((turn(2, "zwei", 1, "assistant"),), (3,)))
    assert [one.message.text for one in store.load("a").turns] == ["one", "zwei"]
    assert store.search("two") == []
    assert store.search("three") == []
    assert [hit.turn_id for hit in store.search("zwei")] == [2]


@pytest.mark.parametrize(
    ("wanted", "turn_id"),
    [
        ("cach", 1), ("CAFE", 1), ("显存", 2), ("存的关", 2), ("evicted cells", 2), ("cells evicted", 2),
        ('"evicted cells"', 2), ("foo_bar", 1), ("C++", 1), ("wom", 3), ("a_secret.txt", 4), ("inside", 4),
    ],
)  # fmt: skip
def test_search_finds(store, wanted, turn_id):
    from app.store.records import Attachment

    files = (Attachment("a_secret.txt", "what is inside"),)
    store.save(
        Chat("a", "Title"),
        Changes(
            (
                turn(1, "How does the café cache work with foo_bar in C++?"),
                turn(2, "缓存与显存的关系: evicted cells", 1, "assistant"),
                turn(3, "WOMBATS", 2),
                turn(4, "?", 3, attachments=files, typed="?"),
            )
        ),
    )
    assert [hit.turn_id for hit in store.search(wanted)] == [turn_id]


@pytest.mark.parametrize(
    "wanted", ['"cells evicted"', "zzz", "存缓", "", " ", '"', "*", "()", "NOT", "a AND", "^", '""" x']
)
def test_search_finds_nothing_and_survives_anything(store, wanted):
    store.add([small("a", "T", "evicted cells 缓存")])
    assert store.search(wanted) == []


def test_a_hit_in_a_title_comes_without_a_turn(store):
    store.add([small("a", "Kyoto in five days", "five"), small("b", "Other", "To Kyoto!")])
    assert {(hit.chat.id, hit.turn_id) for hit in store.search("kyoto")} == {("a", None), ("b", 1)}


def test_search_shows_each_chat_once_also_among_many_hits(store):
    store.add(small(f"c{n}", "T", *["word " * 3] * 50) for n in range(130))
    found = store.search("word", limit=120)
    assert len({hit.chat.id for hit in found}) == len(found) == 120


def test_deleting_can_be_undone_until_it_is_for_good(store):
    store.add([small("a"), small("b")])
    store.delete("a")
    assert [chat.id for chat in store.chats()] == ["b"]
    assert {hit.chat.id for hit in store.search("yes")} == {"b"}
    store.restore("a")
    assert {chat.id for chat in store.chats()} == {"a", "b"}
    store.delete("a")
    store.save(store.load("a").chat)
    assert {chat.id for chat in store.chats()} == {"a", "b"}, "nothing is said into a chat that is about to go"
    store.delete("a")
    assert store.purge(60) == ()
    assert store.purge() == ("a",)
    assert store.load("a") is None
    store.restore("a")
    assert [chat.id for chat in store.chats()] == ["b"]


def test_the_text_of_a_purged_chat_is_gone_from_the_file(store, tmp_path):
    store.add([small("a", "T", "Wanderlust and nothing else"), small("b")])
    store.delete("a")
    store.purge()
    store.close()
    assert b"and nothing else" not in (tmp_path / "chats.db").read_bytes()


def test_pinned_chats_come_first_and_names_stay(store):
    store.add([small("a", "first"), small("b", "second")])
    store.pin("a", True)
    store.rename("a", "My own name")
    assert [chat.id for chat in store.chats()] == ["a", "b"]
    assert (store.load("a").chat.title, store.load("a").chat.is_pinned) == ("My own name", True)
    assert [hit.chat.id for hit in store.search("own")] == ["a"]
    assert store.search("first") == []


def test_presets(store):
    store.save_preset(PromptPreset("Brief", "Be brief."))
    store.save_preset(PromptPreset("Brief", "Be very brief."))
    store.save_preset(PromptPreset("about", "b"))
    assert store.presets() == [PromptPreset("about", "b"), PromptPreset("Brief", "Be very brief.")]
    store.delete_preset("Brief")
    assert [one.name for one in store.presets()] == ["about"]


def test_only_the_owner_may_read_the_chats(store, tmp_path):
    store.add([small()])
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_a_newer_database_is_left_alone(tmp_path):
    path = tmp_path / "chats.db"
    ChatStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(FromTheFutureError):
        ChatStore(path)


def test_text_that_can_not_be_written_is_written_as_far_as_it_can(store):
    files = (Attachment("caf\udce9.txt", "half \ud835"),)
    said = Turn(2, Message("user", "composed"), model="/caf\udce9", attachments=files, typed="\ud835\udc00")
    chat = Chat("a", "x\ud800", draft="\udc00", settings=ChatSettings("\ud835 prompt"))
    store.save(chat, Changes((Turn(1, Message("user", "half \ud83d pair \0 and NUL")), said)))
    store.rename("a", "x\ud800")
    store.save_preset(PromptPreset("\ud800", "\udc00"))
    whole = store.load("a")
    assert whole.turns[0].message.text == "half \ufffd pair \0 and NUL"
    assert whole.turns[1].attachments == (Attachment("caf\ufffd.txt", "half \ufffd"),)
    assert (whole.turns[1].typed, whole.turns[1].model) == ("𝐀", "/caf\ufffd")
    assert (whole.chat.title, whole.chat.draft) == ("x\ufffd", "\ufffd")
    assert whole.chat.settings.system_prompt == "\ufffd prompt"
    assert store.presets() == [PromptPreset("\ufffd", "\ufffd")]
    assert [hit.turn_id for hit in store.search("half \ud83d pair")] == [1]
    assert store.search("\ud835") == []


@given(st.none() | st.lists(st.integers(0, 2**32 - 1)).map(tuple))
def test_token_ids_are_kept(ids):
    assert unpack(pack(ids)) == ids


def test_token_ids_are_small():
    assert len(pack((49_151,) * 100)) == 201
    assert len(pack((262_143,) * 100)) == 301
    assert unpack(b"\x09abc") is None
    assert unpack(b"\x03ab") is None


@given(st.text(max_size=400), st.text(max_size=20))
def test_snippets_and_hits_hold_for_any_text(text, wanted):
    line = snippet(text, wanted)
    assert "\n" not in line
    assert all(0 <= start < end <= len(line) for start, end in hits(line, wanted))


def test_snippets_show_the_hit():
    text = "before " * 100 + "the Café is here " + "after " * 100
    line = snippet(text, "cafe")
    start, end = hits(line, "cafe")[0]
    assert line[start:end] == "Café"
    assert line.startswith("…")
