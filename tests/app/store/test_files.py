"""Export and import: nothing is lost in Kvasir's own format, and other programs' files are understood."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store import json_format
from app.store.files import ImportProblem, ImportRefusedError, add_chats, export_chats, export_folder, read_chats
from app.store.history import chosen_path, healed
from app.store.json_format import chats_of, pieces
from app.store.markdown_format import from_markdown, to_markdown
from app.store.records import Attachment, Chat, ChatSettings, PromptPreset, Turn, TurnState, WholeChat, composed
from app.store.store import ChatStore
from engine.api.messages import FinishReason, Message
from engine.api.settings import SamplingSettings
from tests.app.fake_engine import stats
from tests.app.store.chats import full, small, turn


@pytest.fixture
def store(tmp_path):
    store = ChatStore(tmp_path / "data" / "chats.db")
    yield store
    store.close()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@st.composite
def turns_of(draw):
    turns = []
    for n in range(1, draw(st.integers(0, 6)) + 1):
        files = tuple(draw(st.lists(st.builds(Attachment, texts, texts), max_size=2)))
        typed = draw(texts)
        ids = draw(st.none() | st.lists(st.integers(0, 2**32 - 1), max_size=4).map(tuple))
        role = draw(st.sampled_from(["user", "assistant"]))
        turns.append(
            Turn(
                n,
                Message(role, composed(files, typed) if files else typed, draw(texts), ids, ids is not None),
                draw(st.sampled_from([TurnState.DONE, TurnState.STOPPED, TurnState.FAILED])),
                draw(st.none() | st.sampled_from(list(FinishReason))),
                draw(st.none() | st.just(stats()) | st.just(replace(stats(), ttft_ms=None, read_tps=3.5))),
                draw(moments),
                draw(st.none() | st.sampled_from([one.id for one in turns])) if turns else None,
                draw(st.booleans()),
                draw(texts),
                files,
                typed if files else "",
            )
        )
    return tuple(turns)


chats = st.builds(
    WholeChat,
    st.builds(
        Chat, st.text("abc", min_size=1), texts, st.booleans(), st.booleans(), moments, moments,
        st.builds(ChatSettings, texts, st.builds(SamplingSettings, seed=st.none() | st.integers(0, 2**31))), texts,
    ),
    turns_of(),
)  # fmt: skip


@given(st.lists(chats, max_size=3), st.lists(st.builds(PromptPreset, texts, texts), max_size=2))
def test_the_own_format_loses_nothing(some, presets):
    read, presets_read, left_out = chats_of(json.loads("".join(pieces(some, presets))))
    assert (read, presets_read, left_out) == (some, presets, [])


@given(st.lists(chats, max_size=3, unique_by=lambda one: one.chat.id))
def test_the_store_loses_nothing(some):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        store = ChatStore(Path(folder) / "chats.db")
        store.add(some)
        assert [store.load(one.chat.id) for one in some] == some
        store.close()


def test_all_chats_go_out_and_come_in_again(store, tmp_path):
    store.add([full(), small("b")])
    store.save_preset(PromptPreset("Brief", "Be brief."))
    path = tmp_path / "all.json"
    assert export_chats(path, store) == 2
    other = ChatStore(tmp_path / "other.db")
    assert add_chats(other, read_chats(path)) == (2, 0)
    assert [other.load(chat.id) for chat in other.chats()] == [with_foreign_ids(store.load("full")), store.load("b")]
    assert other.presets() == [PromptPreset("Brief", "Be brief.")]
    assert add_chats(other, read_chats(path)) == (0, 2), "what is there already stays as it is"
    other.save(replace(other.load("b").chat), json_format_changes())
    assert add_chats(other, read_chats(path)) == (1, 1), "what differs becomes a chat of its own"
    assert {chat.id for chat in other.chats()} == {"full", "b", "b-2"}
    other.delete("full")
    assert add_chats(other, read_chats(path)) == (1, 1), "what was deleted comes back"
    other.close()


def with_foreign_ids(whole: WholeChat) -> WholeChat:
    """The same, as it is once it has been in a file."""
    marked = tuple(
        replace(one, message=replace(one.message, has_foreign_ids=one.message.token_ids is not None))
        for one in whole.turns
    )
    return replace(whole, turns=marked)


def json_format_changes():
    from app.store.records import Changes

    return Changes((turn(9, "more", 2),))


def test_a_failed_export_leaves_the_file_that_was_there(store, tmp_path, monkeypatch):
    path = tmp_path / "all.json"
    path.write_text("before")
    store.add([small()])

    def fail(*_arguments):
        yield "{"
        raise OSError("no space")

    monkeypatch.setattr(json_format, "pieces", fail)
    with pytest.raises(OSError, match="no space"):
        export_chats(path, store)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["all.json"]


def test_the_command_line_exports_without_a_window(store, tmp_path, capsys):
    store.add([full()])
    assert export_folder(tmp_path / "data", tmp_path / "out.json") == 0
    assert read_chats(tmp_path / "out.json").chats[0].chat.id == "full"
    assert capsys.readouterr() == ("", "")
    assert export_folder(tmp_path / "elsewhere", tmp_path / "out.json") == 1
    assert "there is no folder" in capsys.readouterr().err
    assert export_folder(tmp_path / "data", tmp_path / "none" / "out.json") == 1
    assert "can't be written" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert export_folder(tmp_path / "empty", tmp_path / "none.json") == 0
    assert json.loads((tmp_path / "none.json").read_text())["chats"] == []


def test_a_chat_as_markdown_and_back(store, tmp_path):
    sly = "Hello\n\n## Assistant\n\nnot a heading\n```\n## You\nin code"
    store.add(
        [
            replace(
                small("a", "My chat", "Q", sly, "Thanks"), chat=Chat("a", "My chat", settings=ChatSettings("Be brief."))
            )
        ]
    )
    path = tmp_path / "chat.md"
    export_chats(path, store, ["a"])
    imported = read_chats(path)
    assert imported.kind == "markdown"
    whole = imported.chats[0]
    assert (whole.chat.title, whole.chat.settings.system_prompt) == ("My chat", "Be brief.")
    assert [one.message.text for one in whole.turns] == ["Q", sly + "\n```", "Thanks"]
    assert [one.message.role for one in whole.turns] == ["user", "assistant", "user"]


@given(
    st.lists(
        st.lists(st.sampled_from(["## You", "\\## You", "```", "~~~", "text", "", "# x", "````"])).map("\n".join),
        min_size=1,
    )
)
def test_markdown_keeps_whose_words_they_are(lines):
    wanted = [text for text in lines if text.strip("\n")]
    whole = WholeChat(Chat("a", "T"), tuple(turn(i + 1, text, i or None) for i, text in enumerate(lines)))
    read = from_markdown(to_markdown(whole), "b")
    found = [one.message.text for one in read.turns] if read else []
    assert len(found) == len(wanted)
    for one, other in zip(wanted, found, strict=True):
        assert other.startswith(one.strip("\n"))


@pytest.mark.parametrize(
    "text",
    [
        "1. ```python\n   x = 1\n   ```\n2. then",
        "> ```\n> ## You\n> ```",
        "- a\n  - b\n    ```sh\n    ls\n    ```",
        "```inline``` text",
        "````md\n```\n## Assistant\n```\n````",
    ],
)
def test_code_in_markdown_stays_as_it_is(text):
    whole = WholeChat(Chat("a", "T"), (turn(1, text), turn(2, "## You\nsaid so", 1, "assistant"), turn(3, "End", 2)))
    markdown = to_markdown(whole)
    assert f"\n{text}\n\n## Assistant\n\n\\## You\nsaid so\n\n## You\n" in markdown
    assert [one.message.text for one in from_markdown(markdown, "b").turns] == [text, "## You\nsaid so", "End"]


@pytest.mark.parametrize("value", [10**30, -1, float("nan"), float("inf"), 1.5, True, "7", None])
def test_numbers_that_no_answer_has_are_left_out(value):
    whole = full()
    plain = json.loads("".join(pieces([whole])))
    plain["chats"][0]["turns"][1]["stats"]["n_generated"] = value
    (read,), _, _ = chats_of(json.loads(json.dumps(plain)))
    assert [one.stats for one in read.turns] == [None, None, None]
    assert [one.message.text for one in read.turns] == [one.message.text for one in whole.turns]


def chatgpt(title="A chat"):
    def node(key, parent, role, text, time, **message):
        content = {"content_type": "text", "parts": [text]}
        body = {"id": key, "author": {"role": role}, "create_time": time, "content": content, **message}
        return {"id": key, "parent": parent, "children": [], "message": body}

    mapping = {
        "root": {"id": "root", "parent": None, "message": None, "children": ["s"]},
        "s": node("s", "root", "system", "", 1, metadata={"is_visually_hidden_from_conversation": True}),
        "q": node("q", "s", "user", "What is a cache?", 1_700_000_000.5),
        "a1": node("a1", "q", "assistant", "First answer", 1_700_000_010),
        "tool": node("tool", "q", "assistant", "search()", 1_700_000_011, recipient="browser"),
        "result": node("result", "tool", "tool", "results", 1_700_000_012),
        "a2": node("a2", "result", "assistant", "Second answer", 1_700_000_013),
        "q2": node("q2", "a1", "user", "Thanks", 1_700_000_020),
    }
    mapping["q2"]["message"]["content"] = {
        "content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "Thanks"],
    }  # fmt: skip
    times = {"create_time": 1_700_000_000.5, "update_time": 1_700_000_020}
    return {"title": title, "conversation_id": "c1", "mapping": mapping, "current_node": "q2", **times}


@pytest.mark.parametrize("is_zip", [False, True])
def test_chatgpt(tmp_path, is_zip):
    text = json.dumps([chatgpt(), chatgpt("Other")])
    path = tmp_path / "export"
    if is_zip:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("conversations.json", text)
            archive.writestr("user.json", "{}")
    else:
        path.write_text(text)
    imported = read_chats(path)
    assert (imported.kind, len(imported.chats)) == ("chatgpt", 2)
    whole = imported.chats[0]
    assert (whole.chat.title, whole.chat.id) == ("A chat", "chatgpt-c1")
    assert whole.chat.created == datetime.fromtimestamp(1_700_000_000.5, UTC)
    assert [(one.message.text, one.parent, one.is_chosen) for one in whole.turns] == [
        ("What is a cache?", None, True), ("First answer", 1, True), ("Second answer", 1, False), ("Thanks", 2, True),
    ]  # fmt: skip
    assert [one.message.text for one in chosen_path(whole.turns)] == ["What is a cache?", "First answer", "Thanks"]


def webui():
    def message(key, parent, role, content, time, **more):
        kind = "root" if role == "system" and parent is None else "text"
        return {
            "id": key,
            "convId": "c",
            "type": kind,
            "timestamp": time,
            "role": role,
            "content": content,
            "parent": parent,
            "children": [],
            **more,
        }

    files = [{"type": "TEXT", "name": "a.txt", "content": "file text"}, {"type": "IMAGE", "name": "x.png"}]
    messages = [
        message("r", None, "system", "", 1_700_000_000_000),
        message("s", "r", "system", "Be kind.", 1_700_000_000_001),
        message("q", "s", "user", "Read it", 1_700_000_000_100, extra=files),
        message("a1", "q", "assistant", "One", 1_700_000_000_200, reasoningContent="Hm"),
        message("a2", "q", "assistant", "Two", 1_700_000_000_300, thinking="Ah"),
    ]
    return {
        "conv": {"id": "c", "name": "Chat", "lastModified": 1_700_000_000_300, "currNode": "a1", "pinned": True},
        "messages": messages,
    }


def webui_lines():
    one = webui()
    records = [{"type": "session", "harness": "x", **one["conv"]}]
    records += [{"type": "message", "message": message} for message in one["messages"]]
    return "\n".join(map(json.dumps, records))


@pytest.mark.parametrize("shape", ["one", "list", "lines", "zip"])
def test_llama_cpp_webui(tmp_path, shape):
    path = tmp_path / "export"
    if shape == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.jsonl", webui_lines())
    else:
        path.write_text({"one": json.dumps(webui()), "list": json.dumps([webui()]), "lines": webui_lines()}[shape])
    whole = read_chats(path).chats[0]
    assert (whole.chat.title, whole.chat.is_pinned, whole.chat.settings.system_prompt) == ("Chat", True, "Be kind.")
    question, one, two = whole.turns
    assert question.attachments == (Attachment("a.txt", "file text"),)
    assert question.typed == "Read it"
    assert "file text" in question.message.text
    assert (one.message.text, one.message.reasoning, one.is_chosen) == ("One", "Hm", True)
    assert (two.message.text, two.message.reasoning, two.is_chosen) == ("Two", "Ah", False)


def test_an_old_webui_counts_with_numbers(tmp_path):
    messages = [
        {"id": 1, "type": "root", "parent": -1, "role": "system", "content": "", "timestamp": 1},
        {"id": 2, "type": "text", "parent": 1, "role": "user", "content": "Hi", "timestamp": 2},
    ]
    (tmp_path / "x").write_text(json.dumps({"conv": {"id": "c", "name": "", "currNode": 2}, "messages": messages}))
    whole = read_chats(tmp_path / "x").chats[0]
    assert (whole.chat.title, [one.message.text for one in whole.turns]) == ("Hi", ["Hi"])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ImportProblem.UNKNOWN_FORMAT),
        (b"\xff\xfe\x00nonsense", ImportProblem.UNKNOWN_FORMAT),
        (b"[]", ImportProblem.UNKNOWN_FORMAT),
        (b"[" * 100_000, ImportProblem.UNKNOWN_FORMAT),
        (b'{"format": "kvasir-chats", "version": 2}', ImportProblem.FROM_THE_FUTURE),
        (b'{"format": "kvasir-chats", "version": 1, "chats": [{"id": 5}]}', ImportProblem.UNKNOWN_FORMAT),
        (b'{"format": "kvasir-chats", "version": 1, "chats": 5}', ImportProblem.UNKNOWN_FORMAT),
        (b"PK\x03\x04 broken", ImportProblem.UNKNOWN_FORMAT),
    ],
)
def test_files_of_anything_are_refused(tmp_path, content, problem):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ImportRefusedError) as refused:
        read_chats(tmp_path / "x.json")
    assert refused.value.problem is problem


WORDS = ["mapping", "message", "author", "role", "content", "parts", "parent", "conv", "messages", "id", "format"]
WORDS += ["chats", "turns", "extra", "current_node", "create_time", "content_type", "timestamp"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=25,
)


@given(json_values)
def test_any_json_is_read_or_refused(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value))
    try:
        imported = read_chats(path)
    except ImportRefusedError:
        return
    assert imported.chats


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ImportRefusedError):
        read_chats(tmp_path / "none.json")


@given(st.lists(st.tuples(st.integers(1, 8), st.none() | st.integers(1, 8), st.booleans())))
def test_any_tree_is_healed(rows):
    turns = healed([turn(number, "x", parent, is_chosen=is_chosen) for number, parent, is_chosen in rows])
    ids = {one.id for one in turns}
    assert ids == {number for number, _, _ in rows}
    assert all(one.parent is None or (one.parent in ids and one.parent < one.id) for one in turns)
    for parent in {one.parent for one in turns}:
        assert sum(one.is_chosen for one in turns if one.parent == parent) == 1
    assert healed(turns) == turns


def test_of_several_chosen_versions_the_newest_holds():
    turns = healed([turn(1, "a"), turn(2, "b"), turn(3, "c", is_chosen=False), turn(4, "d", 99, is_chosen=False)])
    assert [(one.id, one.parent, one.is_chosen) for one in turns] == [
        (1, None, False), (2, None, True), (3, None, False), (4, 3, True),
    ]  # fmt: skip
