"""What starts on the data folder were asked for is done in the window that is open, one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from app.process.one_window import CLOSED, Answer, FirstWindow, Request, claim_or_hand_over
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import LoadModel, LossOutcome, ModelLoaded
from engine.api.sentences import Sentence
from tests.app.fake_engine import model_facts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
PATIENCE_S = 20.0
ENVIRONMENT = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
Begin = Callable[..., list[Answer]]


@pytest.fixture
def begin(tmp_path: Path, qtbot) -> Iterator[Begin]:
    """Starts once more on the folder of a desk, which listens from the first time on; the list gets the answer."""
    threads: list[threading.Thread] = []
    firsts: list[FirstWindow] = []

    def start(desk, request: Request) -> list[Answer]:
        if not firsts:
            first = claim_or_hand_over(tmp_path, Request())
            assert isinstance(first, FirstWindow)
            firsts.append(first)
            first.listen(desk.program.starts.hear)
            desk.program.window.closing.connect(first.stop_listening)
        answers: list[Answer] = []

        def hand_over() -> None:
            answer = claim_or_hand_over(tmp_path, request, PATIENCE_S)
            assert isinstance(answer, Answer)
            answers.append(answer)

        threads.append(threading.Thread(target=hand_over))
        threads[-1].start()
        return answers

    yield start
    for first in firsts:
        first.close()
    for thread in threads:
        thread.join()


def asked(desk) -> list[str]:
    return [text for role, text in desk.say() if role == "user"]


def load(desk) -> None:
    command = desk.engine.last(LoadModel)
    desk.engine.post(ModelLoaded(command.request_id, model_facts(command.path)))


def model_at(folder: Path, name: str) -> str:
    (folder / name).touch()
    return str(folder / name)


def test_a_later_start_brings_the_window_to_the_front(start_desk, begin, qtbot):
    desk = start_desk()
    window = desk.program.window
    window.showMinimized()
    answers = begin(desk, Request())
    qtbot.waitUntil(lambda: answers != [])
    assert answers == [Answer(0)]
    assert not window.windowState() & Qt.WindowState.WindowMinimized
    assert window.isVisible()
    assert asked(desk) == []


def test_texts_go_into_a_new_chat_and_no_typed_word_is_lost(start_desk, begin, qtbot):
    desk = start_desk()
    desk.send("Mine")
    qtbot.waitUntil(lambda: desk.program.session.status.can_answer)
    mine = desk.program.chat.open_chat.head.id
    desk.type("A draft")
    answers = begin(desk, Request(texts=("One", "  ", "Two")))
    qtbot.waitUntil(lambda: asked(desk) == ["One", "Two"])
    qtbot.waitUntil(lambda: answers == [Answer(0)])
    desk.program.chats.open(mine)
    assert asked(desk) == ["Mine"]
    assert desk.program.composer.text() == "A draft"


def test_an_answer_that_is_being_written_is_not_cut_off(start_desk, begin, qtbot):
    desk = start_desk(answers_by_hand=True)
    desk.send("Mine")
    desk.engine.stream("Half")
    begin(desk, Request(texts=("One",)))
    qtbot.waitUntil(lambda: desk.say() == [])
    desk.engine.finish(text="Half")
    qtbot.waitUntil(lambda: asked(desk) == ["One"])
    desk.engine.finish(text="Yes")


def test_a_model_is_loaded_before_anything_is_sent_to_it(start_desk, begin, qtbot, tmp_path):
    desk = start_desk()
    desk.engine.loads_by_hand = True
    other = model_at(tmp_path, "Other-1B-Q4_K_M.gguf")
    begin(desk, Request(model=other, texts=("One",)))
    qtbot.waitUntil(lambda: desk.engine.last(LoadModel).path == other)
    assert asked(desk) == []
    load(desk)
    qtbot.waitUntil(lambda: asked(desk) == ["One"])
    assert desk.program.session.status.model_path == other


def test_a_model_that_is_there_is_not_loaded_again(start_desk, begin, qtbot):
    desk = start_desk()
    path = desk.program.session.status.model_path
    answers = begin(desk, Request(model=path, texts=("One",)))
    qtbot.waitUntil(lambda: asked(desk) == ["One"])
    qtbot.waitUntil(lambda: answers == [Answer(0)])
    assert len([one for one in desk.engine.sent if isinstance(one, LoadModel)]) == 1


def test_a_picture_is_there_when_the_later_start_ends(start_desk, begin, qtbot, tmp_path):
    desk = start_desk()
    picture = tmp_path / "picture.png"
    answers = begin(desk, Request(texts=("One",), screenshot=str(picture)))
    qtbot.waitUntil(lambda: answers != [])
    assert answers == [Answer(0)]
    assert QImage(str(picture)).width() >= 1000
    assert asked(desk) == ["One"]
    assert desk.program.window.isVisible()
    assert desk.program.exit_code == 0


def test_requests_are_carried_out_one_after_the_other(start_desk, begin, qtbot, tmp_path):
    desk = start_desk(answers_by_hand=True)
    one = begin(desk, Request(texts=("One",), screenshot=str(tmp_path / "1.png")))
    qtbot.waitUntil(lambda: asked(desk) == ["One"])
    two = begin(desk, Request(texts=("Two",), screenshot=str(tmp_path / "missing" / "2.png")))
    front = begin(desk, Request())
    qtbot.waitUntil(lambda: front != [])
    assert asked(desk) == ["One"]
    desk.engine.finish(text="Yes")
    qtbot.waitUntil(lambda: asked(desk) == ["Two"])
    qtbot.waitUntil(lambda: one == [Answer(0)])
    desk.engine.finish(text="Yes")
    qtbot.waitUntil(lambda: two != [])
    assert two[0].code == 1
    assert "2.png" in two[0].sentence


def ways_to_fail(desk, tmp_path) -> dict[str, Callable[[], object]]:
    return {
        "engine died": lambda: desk.engine.die(desk.engine.request.request_id, outcome=LossOutcome.GAVE_UP),
        "other chat": desk.program.chats.new_chat,
        "window closed": desk.program.window.close,
    }


@pytest.mark.parametrize("way", ["engine died", "other chat", "window closed"])
def test_a_later_start_is_told_why_it_came_to_nothing(start_desk, begin, qtbot, tmp_path, way):
    desk = start_desk(answers_by_hand=True)
    answers = begin(desk, Request(texts=("One", "Two"), screenshot=str(tmp_path / "p.png")))
    qtbot.waitUntil(lambda: asked(desk) == ["One"])
    ways_to_fail(desk, tmp_path)[way]()
    qtbot.waitUntil(lambda: answers != [])
    assert answers[0].code == 1
    assert answers[0].sentence == CLOSED if way == "window closed" else answers[0].sentence not in ("", CLOSED)


@pytest.mark.parametrize("way", ["cancelled", "another wanted", "unloaded"])
def test_a_load_that_the_person_gives_up_ends_the_wait(start_desk, begin, qtbot, tmp_path, way):
    desk = start_desk()
    desk.engine.loads_by_hand = True
    wanted, other = model_at(tmp_path, "A-1B-Q4_K_M.gguf"), model_at(tmp_path, "B-1B-Q4_K_M.gguf")
    answers = begin(desk, Request(model=wanted, texts=("One",), screenshot=str(tmp_path / "p.png")))
    qtbot.waitUntil(lambda: desk.engine.last(LoadModel).path == wanted)
    if way == "cancelled":
        desk.program.loader.cancel()
    elif way == "another wanted":
        desk.program.loader.open(other)
        qtbot.waitUntil(lambda: desk.engine.last(LoadModel).path == other)
        load(desk)
    else:
        desk.program.loader.unload()
    qtbot.waitUntil(lambda: answers != [])
    assert answers == [Answer(1, "The model was not loaded.")]
    assert asked(desk) == []


def test_a_file_that_is_no_model_is_told_of(start_desk, begin, qtbot, tmp_path, monkeypatch):
    desk = start_desk()

    def refuse(path: Path) -> None:
        raise EngineError(ErrorCode.MODEL_DAMAGED, Sentence("No model."))

    monkeypatch.setattr(desk.program.loader, "check", refuse)
    answers = begin(desk, Request(model=model_at(tmp_path, "wrong.gguf"), screenshot=str(tmp_path / "p.png")))
    qtbot.waitUntil(lambda: answers != [])
    assert answers == [Answer(1, "No model.")]
    assert desk.program.session.status.can_answer


def test_texts_without_any_model_load_the_last_one(start_desk, begin, qtbot, tmp_path):
    desk = start_desk(model=Path(model_at(tmp_path, "Tiny-1B-Q4_K_M.gguf")))
    desk.program.loader.unload()
    qtbot.waitUntil(lambda: desk.program.session.status.facts is None)
    answers = begin(desk, Request(texts=("One",), screenshot=str(tmp_path / "p.png")))
    qtbot.waitUntil(lambda: answers != [])
    assert answers == [Answer(0)]
    assert asked(desk) == ["One"]


WINDOW = """
import sys
from functools import partial
import app.run
from app.__main__ import main
from app.process.one_window import FirstWindow
from app.program import Program
from tests.app.fake_engine import FakeEngine

