"""What goes wrong in a thread of the window of models ends what it was for with a sentence, and the next one works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.api.errors import EngineError, ErrorCode
from engine.models import library
from engine.models.hub.downloads import DownloadState
from engine.models.hub.remote import RemoteFile, RemoteModel
from engine.models.hub.suggestions import SUGGESTIONS
from tests.app.models.conftest import MakeRoom, ModelRoom, gguf_bytes
from tests.hub_server import COMMIT

MODEL = RemoteModel("o/n", COMMIT, (RemoteFile("m.gguf", 100, None),))


class BrokenHub:
    host = "hub.example"

    def __getattr__(self, name: str) -> object:
        raise ZeroDivisionError(name)

    def __setattr__(self, name: str, value: object) -> None:
        raise ZeroDivisionError(name)


@pytest.fixture
def room(make_room: MakeRoom) -> ModelRoom:
    return make_room()


def break_hub(room: ModelRoom) -> None:
    room.hub.hub = BrokenHub  # type: ignore[method-assign, assignment]
    room.hub.queue._make_hub = BrokenHub  # type: ignore[assignment]


@pytest.mark.expected_log("a mistake in hub")
def test_a_question_that_fails_by_a_mistake_is_answered(room: ModelRoom, qtbot: QtBot) -> None:
    break_hub(room)
    for signal, ask in (
        (room.hub.failed, lambda: room.hub.ask("words")),
        (room.hub.failed, lambda: room.hub.open("o/n")),
        (room.hub.not_judged, lambda: room.hub.judge(MODEL)),
        (room.hub.suggestion_refused, lambda: room.hub.download_suggestion(SUGGESTIONS[0])),
        (room.hub.token_not_kept, lambda: room.hub.set_token("hf_x")),
    ):
        with qtbot.waitSignal(signal) as told:
            ask()
        error = told.args[-1]
        assert isinstance(error, EngineError)
        assert error.code is ErrorCode.INTERNAL
        assert "ZeroDivisionError" in error.detail


@pytest.mark.expected_log("a mistake in downloads")
@pytest.mark.expected_log("download of o/n/[mn].gguf: internal")
def test_a_download_that_fails_by_a_mistake_does_not_hold_up_the_others(room: ModelRoom, qtbot: QtBot) -> None:
    break_hub(room)
    for name in ("m.gguf", "n.gguf"):
        room.hub.queue.add(RemoteModel("o/n", COMMIT, (RemoteFile(name, 100, None),)))
    qtbot.waitUntil(lambda: [one.state for one in room.hub.queue.downloads] == [DownloadState.FAILED] * 2)
    problem = room.hub.queue.downloads[0].problem
    assert problem is not None
    assert problem.code is ErrorCode.INTERNAL


@pytest.mark.expected_log("a mistake in library")
def test_one_file_does_not_hide_the_others(room: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    room.write("good.gguf")
    room.write("odd.gguf")
    read = library.read_model_info

    def read_or_fail(path: Path) -> object:
        return read(path) if path.stem == "good" else 1 // 0

    monkeypatch.setattr(library, "read_model_info", read_or_fail)
    with qtbot.waitSignal(room.library.listed) as listed:
        room.library.look()
    good, odd = listed.args[0].models
    assert good.problem is None
    assert odd.problem.code is ErrorCode.INTERNAL


def test_a_look_that_fails_is_not_the_last(room: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[object] = []
    monkeypatch.setattr("threading.excepthook", failures.append)
    with monkeypatch.context() as broken:
        broken.setattr(library.Library, "look", lambda *_: 1 // 0)
        room.library.look()
        qtbot.waitUntil(lambda: failures != [])
    with qtbot.waitSignal(room.library.listed):
        room.library.look()


@pytest.mark.expected_log("a mistake in model-header")
def test_a_file_that_can_t_be_looked_at_is_refused(room: ModelRoom, qtbot: QtBot) -> None:
    room.loader.check = lambda path: 1 // 0
    with qtbot.waitSignal(room.loader.failed) as refused:
        room.loader.open(str(room.write("m.gguf")))
    assert refused.args[1].code is ErrorCode.INTERNAL


LARGE = int("9" * 400)


@pytest.mark.parametrize("number", [LARGE, -LARGE, 1e308, "many", None, [], {}, True], ids=lambda one: repr(one)[:5])
def test_numbers_of_a_hub_may_be_anything(room: ModelRoom, qtbot: QtBot, number: object) -> None:
    room.server.add("o/n", {"m.gguf": gguf_bytes("m")})
    described = {"id": "o/n", "sha": COMMIT, "downloads": number, "likes": number, "createdAt": number}
    siblings = [{"rfilename": "m.gguf", "size": number, "blobId": "b", "lfs": {"sha256": "0" * 64, "size": number}}]
    room.server.answer_instead = json.dumps([{**described, "lastModified": number}]).encode()
    with qtbot.waitSignal(room.hub.found) as found:
        room.hub.ask("words")
    assert 0 <= found.args[0][0].n_downloads < 1 << 60
    room.server.answer_instead = json.dumps({**described, "siblings": siblings}).encode()
    answers: list[object] = []
    room.hub.opened.connect(answers.append)
    room.hub.failed.connect(answers.append)
    room.hub.open("o/n")
    qtbot.waitUntil(lambda: answers != [])


@pytest.mark.parametrize("name", ["\ud800.gguf", "a/\udfff/m.gguf"])
def test_names_that_are_no_text_are_left_out(room: ModelRoom, qtbot: QtBot, name: str) -> None:
    siblings = [{"rfilename": one, "size": 5, "blobId": "b", "lfs": None} for one in (name, "m.gguf")]
    room.server.answer_instead = json.dumps({"id": "o/n", "sha": COMMIT, "siblings": siblings}).encode()
    with qtbot.waitSignal(room.hub.opened) as opened:
        room.hub.open("o/n")
    assert [model.name for model in opened.args[0].models] == ["m"]
