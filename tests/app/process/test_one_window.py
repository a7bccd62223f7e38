"""One window for each data folder: the first hears later starts, and nothing that is left or hangs is in their way."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Client
from pathlib import Path
from queue import SimpleQueue

import pytest

from app.process import one_window
from app.process.one_window import CLOSED, Answer, FirstWindow, LaterStart, Request, claim, claim_or_hand_over
from app.process.options import parse

PATIENCE_S = 20.0
HASTE_S = 0.2
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills and sockets are those of Unix")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Callable[[], FirstWindow]]:
    """Claims the data folder, which must work."""
    owners: list[FirstWindow] = []

    def make() -> FirstWindow:
        first = claim_or_hand_over(tmp_path / "data", Request(), PATIENCE_S)
        assert isinstance(first, FirstWindow)
        owners.append(first)
        return first

    yield make
    for first in owners:
        first.close()


class Later:
    """A start after the first, in a thread; ``result`` is what came of it."""

    def __init__(self, folder: Path, request: Request, patience_s: float = PATIENCE_S) -> None:
        self._results: SimpleQueue[FirstWindow | Answer] = SimpleQueue()
        do = lambda: self._results.put(claim_or_hand_over(folder, request, patience_s))  # noqa: E731
        self._thread = threading.Thread(target=do)
        self._thread.start()

    def result(self) -> FirstWindow | Answer:
        found = self._results.get(timeout=PATIENCE_S)
        self._thread.join()
        return found


def carries_out(start: LaterStart) -> None:
    assert start.accept()
    start.end(Answer(0))


def test_a_later_start_hands_over_what_it_was_asked_for(own, tmp_path):
    heard: list[Request] = []
    asked = Request("/a/B\udcff.gguf", ("One", "zwei ☃"), "/tmp/p.png", "token")
    own().listen(lambda start: (heard.append(start.request), carries_out(start)))
    for _ in range(3):
        assert claim_or_hand_over(tmp_path / "data", asked, PATIENCE_S) == Answer(0)
    assert heard == [asked] * 3


def test_relative_paths_are_those_of_the_later_start(tmp_path, monkeypatch):
    (tmp_path / "m.gguf").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "token")
    asked = parse(["m.gguf", "--screenshot", "p.png", "--send", "a", "--send", "b"]).request()
    assert asked == Request(str(tmp_path / "m.gguf"), ("a", "b"), str(tmp_path / "p.png"), "token")


def test_a_long_request_arrives_whole(own, tmp_path):
    heard: list[Request] = []
    asked = Request(texts=("\x01" * 120_000,) * 15)
    own().listen(lambda start: (heard.append(start.request), carries_out(start)))
    assert claim_or_hand_over(tmp_path / "data", asked, PATIENCE_S) == Answer(0)
    assert heard == [asked]


def test_a_picture_is_waited_for_and_its_exit_code_handed_back(own, tmp_path):
    starts: SimpleQueue[LaterStart] = SimpleQueue()
    own().listen(starts.put)
    later = Later(tmp_path / "data", Request(screenshot="/p.png"), patience_s=5.0)
    start = starts.get(timeout=PATIENCE_S)
    start.accept()
    # Another one is heard meanwhile.
    other = Later(tmp_path / "data", Request())
    carries_out(starts.get(timeout=PATIENCE_S))
    assert other.result() == Answer(0)
    start.end(Answer(1, "No picture."))
    assert later.result() == Answer(1, "No picture.")


def test_a_window_that_hangs_is_told_of_and_does_not_do_it_later(own, tmp_path):
    starts: SimpleQueue[LaterStart] = SimpleQueue()
    own().listen(starts.put)
    answer = claim_or_hand_over(tmp_path / "data", Request(texts=("a",)), HASTE_S)
    assert isinstance(answer, Answer)
    assert answer.code == 1
    assert str(tmp_path / "data") in answer.sentence
    # In a process of its own the end of it closes the connection; here the thread that waits still has it.
    starts.get(timeout=PATIENCE_S).drop()


def test_who_has_gone_is_not_served_any_more(own, tmp_path):
    starts: SimpleQueue[LaterStart] = SimpleQueue()
    own().listen(starts.put)
    words = (
        "import os, sys; from pathlib import Path; from app.process.one_window import Request, claim_or_hand_over\n"
        f"print(claim_or_hand_over(Path(sys.argv[1]), Request(), {HASTE_S}).code, flush=True); os._exit(3)"
    )
    done = subprocess.run(
        [sys.executable, "-c", words, str(tmp_path / "data")], capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout) == (3, b"1\n")
    start = starts.get(timeout=PATIENCE_S)
    assert not start.accept()
    start.drop()


def test_who_calls_while_the_window_closes_becomes_the_first(own, tmp_path):
    starts: SimpleQueue[LaterStart] = SimpleQueue()
    first = own()
    first.listen(starts.put)
    later = Later(tmp_path / "data", Request())
    starts.get(timeout=PATIENCE_S)
    # Heard, and not accepted: nobody is there any more to do it.
    first.stop_listening()
    assert claim(tmp_path / "data") is None
    first.close()
    second = later.result()
    assert isinstance(second, FirstWindow)
    second.listen(carries_out)
    assert claim_or_hand_over(tmp_path / "data", Request(), PATIENCE_S) == Answer(0)
    second.close()


def test_a_picture_that_is_not_there_when_the_window_closes_is_told_of(own, tmp_path):
    starts: SimpleQueue[LaterStart] = SimpleQueue()
    first = own()
    first.listen(starts.put)
    later = Later(tmp_path / "data", Request(screenshot="/p.png"))
    start = starts.get(timeout=PATIENCE_S)
    start.accept()
    first.close()
    assert later.result() == Answer(1, CLOSED)
    start.end(Answer(0))


@pytest.mark.parametrize("_number", range(8))
def test_of_starts_at_the_same_moment_one_is_the_first(tmp_path, _number):
    gate = threading.Barrier(4)
    results: SimpleQueue[FirstWindow | Answer] = SimpleQueue()

    def start() -> None:
        gate.wait()
        found = claim_or_hand_over(tmp_path, Request(), PATIENCE_S)
        if isinstance(found, FirstWindow):
            found.listen(carries_out)
        results.put(found)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [results.get() for _ in threads]
    (first,) = [one for one in found if isinstance(one, FirstWindow)]
    assert [one for one in found if one is not first] == [Answer(0)] * 3
    first.close()


OWN = """
import sys; from pathlib import Path; from app.process.one_window import Answer, Request, claim_or_hand_over
first = claim_or_hand_over(Path(sys.argv[1]), Request())
first.listen(lambda start: (start.accept(), start.end(Answer(7))))
print("listening", flush=True); sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that owns the data folder."""
    command = [sys.executable, "-c", OWN, str(tmp_path / "data")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield process
        process.kill()


def test_what_a_killed_window_leaves_is_in_nobodys_way(other, own, tmp_path):
    assert claim_or_hand_over(tmp_path / "data", Request(), PATIENCE_S) == Answer(7)
    other.kill()
    other.wait()
    assert (tmp_path / "data" / one_window.ADDRESS).exists()
    own().listen(carries_out)
    assert address(tmp_path / "data") == str(tmp_path / "data" / one_window.SOCKET)
    assert claim_or_hand_over(tmp_path / "data", Request(), PATIENCE_S) == Answer(0)


def test_a_process_that_is_stopped_is_not_waited_for_without_end(other, tmp_path):
    other.send_signal(signal.SIGSTOP)
    answer = claim_or_hand_over(tmp_path / "data", Request(), HASTE_S)
    assert isinstance(answer, Answer)
    assert answer.code == 1
    other.send_signal(signal.SIGCONT)


def test_an_address_that_makes_no_sense_is_none(own, tmp_path):
    first = own()
    for nonsense in (b"", b"{", b"[]", b"\xff" * 100, b"[" * 100_000, b'{"address": 5, "key": "00"}'):
        (tmp_path / "data" / one_window.ADDRESS).write_bytes(nonsense)
        answer = claim_or_hand_over(tmp_path / "data", Request(), 0.0)
        assert isinstance(answer, Answer)
        assert answer.code == 1
    first.close()
    own()


def address(folder: Path) -> str:
    return str(json.loads((folder / one_window.ADDRESS).read_bytes())["address"])


def test_strangers_are_not_heard_and_hold_up_nobody(own, tmp_path):
    heard: list[Request] = []
    own().listen(lambda start: (heard.append(start.request), carries_out(start)))
    where = address(tmp_path / "data")
    with socket.socket(socket.AF_UNIX) as silent, socket.socket(socket.AF_UNIX) as endless:
        silent.connect(where)
        endless.connect(where)
        # The length of a message of 1 GB, and the beginning of it.
        endless.sendall(struct.pack("!i", 1 << 30) + b"x" * 10_000)
        with socket.socket(socket.AF_UNIX) as garbage:
            garbage.connect(where)
            garbage.sendall(os.urandom(5000))
        with Client(where, one_window.FAMILY) as keyless:
            keyless.recv_bytes()
            keyless.send_bytes(b'{"model": null, "texts": [], "screenshot": null, "activation": null}')
            assert keyless.recv_bytes() == b"#FAILURE#"
        assert claim_or_hand_over(tmp_path / "data", Request("/m.gguf"), PATIENCE_S) == Answer(0)
    assert [request.model for request in heard] == ["/m.gguf"]


def test_whoever_has_the_key_may_still_talk_nonsense(own, tmp_path):
    own().listen(carries_out)
    key = bytes.fromhex(json.loads((tmp_path / "data" / one_window.ADDRESS).read_bytes())["key"])
    for nonsense in (b"", b"{}", b"[", b'{"model": null, "texts": 5, "screenshot": null, "activation": null}'):
        with Client(address(tmp_path / "data"), one_window.FAMILY, authkey=key) as connection:
            connection.send_bytes(nonsense)
            with pytest.raises(EOFError):
                connection.recv_bytes()
    assert claim_or_hand_over(tmp_path / "data", Request(), PATIENCE_S) == Answer(0)


def test_only_this_user_can_read_the_key(own, tmp_path):
    own().listen(carries_out)
    assert stat.S_IMODE((tmp_path / "data" / one_window.ADDRESS).stat().st_mode) == 0o600


def test_a_path_that_is_too_long_for_a_socket_has_one_elsewhere(tmp_path):
    folder = tmp_path / ("long" * 50)
    first = claim(folder)
    assert first is not None
    first.listen(carries_out)
    assert claim_or_hand_over(folder, Request(), PATIENCE_S) == Answer(0)
    first.close()


@pytest.mark.expected_log("later starts can't be heard")
def test_a_folder_that_cant_be_written_to_belongs_to_anybody(tmp_path):
    (tmp_path / "file").touch()
    both = [claim_or_hand_over(tmp_path / "file" / "data", Request()) for _ in range(2)]
    for first in both:
        assert isinstance(first, FirstWindow)
        first.listen(carries_out)
        first.close()


def test_a_folder_that_is_let_go_keeps_no_address(own, tmp_path):
    first = own()
    first.listen(carries_out)
    first.close()
    first.close()
    assert [path.name for path in (tmp_path / "data").iterdir()] == [one_window.LOCK]
    own()
