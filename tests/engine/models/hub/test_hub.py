"""The hub's promises, against a server of the tests' own: what is there, what it is, and why not."""

from __future__ import annotations

import gzip
import json
import logging
import pickle
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.models.hub import bounds as answers
from engine.models.hub.client import Hub
from engine.models.hub.hub_busy import HubBusyError
from engine.models.hub.remote import Reference, RemoteFile, RemoteModel, Repo
from engine.models.hub.remote_header import HeaderFolder
from tests.engine.models.raw_gguf import model_bytes
from tests.hub_server import COMMIT, TOKEN, HubServer, hub_server


@pytest.fixture
def server() -> Iterator[HubServer]:
    with hub_server() as server:
        yield server


def refused(hub: Hub, reference: Reference) -> EngineError:
    with pytest.raises(EngineError) as raised:
        hub.repo(reference)
    return raised.value


# --- finding ---


def test_search(server: HubServer, hub: Hub) -> None:
    server.add("a/Small-GGUF", {}, downloads=5)
    server.add("b/Small-Other-GGUF", {}, downloads=50, is_gated=True, licence="llama3")
    server.add("c/Large", {})
    first, second = hub.search("small")
    assert (first.repo, first.n_downloads, first.licence, first.is_gated) == ("b/Small-Other-GGUF", 50, "llama3", True)
    assert second.repo == "a/Small-GGUF"
    assert "filter=gguf" in server.requests[-1][0]


def test_a_repository(server: HubServer, hub: Hub) -> None:
    server.add("o/n", {"b-Q8_0.gguf": b"x" * 80, "a-Q4_0.gguf": b"x" * 40, "README.md": b"#"})
    repo = hub.repo(Reference("o/n"))
    assert (repo.name, repo.commit, repo.licence) == ("o/n", COMMIT, "apache-2.0")
    assert [model.name for model in repo.models] == ["a-Q4_0", "b-Q8_0"]
    assert all(file.sha256 for model in repo.models for file in model.files)
    assert [model.name for model in hub.repo(Reference("o/n", quantization="q8_0")).models] == ["b-Q8_0"]
    assert [model.name for model in hub.repo(Reference("o/n", "main", "a-Q4_0.gguf")).models] == ["a-Q4_0"]


@pytest.mark.parametrize(
    "reference",
    [Reference("o/n", quantization="Q5_K_M"), Reference("o/n", file="b.gguf"), Reference("o/n", file="README")],
)
def test_a_file_that_the_repository_does_not_have(server: HubServer, hub: Hub, reference: Reference) -> None:
    server.add("o/n", {"a-Q4_0.gguf": b"x" * 40, "README": b"#"})
    error = refused(hub, reference)
    assert error.code is ErrorCode.HUB_NOT_FOUND
    assert str(reference.file or reference.quantization) in error.message
    assert "enter o/n alone" in error.message


def test_a_repository_without_models_is_no_error(server: HubServer, hub: Hub) -> None:
    server.add("o/n", {"README": b"#"})
    assert hub.repo(Reference("o/n")).models == ()


def test_a_renamed_repository_is_found_under_its_new_name(server: HubServer, hub: Hub) -> None:
    server.add("new/n", {"a.gguf": b"x"})
    server.renamed["old/n"] = "new/n"
    assert hub.repo(Reference("old/n")).name == "new/n"


def test_nothing_is_said_about_this_machine(server: HubServer, hub: Hub) -> None:
    server.add("o/n", {"a.gguf": b"x"})
    hub.repo(Reference("o/n"))
    (_, headers) = server.requests[-1]
    assert headers["user-agent" if "user-agent" in headers else "User-Agent"].startswith("kvasir/")
    assert "Authorization" not in headers
    assert len(server.requests) == 1


# --- refusals ---


def test_missing_and_private_are_the_same_to_who_may_not_know(server: HubServer, hub: Hub) -> None:
    server.add("o/private", {"a.gguf": b"x"}, is_private=True)
    for name in ("o/private", "o/missing"):
        error = refused(hub, Reference(name))
        assert error.code is ErrorCode.HUB_NOT_FOUND
        assert name in error.message
    hub.token = TOKEN
    assert hub.repo(Reference("o/private")).models


def test_a_gated_model_is_listed_and_its_bytes_want_a_token(server: HubServer, hub: Hub, tmp_path: Path) -> None:
    server.add("o/gated", {"a.gguf": model_bytes()}, is_gated=True)
    repo = hub.repo(Reference("o/gated"))
    assert repo.is_gated
    headers = HeaderFolder(tmp_path / "headers")
    with pytest.raises(EngineError) as raised:
        headers.fetch(hub, repo.models[0])
    assert raised.value.code is ErrorCode.HUB_GATED
    assert "terms" in raised.value.message
    hub.token = TOKEN
    assert headers.fetch(hub, repo.models[0]).is_file()


