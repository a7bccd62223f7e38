"""The downloads' promises: resumed and never begun anew, checked before they get their name, and no state that lies."""

from __future__ import annotations

import itertools
import json
import threading
import time
from pathlib import Path

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.hub import transfer
from engine.models.hub.client import Hub
from engine.models.hub.downloads import DownloadState
from engine.models.hub.remote import Reference, RemoteFile, RemoteModel
from engine.models.hub.transfer import Progress
from tests.engine.models.hub.download_room import CONTENT, OTHER, PATIENCE_S, OpenQueue, fetch, files_in, stop_half_way
from tests.hub_server import COMMIT, HubServer

# --- one transfer ---


def test_a_whole_model(hub: Hub, model: RemoteModel, tmp_path: Path) -> None:
    reports: list[Progress] = []
    path = fetch(hub, model, tmp_path, reports)
    assert path == tmp_path / "o" / "n" / "m.gguf"
    assert path.read_bytes() == CONTENT
    assert files_in(tmp_path) == ["o/n/m.gguf"]
    done = [progress.n_done for progress in reports]
    assert done == sorted(done)
    assert done[-1] == len(CONTENT)


def test_shards(hub: Hub, tmp_path: Path) -> None:
    model = next(model for model in hub.repo(Reference("o/n")).models if model.name == "s")
    reports: list[Progress] = []
    first = fetch(hub, model, tmp_path, reports)
    assert first.name == "s-00001-of-00002.gguf"
    assert first.with_name("s-00002-of-00002.gguf").read_bytes() == OTHER
    assert {progress.n_total for progress in reports} == {2 * len(CONTENT)}
    assert reports[-1].n_done == 2 * len(CONTENT)


def test_cut_connections_cost_nothing_twice(server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path) -> None:
    server.cut_after = [1_000_000, 500, 2_000_000]
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    ends = [0, 1_000_000, 1_000_500, 3_000_500, len(CONTENT)]
    assert server.ranges == list(itertools.pairwise(ends))


def test_a_server_that_always_cuts_is_given_up(server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path) -> None:
    server.cut_after = [0] * 10
    with pytest.raises(EngineError) as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code is ErrorCode.HUB_UNREACHABLE
    assert not (tmp_path / "o" / "n" / "m.gguf").exists()


