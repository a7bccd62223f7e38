"""Chats on the real engine: kept, exported, and reused where they are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.link.status import EngineState
from app.process.logs import close_logs
from app.process.options import Options
from app.program import Program
from app.store.preferences import Preferences
from app.store.preferences_store import PreferencesStore
from app.transcript.turns import Action
from engine.api.errors import EngineError
from engine.api.settings import SamplingSettings
from engine.models.starter import starter_path

pytestmark = [pytest.mark.e2e, pytest.mark.qt_log_ignore("This plugin does not support", extend=True)]

TEXT = "The cells of a cache hold what was read before. " * 10


@pytest.fixture(scope="module")
def starter() -> Path:
    try:
        return starter_path()
    except EngineError as error:
        pytest.skip(error.message)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "app", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_what_was_said_is_exported_by_the_command_line(starter, tmp_path):
    data, picture, out = tmp_path / "data", tmp_path / "x.png", tmp_path / "chats.json"
    chosen = Preferences(sampling=SamplingSettings(temperature=0.0, max_tokens=12))
    PreferencesStore(data / "preferences.json", lambda problem: pytest.fail(str(problem))).set(chosen)
    said = run(
        "--data-dir", str(data), "--model", str(starter), "--send", "Name a colour.", "--screenshot", str(picture)
    )
    assert (said.returncode, said.stderr) == (0, "")
    exported = run("--data-dir", str(data), "--export", str(out))
    assert (exported.returncode, exported.stdout, exported.stderr) == (0, "", "")
    (chat,) = json.loads(out.read_text("utf-8"))["chats"]
    question, answer = chat["turns"]
    assert chat["title"] == "Name a colour"
    assert question["text"] == "Name a colour."
    assert (answer["state"], answer["model"]) == ("done", str(starter))
    assert len(answer["token_ids"]) == answer["stats"]["n_generated"] > 0


def test_another_answer_and_another_chat_cost_only_what_is_new(qapp, qtbot, starter, tmp_path):
    chosen = Preferences(system_prompt=TEXT, sampling=SamplingSettings(temperature=0.0, max_tokens=12))
    PreferencesStore(tmp_path / "preferences.json", lambda problem: pytest.fail(str(problem))).set(chosen)
    program = Program(qapp, Options(starter, tmp_path, None, ()))
    try:
        program.show()

        def say(do) -> None:
            qtbot.waitUntil(lambda: program.session.status.state is EngineState.READY, timeout=60_000)
            with qtbot.waitSignal(program.chat.answer_ended, timeout=60_000):
                do()

        say(lambda: program.chat.send("Hello"))
        first = program.chat.conversation.last
        answer = program.transcript.turns[-1]
        say(lambda: program.transcript.action_requested.emit(answer.id, Action.REGENERATE))
        again = program.chat.conversation.last
        assert again.stats.n_fed <= 1
        assert program.chat.conversation.version_of(again.id) == (2, 2)
        assert program.chat.conversation.turn(first.id) is not None
        program.actions["new_chat"].trigger()
        say(lambda: program.chat.send("Hello"))
        assert program.chat.conversation.last.stats.n_reused > 100, "the system prompt is the same"
    finally:
        program.window.close()
        program.close()
        program.window.deleteLater()
        close_logs()


def test_a_chat_that_is_opened_is_in_the_cache_before_anything_is_sent(qapp, qtbot, starter, tmp_path):
    chosen = Preferences(system_prompt="", sampling=SamplingSettings(temperature=0.0, max_tokens=12))
    PreferencesStore(tmp_path / "preferences.json", lambda problem: pytest.fail(str(problem))).set(chosen)

    def say(program: Program, text: str) -> None:
        qtbot.waitUntil(lambda: program.session.status.state is EngineState.READY, timeout=60_000)
        with qtbot.waitSignal(program.chat.answer_ended, timeout=60_000):
            program.chat.send(text)

    def go_to(program: Program, chat_id: str) -> int:
        """Open a chat and wait for its cells."""
        program.chats.open(chat_id)
        usage = lambda: program.cache_panel.facts.usage  # noqa: E731
        qtbot.waitUntil(lambda: usage() is not None and usage().chat_id == chat_id, timeout=10_000)
        return usage().n_used

    def close(program: Program) -> None:
        program.window.close()
        program.close()
        program.window.deleteLater()
        close_logs()

    program = Program(qapp, Options(starter, tmp_path, None, ()))
    try:
        program.show()
        say(program, TEXT + "What do they hold?")
        first, n_first = program.chat.open_chat.head.id, program.cache_panel.facts.usage.n_used
        program.actions["new_chat"].trigger()
        say(program, "Tell me of the sea. " * 10)
        second, cost = program.chat.open_chat.head.id, program.cache_panel.facts.stats
        assert go_to(program, first) == n_first
        assert program.cache_panel.facts.stats == cost, "nothing was asked"
        assert go_to(program, second) != n_first
        assert go_to(program, first) == n_first
        say(program, "And now?")
        stats = program.chat.conversation.last.stats
        assert stats.n_reused == n_first
        n_now = program.cache_panel.facts.usage.n_used
    finally:
        close(program)
    again = Program(qapp, Options(starter, tmp_path, None, ()))
    try:
        again.show()
        assert go_to(again, first) == n_now
        say(again, "And then?")
        assert again.chat.conversation.last.stats.n_reused == n_now
    finally:
        close(again)