def test_a_token_that_is_not_taken(server: HubServer, hub: Hub, tmp_path: Path) -> None:
    server.add("o/n", {"a.gguf": model_bytes()})
    model = hub.repo(Reference("o/n")).models[0]
    hub.token = "hf_wrong"
    with pytest.raises(EngineError) as raised:
        HeaderFolder(tmp_path / "headers").fetch(hub, model)
    assert raised.value.code is ErrorCode.HUB_TOKEN_REFUSED
    assert "hf_wrong" not in raised.value.message + raised.value.detail


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (429, ErrorCode.HUB_BUSY),
        (403, ErrorCode.HUB_FAILED),
        (500, ErrorCode.HUB_BUSY),
        (503, ErrorCode.HUB_BUSY),
        (407, ErrorCode.HUB_UNREACHABLE),
    ],
)
def test_other_refusals(server: HubServer, hub: Hub, status: int, code: ErrorCode) -> None:
    server.status = status
    assert refused(hub, Reference("o/n")).code is code
    with pytest.raises(EngineError) as raised:
        hub.search("words")
    assert raised.value.code is code


@pytest.mark.parametrize("status", [404, 410])
def test_a_plain_mirror(server: HubServer, hub: Hub, status: int) -> None:
    server.status = status
    assert refused(hub, Reference("o/n")).code is ErrorCode.HUB_NOT_FOUND
    with pytest.raises(EngineError, match="can't be searched"):
        hub.search("words")


def test_a_hub_that_wants_a_token_and_got_none(server: HubServer, hub: Hub) -> None:
    server.status = 401
    assert "wants an access token" in refused(hub, Reference("o/n")).message
    hub.token = "hf_wrong"
    assert "does not take the access token" in refused(hub, Reference("o/n")).message


@pytest.mark.parametrize("token", ["hf_with\nbreak", "hf_größe"])
def test_no_token_in_any_detail_however_broken(server: HubServer, hub: Hub, token: str) -> None:
    server.add("o/n", {"a.gguf": model_bytes()})
    hub.token = token
    error = refused(hub, Reference("o/n"))
    assert "hf_" not in error.message + error.detail


@pytest.mark.parametrize(
    ("name", "value", "seconds"),
    [
        ("Retry-After", "17", 17),
        ("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT", None),
        ("Retry-After", "-5", None),
        ("Retry-After", "9" * 8, 86_400),
        ("Retry-After", "9" * 5000, None),
        ("RateLimit", '"api";r=0;t=55', 55),
        ("RateLimit", "nonsense", None),
    ],
)
def test_a_hub_says_how_long_it_wants_to_be_left_alone(
    server: HubServer, hub: Hub, name: str, value: str, seconds: int | None
) -> None:
    server.status, server.status_headers = 429, {name: value}
    error = refused(hub, Reference("o/n"))
    assert isinstance(error, HubBusyError)
    assert error.retry_after_s == seconds
    assert f"{seconds:,} s" in error.message if seconds is not None else "few minutes" in error.message
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.message, again.retry_after_s) == (ErrorCode.HUB_BUSY, error.message, seconds)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>Sign in to this network</html>",
        b"7",
        b"null",
        b'["x", 5, null]',
        b'[{"id": 5, "tags": 7, "downloads": "many", "gated": []}]',
        b'{"error": "no"}',
        b'{"id": "o/n", "siblings": 7}',
        b'{"id": "o/n", "siblings": [{"rfilename": 5, "size": "large", "lfs": []}]}',
        b'{"id": 7, "sha": [], "siblings": [{"rfilename": "a.gguf", "size": -1, "blobId": {}, "lfs": {"size": 1}}]}',
    ],
)
def test_answers_that_make_no_sense_are_no_more_than_a_sentence(server: HubServer, hub: Hub, answer: bytes) -> None:
    server.answer_instead = answer
    found = outcome(lambda: hub.search("words"))
    assert found is ErrorCode.HUB_FAILED or all(isinstance(one.repo, str) for one in found)
    repo = outcome(lambda: hub.repo(Reference("o/n")))
    assert repo is ErrorCode.HUB_FAILED or (isinstance(repo.name, str) and isinstance(repo.commit, str))