def test_a_hub_that_wants_a_long_pause_is_not_asked_again(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    server.status, server.status_headers = 429, {"Retry-After": "61"}
    server.requests.clear()
    with pytest.raises(EngineError) as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code is ErrorCode.HUB_BUSY
    assert len(server.requests) == 1


def test_a_hub_that_wants_a_short_pause_gets_it(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    server.status, server.status_headers, server.n_refused = 429, {"Retry-After": "1"}, 1
    began = time.monotonic()
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    assert time.monotonic() - began >= 1


def test_without_ranges_the_rest_is_still_right(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    server.cut_after = [1_500_000]
    server.knows_ranges = False
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("tells_digests", [True, False])
@pytest.mark.parametrize("content", [OTHER, CONTENT + b"more"])
def test_other_content_never_gets_the_name(
    server: HubServer, hub: Hub, tmp_path: Path, content: bytes, tells_digests: bool
) -> None:
    server.tells_digests = tells_digests
    model = hub.repo(Reference("o/n", file="m.gguf")).models[0]
    server.content_instead = content
    with pytest.raises(EngineError) as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code is ErrorCode.DOWNLOAD_DAMAGED
    assert files_in(tmp_path) == []


def test_what_is_there_already_is_checked_and_kept(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    path = fetch(hub, model, tmp_path)
    server.ranges.clear()
    fetch(hub, model, tmp_path)
    assert server.ranges == []
    path.write_bytes(OTHER)
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT


def test_the_disk_is_asked_first(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "SPARE_BYTES", 1 << 60)
    with pytest.raises(EngineError) as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code is ErrorCode.DISK_FULL
    assert server.ranges == []


def test_a_folder_that_can_t_be_written(hub: Hub, model: RemoteModel, tmp_path: Path) -> None:
    (tmp_path / "o").write_text("a file where a folder should be")
    with pytest.raises(EngineError) as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code is ErrorCode.DISK_FAILED


def test_a_stopped_transfer_goes_on_where_it_was(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    there = stop_half_way(hub, model, tmp_path)
    assert 0 < there < len(CONTENT)
    server.requests.clear()
    reports: list[Progress] = []
    assert fetch(hub, model, tmp_path, reports).read_bytes() == CONTENT
    assert {headers["Range"] for _, headers in server.requests} == {f"bytes={there}-"}
    assert any(progress.is_checking for progress in reports)


# --- the queue ---


def test_several_one_after_the_other(open_queue: OpenQueue, hub: Hub, server: HubServer, tmp_path: Path) -> None:
    queue, watcher = open_queue()
    for model in hub.repo(Reference("o/n")).models:
        queue.add(model)
    watcher.wait(lambda all_: len(all_) == 2 and all(one.state is DownloadState.DONE for one in all_))
    for downloads in watcher.heard:
        assert sum(one.state in (DownloadState.RUNNING, DownloadState.CHECKING) for one in downloads) <= 1
        for one in downloads:
            assert 0 <= one.n_done <= one.n_total
            assert one.bytes_per_second is None or one.bytes_per_second > 0
            assert one.seconds_left is None or one.seconds_left >= 0
    assert [one.path.name for one in queue.downloads if one.path] == ["m.gguf", "s-00001-of-00002.gguf"]


def test_pause_and_resume(open_queue: OpenQueue, server: HubServer, model: RemoteModel) -> None:
    server.gate = threading.Event()
    queue, watcher = open_queue()
    queue.add(model)
    assert server.reached_gate.wait(PATIENCE_S)
    queue.pause(model.key)
    assert watcher.wait_for(DownloadState.PAUSED).bytes_per_second is None
    server.gate.set()
    queue.resume(model.key)
    assert watcher.wait_for(DownloadState.DONE).path is not None


def test_a_restart_goes_on(open_queue: OpenQueue, server: HubServer, model: RemoteModel, tmp_path: Path) -> None:
    server.gate = threading.Event()
    queue, _ = open_queue()
    queue.add(model)
    assert server.reached_gate.wait(PATIENCE_S)
    queue.close()
    server.gate.set()
    again, watcher = open_queue()
    assert [one.state for one in again.downloads] == [DownloadState.WAITING]
    again.start()
    done = watcher.wait_for(DownloadState.DONE)
    assert done.path is not None
    assert done.path.read_bytes() == CONTENT
    third, _ = open_queue()
    assert third.downloads == ()


def test_closing_does_not_wait_for_a_server_that_does_not_answer(
    open_queue: OpenQueue, server: HubServer, model: RemoteModel
) -> None:
    server.gate = threading.Event()
    queue, _ = open_queue()
    queue.add(model)
    assert server.reached_gate.wait(PATIENCE_S)
    began = time.monotonic()
    queue.close()
    assert time.monotonic() - began < 5
    server.gate.set()


def test_what_was_paused_stays_paused(open_queue: OpenQueue, server: HubServer, model: RemoteModel) -> None:
    server.status = 429
    queue, watcher = open_queue()
    queue.pause(model.key)
    queue.add(model)
    queue.pause(model.key)
    watcher.wait_for(DownloadState.PAUSED)
    queue.close()
    again, _ = open_queue()
    again.start()
    assert [one.state for one in again.downloads] == [DownloadState.PAUSED]


def test_a_failure_says_why_and_can_be_tried_again(
    open_queue: OpenQueue, server: HubServer, model: RemoteModel
) -> None:
    server.repos["o/n"].is_gated = True
    queue, watcher = open_queue()
    queue.add(model)
    problem = watcher.wait_for(DownloadState.FAILED).problem
    assert problem is not None
    assert problem.code is ErrorCode.HUB_GATED
    server.repos["o/n"].is_gated = False
    watcher.heard.clear()
    queue.resume(model.key)
    assert watcher.wait_for(DownloadState.DONE).problem is None


def test_what_was_deleted_is_not_counted_as_there(open_queue: OpenQueue, server: HubServer, model: RemoteModel) -> None:
    server.content_instead = OTHER
    queue, watcher = open_queue()
    queue.add(model)
    assert watcher.wait_for(DownloadState.FAILED).n_done == 0


@pytest.mark.parametrize("while_running", [True, False])
def test_removing_takes_the_part_away(
    open_queue: OpenQueue, server: HubServer, model: RemoteModel, tmp_path: Path, while_running: bool
) -> None:
    server.gate = threading.Event()
    queue, watcher = open_queue()
    queue.add(model)
    assert server.reached_gate.wait(PATIENCE_S)
    if not while_running:
        queue.pause(model.key)
    server.gate.set()
    queue.remove(model.key)
    assert watcher.wait(lambda all_: all_ == ()) == ()
    queue.close()
    assert files_in(tmp_path / "models") in ([], ["o/n/m.gguf"])


def test_a_finished_model_stays_when_it_is_taken_off_the_list(open_queue: OpenQueue, model: RemoteModel) -> None:
    queue, watcher = open_queue()
    queue.add(model)
    path = watcher.wait_for(DownloadState.DONE).path
    queue.remove(model.key)
    assert queue.downloads == ()
    assert path is not None
    assert path.is_file()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "\0",
        "7",
        "[7, null, {}, []]",
        json.dumps([{"repo": "o/n", "commit": COMMIT, "files": [["../../x.gguf", 5, None]]}]),
        json.dumps([{"repo": "o/n", "commit": COMMIT, "files": [["x.gguf", -5, None]]}]),
        json.dumps([{"repo": 7, "commit": COMMIT, "files": [["x.gguf", 5, None]]}]),
        "[" * 100_000,
    ],
)
def test_a_queue_file_may_hold_anything(open_queue: OpenQueue, tmp_path: Path, content: str) -> None:
    (tmp_path / "queue.json").write_text(content)
    queue, _ = open_queue()
    queue.start()
    assert queue.downloads == ()


def test_a_queue_with_a_number_without_an_end_loses_only_what_it_belongs_to(
    open_queue: OpenQueue, tmp_path: Path
) -> None:
    entries = [{"repo": "o/n", "commit": COMMIT, "files": [["x.gguf", size, None]]} for size in (7, 5)]
    (tmp_path / "queue.json").write_text(json.dumps(entries).replace("7", "7" * 5000))
    queue, _ = open_queue()
    assert [one.model.files[0].size_bytes for one in queue.downloads] == [5]


def test_a_name_that_leads_out_fails_alone(open_queue: OpenQueue, model: RemoteModel) -> None:
    queue, watcher = open_queue()
    with pytest.raises(EngineError):
        queue.add(RemoteModel("o/n", COMMIT, (RemoteFile("../../x.gguf", 5, None),)))
    queue.add(model)
    watcher.wait_for(DownloadState.DONE)
