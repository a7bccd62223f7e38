"""Two windows at the same models: neither damages what the other brings, nor forgets it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.disk.file_lock import file_lock
from engine.models.hub import transfer
from engine.models.hub.client import Hub
from engine.models.hub.downloads import DownloadState
from engine.models.hub.remote import Reference, RemoteModel
from tests.engine.models.hub.download_room import CONTENT, PATIENCE_S, OpenQueue, fetch, files_in
from tests.hub_server import HubServer


def test_two_windows_do_not_write_one_file(server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path) -> None:
    server.gate = threading.Event()
    path: list[Path] = []
    first = threading.Thread(target=lambda: path.append(fetch(hub, model, tmp_path)))
    first.start()
    assert server.reached_gate.wait(PATIENCE_S)
    with pytest.raises(EngineError) as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code is ErrorCode.DOWNLOAD_ELSEWHERE
    transfer.delete_parts(tmp_path, model)
    server.gate.set()
    first.join()
    assert path[0].read_bytes() == CONTENT
    assert files_in(tmp_path) == ["o/n/m.gguf"]
    assert fetch(hub, model, tmp_path) == path[0]


def test_a_killed_window_locks_nobody_out(hub: Hub, model: RemoteModel, tmp_path: Path) -> None:
    lock = tmp_path / "o" / "n" / "m.gguf.lock"
    lock.parent.mkdir(parents=True)
    words = "import pathlib, sys; from engine.disk.file_lock import file_lock"
    hold = f"{words}\nwith file_lock(pathlib.Path(sys.argv[1])) as held: print(held, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        with pytest.raises(EngineError):
            fetch(hub, model, tmp_path)
        other.kill()
    assert lock.exists()
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT


def test_a_lock_that_is_let_go_just_now_is_taken_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    before = contextlib.ExitStack()
    assert before.enter_context(file_lock(path))
    open_file = os.open

    def open_just_before_it_goes(*arguments: Any) -> int:
        descriptor = open_file(*arguments)
        before.close()
        return descriptor

    monkeypatch.setattr(os, "open", open_just_before_it_goes)
    with file_lock(path) as is_ours:
        assert is_ours
        with file_lock(path) as is_taken_twice:
            assert not is_taken_twice
    assert not path.exists()


def test_two_windows_keep_each_other_s_downloads(
    open_queue: OpenQueue, server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    other = next(model for model in hub.repo(Reference("o/n")).models if model.name == "s")
    server.gate = threading.Event()
    first, watcher = open_queue()
    first.add(model)
    assert server.reached_gate.wait(PATIENCE_S)
    second, heard = open_queue()
    second.start()
    problem = heard.wait_for(DownloadState.FAILED).problem
    assert problem is not None
    assert problem.code is ErrorCode.DOWNLOAD_ELSEWHERE
    second.add(other)
    second.pause(other.key)
    heard.wait_for(DownloadState.PAUSED, 1)
    third, _ = open_queue()
    assert {(one.key, one.state) for one in third.downloads} == {
        (model.key, DownloadState.WAITING),
        (other.key, DownloadState.PAUSED),
    }
    server.gate.set()
    watcher.wait_for(DownloadState.DONE)
    second.resume(model.key)
    assert heard.wait_for(DownloadState.DONE).path is not None
    second.remove(other.key)
    assert open_queue()[0].downloads == ()
