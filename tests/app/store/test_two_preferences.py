"""Two windows with one preferences file: what each of them changes is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.kept_values import MAX_KEPT, with_changes
from app.store.preferences import MAX_RECENT, Preferences, RecentModel
from app.store.preferences_store import PreferencesStore
from app.store.setup import Setup
from engine.api.settings import LoadSettings, SamplingSettings


def window_on(path: Path) -> PreferencesStore:
    store = PreferencesStore(path, lambda problem: pytest.fail(str(problem)))
    store.load()
    return store


def kept(path: Path) -> Preferences:
    return window_on(path).current


def test_each_keeps_what_it_changed(tmp_path):
    path = tmp_path / "preferences.json"
    one, two = window_on(path), window_on(path)
    one.update(theme="dark", sampling=SamplingSettings(temperature=0.1))
    two.update(text_scale=1.5)
    one.update(language="zh_CN")
    found = kept(path)
    assert (found.theme, found.text_scale, found.language) == ("dark", 1.5, "zh_CN")
    assert found.sampling.temperature == 0.1
    assert (one.current.text_scale, two.current.theme) == (1.0, "system"), "each goes on as it was"


def test_of_the_same_thing_the_last_change_holds(tmp_path):
    path = tmp_path / "preferences.json"
    one, two = window_on(path), window_on(path)
    one.update(theme="dark")
    two.update(theme="light")
    assert kept(path).theme == "light"


def test_models_and_presets_of_both_are_there(tmp_path):
    path = tmp_path / "preferences.json"
    first = window_on(path)
    first.set(first.current.with_preset("Old", Setup()).with_recent(RecentModel("/old.gguf")))
    one, two = window_on(path), window_on(path)
    one.set(one.current.with_setup("/a.gguf", Setup(LoadSettings(n_ctx=512))).with_recent(RecentModel("/a.gguf")))
    two.set(two.current.with_setup("/b.gguf", Setup(LoadSettings(n_ctx=1024))).with_recent(RecentModel("/b.gguf")))
    two.set(two.current.with_preset("Mine", Setup()).without_preset("Old").without_recent("/old.gguf"))
    found = kept(path)
    assert {path: setup.load.n_ctx for path, setup in found.setups.items()} == {"/a.gguf": 512, "/b.gguf": 1024}
    assert list(found.presets) == ["Mine"]
    assert [model.path for model in found.recent_models] == ["/b.gguf", "/a.gguf"]


def test_a_file_that_was_spoilt_meanwhile_is_written_anew(tmp_path):
    path = tmp_path / "preferences.json"
    one = window_on(path)
    one.update(theme="dark")
    path.write_text('{"version": 1, "appearance": [')
    one.update(text_scale=1.5)
    assert (kept(path).theme, kept(path).text_scale) == ("dark", 1.5)


some = st.builds(
    Preferences,
    theme=st.sampled_from(["system", "light", "dark"]),
    recent_models=st.lists(
        st.builds(RecentModel, st.sampled_from("abcdef")), max_size=MAX_RECENT, unique_by=lambda model: model.path
    ).map(tuple),
    setups=st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([Setup(), Setup(LoadSettings(n_ctx=512))])),
)


@given(some, some, some)
def test_what_this_window_changed_is_always_there(theirs, before, after):
    merged = with_changes(theirs, before, after)
    if after.theme != before.theme:
        assert merged.theme == after.theme
    else:
        assert merged.theme == theirs.theme
    for key in {*before.setups, *after.setups, *theirs.setups}:
        is_changed = before.setups.get(key) != after.setups.get(key)
        assert merged.setups.get(key) == (after if is_changed else theirs).setups.get(key)
    assert len(merged.setups) <= MAX_KEPT
    assert set(after.recent_models) <= set(merged.recent_models) or after.recent_models == before.recent_models