listen = FirstWindow.listen

def listen_and_tell(first, on_start):
    listen(first, on_start)
    print("listening", flush=True)

FirstWindow.listen = listen_and_tell
app.run.Program = partial(Program, make_engine=FakeEngine, check_model=lambda _path: None)
sys.exit(main())
"""
LATER = """
import sys
from app.__main__ import main
code = main()
assert not any(name.startswith("PySide6") for name in sys.modules)
sys.exit(code)
"""


@pytest.fixture
def open_process(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Opens a window on a fake engine in a process of its own, and waits until it listens."""
    opened: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WINDOW, "--data-dir", str(tmp_path / "data")]
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        opened.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        return process

    yield start
    for process in opened:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_processes_share_one_window_and_a_killed_one_is_in_nobodys_way(open_process, tmp_path):
    (tmp_path / "m.gguf").touch()

    def run(*arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-c", LATER, "--data-dir", "data", *arguments]
        done = subprocess.run(
            command, env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    first = open_process()
    assert run("--model", "m.gguf", "--send", "Hello", "--screenshot", "p.png") == (0, "", "")
    assert QImage(str(tmp_path / "p.png")).width() >= 1000
    exported = tmp_path / "out.json"
    exported.touch()
    # It is on its way to the disk meanwhile.
    while "Hello" not in exported.read_text("utf-8"):
        assert run("--export", "out.json") == (0, "", "")
    assert run() == (0, "", "")
    assert run("--screenshot", "missing/p.png")[0] == 1
    assert first.poll() is None
    first.kill()
    first.wait()
    second = open_process()
    second.terminate()
    assert second.wait(timeout=60) == 0
