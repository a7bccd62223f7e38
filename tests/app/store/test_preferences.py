"""The preferences file: what is kept, and what happens to one that makes no sense."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.preferences import MAX_RECENT, Preferences, RecentModel
from app.store.preferences_store import MAX_FILE_BYTES, PreferencesStore, Problem, ProblemKind
from app.store.setup import Setup
from engine.api.settings import LoadSettings, Policy, PolicySettings, SamplingSettings

CHANGED = Preferences(
    theme="dark",
    text_scale=1.25,
    accent="teal",
    language="zh_CN",
    window_geometry="AAAA",
    window_state="BBBB",
    last_model="/models/一.gguf",
    recent_models=(RecentModel("/models/一.gguf", "One", "Q8_0", 123),),
    model_folders=("/big/模型", "/other"),
    system_prompt="Answer briefly.\nAlways.",
    sampling=SamplingSettings(temperature=0.0, seed=7, max_tokens=64),
    log_folder="/logs",
    setups={"/models/一.gguf": Setup(LoadSettings(n_ctx=512))},
    policies={"/models/two.gguf": PolicySettings(policy=Policy.STOP)},
)


def store_of(path: Path) -> tuple[PreferencesStore, list[Problem]]:
    problems: list[Problem] = []
    return PreferencesStore(path, problems.append), problems


def test_without_a_file_the_defaults_hold(tmp_path):
    store, problems = store_of(tmp_path / "none.json")
    assert store.load() == Preferences()
    assert not problems


def test_everything_comes_back(tmp_path):
    path = tmp_path / "deep" / "preferences.json"
    store, problems = store_of(path)
    store.set(CHANGED)
    again, more = store_of(path)
    assert again.load() == CHANGED
    assert not problems + more
    assert json.loads(path.read_text("utf-8"))["version"] == 1
    assert "一.gguf" in path.read_text("utf-8"), "people read this file"
    assert [entry.name for entry in path.parent.iterdir()] == ["preferences.json"], "no temporary file is left"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\0" * 64,
        b"\xff\xfe",
        b'{"version": true}',
        b'{"version": "1"}',
        b"[" * 100_000,
        b'{"version": 1}' + b" " * MAX_FILE_BYTES,
    ],
)
def test_a_damaged_file_is_put_aside(tmp_path, content):
    path = tmp_path / "preferences.json"
    path.write_bytes(content)
    store, problems = store_of(path)
    assert store.load() == Preferences()
    assert [problem.kind for problem in problems] == [ProblemKind.DAMAGED]
    assert problems[0].kept_as == tmp_path / "preferences.json.damaged-1"
    assert problems[0].kept_as.read_bytes() == content
    store.update(theme="dark")
    assert store_of(path)[0].load().theme == "dark"


def test_each_damaged_file_is_kept(tmp_path):
    path = tmp_path / "preferences.json"
    for _ in range(3):
        path.write_text("{")
        store_of(path)[0].load()
    kept = sorted(entry.name for entry in tmp_path.iterdir())
    assert kept == [f"preferences.json.damaged-{n}" for n in (1, 2, 3)]


def test_a_file_from_the_future_is_put_aside_whole(tmp_path):
    path = tmp_path / "preferences.json"
    path.write_text('{"version": 2, "appearance": {"theme": "dark"}}')
    store, problems = store_of(path)
    assert store.load() == Preferences()
    assert problems[0].kind is ProblemKind.FROM_THE_FUTURE
    assert problems[0].kept_as is not None


def test_wrong_values_alone_fall_back(tmp_path):
    path = tmp_path / "preferences.json"
    content = {
        "version": 1,
        "appearance": {"theme": "pink", "text_scale": "big", "accent": "rose", "language": 7},
        "window": [],
        "models": {
            "last": 3,
            "folders": ["/a", 5],
            "recent": [{"path": "/a.gguf", "size_bytes": -1}, 5, {"path": "/nul\0.gguf"}],
        },
        "chat": {"system_prompt": "Kept.", "sampling": {"temperature": 99, "top_k": 7}},
    }
    path.write_text(json.dumps(content))
    store, problems = store_of(path)
    found = store.load()
    assert found.accent == "rose"
    assert found.system_prompt == "Kept."
    assert found.sampling == SamplingSettings(top_k=7)
    assert found.recent_models == (RecentModel("/a.gguf"),)
    assert (
        replace(found, accent="blue", system_prompt="", sampling=SamplingSettings(), recent_models=()) == Preferences()
    )
    assert [problem.kind for problem in problems] == [ProblemKind.WRONG_VALUES]
    assert json.loads(problems[0].kept_as.read_text()) == content


@pytest.mark.parametrize(("value", "kept"), [("half a pair: \ud800", "half a pair: \ufffd"), ("nul: \0", "")])
def test_texts_that_could_not_be_written_again_are_made_valid_or_refused(tmp_path, value, kept):
    path = tmp_path / "preferences.json"
    path.write_text(json.dumps({"version": 1, "chat": {"system_prompt": value}}))
    store, _ = store_of(path)
    assert store.load().system_prompt == kept


def test_a_model_whose_path_is_no_text_does_not_keep_the_others_from_being_written(tmp_path):
    store, problems = store_of(tmp_path / "preferences.json")
    store.update(recent_models=(RecentModel("/models/caf\udce9.gguf"),), theme="dark")
    again, _ = store_of(tmp_path / "preferences.json")
    assert again.load().theme == "dark"
    assert problems == []


@pytest.mark.parametrize("number", ["1" + "0" * 400, "9" * 5000, "1e999", "-1e999", "NaN", "Infinity", "true"])
def test_a_number_beyond_every_number_is_refused_alone(tmp_path, number):
    path = tmp_path / "preferences.json"
    setup = f'{{"path": "/a.gguf", "load": {{"n_ctx": {number}, "n_batch": 256}}, "policy": {{"n_sink": {number}}}}}'
    path.write_text(
        f'{{"version": 1, "appearance": {{"text_scale": {number}, "theme": "dark"}}, "tiers": {{"ram_gib": {number}}},'
        f'"models": {{"recent": [{{"path": "/a.gguf", "size_bytes": {number}}}]}},'
        f'"chat": {{"sampling": {{"temperature": {number}, "seed": {number}, "top_k": 7}}}}, "setups": [{setup}]}}'
    )
    store, problems = store_of(path)
    found = store.load()
    assert [problem.kind for problem in problems] == [ProblemKind.WRONG_VALUES]
    assert (found.theme, found.text_scale, found.sampling) == ("dark", 1.0, SamplingSettings(top_k=7))
    assert found.setups["/a.gguf"].load.n_ctx == Preferences().setup(None).load.n_ctx
    assert found.setups["/a.gguf"].load.n_batch == 256
    assert found.recent_models == (RecentModel("/a.gguf"),)


def test_where_nothing_can_be_written_changes_hold_and_it_is_told_once(tmp_path):
    store, problems = store_of(tmp_path / "file" / "preferences.json")
    store.load()
    (tmp_path / "file").write_text("in the way of a folder")
    store.update(theme="dark")
    store.update(theme="light")
    assert store.current.theme == "light"
    assert [problem.kind for problem in problems] == [ProblemKind.NOT_SAVED]


def test_an_unreadable_file_is_left_alone(tmp_path):
    path = tmp_path / "preferences.json"
    path.mkdir()
    store, problems = store_of(path)
    assert store.load() == Preferences()
    assert problems[0].kind is ProblemKind.UNREADABLE
    store.update(theme="dark")
    assert path.is_dir()
    assert store.current.theme == "dark"


def test_recent_models_are_few_and_each_once():
    preferences = Preferences()
    for n in range(30):
        preferences = preferences.with_recent(RecentModel(f"/{n % 15}.gguf"))
    assert len(preferences.recent_models) == MAX_RECENT
    assert preferences.recent_models[0].path == preferences.last_model == "/14.gguf"
    assert len({model.path for model in preferences.recent_models}) == MAX_RECENT


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["version", "appearance", "theme", "text_scale", "models", "recent", "path", "chat", "sampling", "seed"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_no_json_value_stops_the_start(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("fuzz") / "preferences.json"
    content = {**value, "version": 1} if isinstance(value, dict) else value
    path.write_text(json.dumps(content))
    store, _ = store_of(path)
    found = store.load()
    store.update(theme="dark" if found.theme != "dark" else "light")
    assert store_of(path)[0].load() == store.current
