"""Answers that are not what was asked for: nothing of them is kept, and what is there already is."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpcore2
import httpx2
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.hub import part_file, patience
from engine.models.hub.bounds import UnsafeRedirectError, bound_answer
from engine.models.hub.client import Hub
from engine.models.hub.patience import Patience
from engine.models.hub.remote import Reference, RemoteModel
from engine.models.hub.remote_header import HeaderFolder
from engine.models.hub.transfer import Progress, Transfer, TransferStopped
from tests.engine.models.hub.download_room import CONTENT, OTHER, PATIENCE_S, fetch, files_in, stop_half_way
from tests.hub_server import HubServer

PAGE = b"<html>Please sign in</html>"
SIZE = len(CONTENT)


def answer(status: int, body: bytes, *headers: str, length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", *headers]
    if length != -1:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(body: bytes) -> bytes:
    return f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"


def part_of(first: int, last: int, total: object = SIZE) -> str:
    return f"Content-Range: bytes {first}-{last}/{total}"


WRONG: dict[str, Callable[[int], bytes]] = {
    "a page": lambda n: answer(200, PAGE, "Content-Type: text/html; charset=utf-8"),
    "a page without a type": lambda n: answer(200, PAGE),
    "a page without a length": lambda n: answer(200, PAGE, "Content-Type: text/html", length=-1),
    "a page in chunks": lambda n: answer(200, chunked(PAGE), "Transfer-Encoding: chunked", length=-1),
    "a page that has the right size": lambda n: answer(200, PAGE + bytes(SIZE - len(PAGE)), "Content-Type: text/plain"),
    "a page in place of the part": lambda n: answer(206, PAGE, "Content-Type: TEXT/HTML", part_of(n, n + 26)),
    "a network's login": lambda n: answer(511, PAGE, "Content-Type: text/html"),
    "another beginning": lambda n: answer(206, CONTENT[n + 1 :], part_of(n + 1, SIZE - 1)),
    "an earlier beginning": lambda n: answer(206, CONTENT[n - 1 :], part_of(n - 1, SIZE - 1)),
    "an end beyond the file's": lambda n: answer(206, CONTENT[n:] + b"more", part_of(n, SIZE + 3)),
    "an end before the beginning": lambda n: answer(206, b"", part_of(n, n - 1)),
    "another total": lambda n: answer(206, CONTENT[n:], part_of(n, SIZE - 1, SIZE + 1)),
    "another length": lambda n: answer(206, CONTENT[n:-5], part_of(n, SIZE - 1)),
    "no place": lambda n: answer(206, CONTENT[n:]),
    "a place that is none": lambda n: answer(206, CONTENT[n:], f"Content-Range: bytes {n}-{'9' * 400}/{SIZE}"),
    "several parts": lambda n: answer(
        206, CONTENT[n:], "Content-Type: multipart/byteranges; boundary=x", part_of(n, SIZE - 1)
    ),
    "compressed": lambda n: answer(206, gzip.compress(CONTENT[n:]), part_of(n, SIZE - 1), "Content-Encoding: gzip"),
    "a larger file": lambda n: answer(200, CONTENT + b"more"),
    "a smaller file": lambda n: answer(200, CONTENT[:-1]),
    "a file that ends before": lambda n: answer(416, b"", f"Content-Range: bytes */{n - 1}"),
    "another success": lambda n: answer(203, CONTENT[n:], part_of(n, SIZE - 1)),
    "no content": lambda n: answer(204, b"", length=-1),
    "another file's checksum": lambda n: answer(
        206, OTHER[n:], part_of(n, SIZE - 1), f'X-Linked-Etag: "{"0" * 64}"'
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_nothing_is_kept_of_a_wrong_answer(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, kind: str
) -> None:
    n_there = stop_half_way(hub, model, tmp_path)
    (part,) = tmp_path.rglob("*.part")
    before = part.read_bytes()
    server.links_digests = "checksum" not in kind
    server.raw_instead = [WRONG[kind](n_there)]
    server.ranges.clear()
    with pytest.raises(EngineError) as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code in (ErrorCode.HUB_FAILED, ErrorCode.DOWNLOAD_DAMAGED)
    is_page = "page" in kind or "login" in kind
    assert ("This network answers with a page of its own" in raised.value.message) is is_page
    assert part.read_bytes() == before
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    assert server.ranges == [(n_there, SIZE)]
    assert files_in(tmp_path) == ["o/n/m.gguf"]


@pytest.mark.parametrize("kind", [kind for kind in WRONG if "page" in kind])
def test_a_page_in_place_of_a_whole_download_leaves_nothing(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, kind: str
) -> None:
    server.raw_instead = [WRONG[kind](0)]
    with pytest.raises(EngineError, match="page of its own"):
        fetch(hub, model, tmp_path)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("kind", [kind for kind in WRONG if "page" in kind])
def test_a_page_in_place_of_a_header(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, kind: str
) -> None:
    server.raw_instead = [WRONG[kind](0)]
    with pytest.raises(EngineError, match="page of its own"):
        HeaderFolder(tmp_path / "headers").fetch(hub, model)


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_page_in_place_of_an_answer(server: HubServer, hub: Hub, kind: str) -> None:
    server.answer_instead, server.answer_headers = PAGE, {"Content-Type": kind}
    with pytest.raises(EngineError, match="page of its own"):
        hub.search("words")
    with pytest.raises(EngineError, match="page of its own"):
        hub.repo(Reference("o/n"))


def test_fewer_bytes_than_were_asked_for_are_taken(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    server.raw_instead = [answer(206, CONTENT[:100_000], part_of(0, 99_999, "*"))]
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    assert server.ranges == [(100_000, SIZE)]


def test_another_version_in_mid_download(server: HubServer, hub: Hub, tmp_path: Path) -> None:
    server.tells_digests = server.links_digests = False
    server.etag = '"one"'
    model = hub.repo(Reference("o/n", file="m.gguf")).models[0]
    n_there = stop_half_way(hub, model, tmp_path)
    (part,) = tmp_path.rglob("*.part")
    server.etag, server.content_instead = '"two"', OTHER
    with pytest.raises(EngineError, match="has changed"):
        fetch(hub, model, tmp_path)
    assert part.read_bytes() == CONTENT[:n_there]
    server.etag, server.content_instead = '"one"', None
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT


def test_no_way_from_an_encrypted_address_to_an_open_one() -> None:
    asked = httpx2.Request("GET", "https://hub.example/a")
    bound_answer(httpx2.Response(302, headers={"Location": "/b"}, request=asked))
    with pytest.raises(UnsafeRedirectError):
        bound_answer(httpx2.Response(302, headers={"Location": "http://login.example/"}, request=asked))


# --- what is fetched again when the whole is not right ---


def test_a_stretch_that_the_disk_changed_is_fetched_again_alone(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_file, "STRETCH_BYTES", 200_000)
    n_there = stop_half_way(hub, model, tmp_path)
    (part,) = tmp_path.rglob("*.part")
    with part.open("r+b") as file:
        file.seek(500_000)
        file.write(b"damaged")
    server.ranges.clear()
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    again = [(start, end) for start, end in server.ranges if start < n_there]
    assert len(again) == 1
    assert again[0][0] <= 500_000 < again[0][1] <= again[0][0] + 400_000
    assert server.n_bytes_sent < SIZE - n_there + 400_000
    assert files_in(tmp_path) == ["o/n/m.gguf"]


@pytest.mark.parametrize("n_wrong", [27, SIZE // 4])
def test_bytes_of_unknown_origin_are_fetched_again_first(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, n_wrong: int
) -> None:
    stop_half_way(hub, model, tmp_path)
    (part,) = tmp_path.rglob("*.part")
    (sums,) = tmp_path.rglob("*.sums")
    part.write_bytes(bytes(n_wrong))
    sums.unlink()
    server.ranges.clear()
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    assert server.ranges == [(n_wrong, SIZE), (0, n_wrong)]


def test_wrong_bytes_of_a_resumed_download_cost_no_more_than_themselves(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    n_there = stop_half_way(hub, model, tmp_path)
    assert n_there < SIZE // 2
    server.ranges.clear()
    server.raw_instead = [answer(206, OTHER[n_there:], part_of(n_there, SIZE - 1))]
    with pytest.raises(EngineError, match="doubtful part") as raised:
        fetch(hub, model, tmp_path)
    assert raised.value.code is ErrorCode.DOWNLOAD_DAMAGED
    assert server.ranges == [(0, n_there)], "the smaller part is asked for first"
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    assert server.ranges == [(0, n_there), (n_there, SIZE)]


def test_a_hub_whose_content_is_never_right_comes_to_an_end(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    stop_half_way(hub, model, tmp_path)
    server.content_instead = OTHER
    with pytest.raises(EngineError, match="doubtful part"):
        fetch(hub, model, tmp_path)
    with pytest.raises(EngineError, match="deleted"):
        fetch(hub, model, tmp_path)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    "sums", [b"", b"\0\xff", b"5 -\n3 7\n", b"4000000000 1\n", b"900000 1\n900001", b"version x\n"]
)
def test_what_is_noted_of_a_part_may_be_anything(hub: Hub, model: RemoteModel, tmp_path: Path, sums: bytes) -> None:
    stop_half_way(hub, model, tmp_path)
    (noted,) = tmp_path.rglob("*.sums")
    noted.write_bytes(sums)
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT


def test_what_is_noted_of_a_part_that_is_gone_means_nothing(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path
) -> None:
    stop_half_way(hub, model, tmp_path)
    (part,) = tmp_path.rglob("*.part")
    part.unlink()
    stop_half_way(hub, model, tmp_path)
    server.ranges.clear()
    n_there = part.stat().st_size
    assert fetch(hub, model, tmp_path).read_bytes() == CONTENT
    assert server.ranges == [(n_there, SIZE)]


# --- patience ---


def test_bytes_that_drip_count_as_a_broken_connection() -> None:
    now = 0.0
    waiting = Patience(clock=lambda: now)
    waiting.begin_bytes()
    for _ in range(29):
        now += 1
        waiting.note(1, 1.0)
    waiting.note(1, 1.0)
    with pytest.raises(httpcore2.ReadTimeout):
        waiting.note(1, 1.0)
    waiting.begin_bytes()
    for _ in range(100):
        waiting.note(2000, 1.0)


def test_what_the_disk_takes_does_not_count_as_waiting() -> None:
    now = 0.0
    waiting = Patience(clock=lambda: now)
    waiting.begin_bytes()
    for _ in range(100):
        now += 60
        waiting.note(100, 0.1)


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 206 Part\r\nX-Endless: 1\r\n", b"HTTP/1.1 103 Hints\r\n\r\n" * 3])
@pytest.mark.parametrize("is_header", [True, False])
def test_an_answer_that_does_not_begin(
    server: HubServer,
    hub: Hub,
    model: RemoteModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    begun: bytes,
    is_header: bool,
) -> None:
    monkeypatch.setattr(patience, "ANSWER_TIMEOUT_S", 0.2)
    server.raw_instead, server.gate = [begun] * 9, threading.Event()
    began = time.monotonic()
    transfer, headers = Transfer(hub, model, tmp_path, lambda _: None, pauses_s=()), HeaderFolder(tmp_path / "headers")
    with pytest.raises(EngineError) as raised:
        headers.fetch(hub, model) if is_header else transfer.run()
    assert raised.value.code is ErrorCode.HUB_UNREACHABLE
    assert time.monotonic() - began < PATIENCE_S / 4


def test_a_header_that_drips(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PACE_S", 0.2)
    server.raw_instead, server.gate = [answer(206, b"G", part_of(0, (1 << 20) - 1), length=1 << 20)], threading.Event()
    with pytest.raises(EngineError) as raised:
        HeaderFolder(tmp_path / "headers").fetch(hub, model)
    assert raised.value.code is ErrorCode.HUB_UNREACHABLE


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 206 Part\r\n", answer(206, b"G", part_of(0, SIZE - 1), length=SIZE)])
def test_a_transfer_can_be_stopped_while_nothing_comes(
    server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path, begun: bytes
) -> None:
    server.raw_instead, server.gate = [begun], threading.Event()
    running = Transfer(hub, model, tmp_path, lambda _: None)
    outcome: list[BaseException] = []

    def run() -> None:
        try:
            running.run()
        except TransferStopped as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert server.reached_gate.wait(PATIENCE_S)
    running.stop()
    thread.join(5)
    assert outcome
    assert not thread.is_alive()


def test_progress_never_goes_beyond_the_whole(server: HubServer, hub: Hub, model: RemoteModel, tmp_path: Path) -> None:
    stop_half_way(hub, model, tmp_path)
    server.raw_instead = [answer(206, OTHER[SIZE // 4 :], part_of(SIZE // 4, SIZE - 1))]
    reports: list[Progress] = []
    with pytest.raises(EngineError):
        fetch(hub, model, tmp_path, reports)
    assert all(0 <= one.n_done <= one.n_total for one in reports)