def outcome(ask: Callable[[], Any]) -> Any:
    """What it gives, or the code of its error."""
    try:
        return ask()
    except EngineError as error:
        return error.code


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "gopher://127.0.0.1:1"])
def test_a_proxy_that_is_no_web_proxy(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.setenv("ALL_PROXY", proxy)
    hub = Hub("https://hub.example")
    error = refused(hub, Reference("o/n"))
    assert error.code is ErrorCode.HUB_UNREACHABLE
    assert "HTTPS_PROXY" in error.message
    hub.close()


def test_a_file_that_is_gone(server: HubServer, hub: Hub, tmp_path: Path) -> None:
    model = RemoteModel("o/n", COMMIT, (RemoteFile("gone.gguf", 100, None),))
    server.add("o/n", {})
    with pytest.raises(EngineError) as raised:
        HeaderFolder(tmp_path / "headers").fetch(hub, model)
    assert raised.value.code is ErrorCode.HUB_NOT_FOUND


def closed_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return int(probe.getsockname()[1])


def test_offline_and_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub(f"http://127.0.0.1:{closed_port()}")
    error = refused(hub, Reference("o/n"))
    assert error.code is ErrorCode.HUB_UNREACHABLE
    assert "127.0.0.1" in error.message
    hub.close()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("NO_PROXY", "")
    behind = Hub("http://hub.example")
    assert refused(behind, Reference("o/n")).code is ErrorCode.HUB_UNREACHABLE
    behind.close()


def test_a_mirror(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.endpoint + "/")
    server.add("o/n", {"a.gguf": b"x"})
    hub = Hub()
    assert hub.repo(Reference("o/n")).models
    assert hub.host == "127.0.0.1"
    hub.close()


def test_a_name_that_is_none(hub: Hub) -> None:
    assert refused(hub, Reference("o/-.-")).code is ErrorCode.HUB_NAME_INVALID


def test_no_token_in_any_log(server: HubServer, hub: Hub, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.add("o/gated", {"a.gguf": model_bytes()}, is_gated=True)
    hub.token = TOKEN
    repo: Repo = hub.repo(Reference("o/gated"))
    HeaderFolder(tmp_path / "headers").fetch(hub, repo.models[0])
    server.status = 500
    error = refused(hub, Reference("o/gated"))
    assert TOKEN not in caplog.text + error.message + error.detail + repr(hub)


# --- answers of anybody ---


def test_what_is_no_repository_is_not_found(server: HubServer, hub: Hub) -> None:
    server.answer_instead = json.dumps(
        [
            {"id": "<img src=x>/n"},
            {"id": {"x": 1}},
            {"id": "../../n"},
            {"id": "o/n", "downloads": 10**23, "likes": -5, "tags": ["license:" + "x" * 10_000]},
        ]
    ).encode()
    # More digits than Python reads.
    server.answer_instead = server.answer_instead.replace(str(10**23).encode(), b"9" * 5000)
    (found,) = hub.search("words")
    assert (found.repo, found.n_downloads, found.n_likes) == ("o/n", 0, 0)
    assert len(found.licence) < 100
    server.answer_instead = json.dumps({"id": "../../n", "sha": COMMIT, "siblings": []}).encode()
    assert refused(hub, Reference("o/n")).code is ErrorCode.HUB_FAILED


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_an_answer_without_an_end(server: HubServer, hub: Hub, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_ANSWER_BYTES", 2000)
    monkeypatch.setattr(answers, "MAX_COMPRESSED_BYTES", 50)
    endless = b"[" + b" " * 5000 + b"]"
    server.answer_instead = endless if encoding == "identity" else gzip.compress(b"[" + b" " * 90_000 + b"]")
    server.answer_headers = {"Content-Encoding": encoding}
    for ask in (lambda: hub.search("words"), lambda: hub.repo(Reference("o/n"))):
        assert outcome(ask) is ErrorCode.HUB_FAILED
    assert all(headers["Accept-Encoding"] == "identity" for _, headers in server.requests)


def test_a_file_may_be_longer_than_an_answer(server: HubServer, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_ANSWER_BYTES", 2000)
    server.add("o/n", {"m.gguf": b"x" * 5000})
    (model,) = hub.repo(Reference("o/n")).models
    with hub.open_bytes(model, model.files[0], 0) as stream:
        assert len(b"".join(stream.response.iter_raw())) == 5000


class Drip(httpx2.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        yield from [b" "] * 50


def test_an_answer_that_drips() -> None:
    times = iter(range(0, 1000, 14))
    with pytest.raises(httpx2.ReadTimeout):
        list(answers.BoundedAnswer(Drip(), 100, lambda: next(times)))


def test_a_hub_that_leads_to_a_file_of_this_machine(server: HubServer, hub: Hub) -> None:
    server.status, server.status_headers = 302, {"Location": "file:///etc/hosts"}
    assert outcome(lambda: hub.search("words")) is ErrorCode.HUB_FAILED
