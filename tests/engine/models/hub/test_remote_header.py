"""Headers read over the network: they cost their own bytes, and work as the file itself would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.api.errors import EngineError
from engine.models.gguf import read_model_info
from engine.models.hub.client import Hub
from engine.models.hub.remote import Reference
from engine.models.hub.remote_header import HeaderFolder
from tests.engine.models.raw_gguf import model_bytes
from tests.hub_server import HubServer, hub_server


@pytest.fixture
def server() -> Iterator[HubServer]:
    with hub_server() as server:
        yield server


@pytest.mark.parametrize("knows_ranges", [True, False])
@pytest.mark.parametrize("n_tokens", [10, 120_000])
def test_a_header_costs_its_own_bytes(
    server: HubServer, hub: Hub, tmp_path: Path, n_tokens: int, knows_ranges: bool
) -> None:
    content = model_bytes(n_tokens)
    server.add("o/n", {"m.gguf": content})
    server.knows_ranges = knows_ranges
    model = hub.repo(Reference("o/n")).models[0]
    headers = HeaderFolder(tmp_path / "headers")
    path = headers.fetch(hub, model)
    assert server.requests[-1][1]["Accept-Encoding"] == "identity", "compressed bytes have other places"
    info = read_model_info(path)
    assert (info.n_layer, info.n_vocab, info.size_bytes) == (1, n_tokens, len(content))
    n_header = len(content) - 64 * 100_000 * 4
    assert path.read_bytes()[:n_header] == content[:n_header]
    assert path.stat().st_blocks * 512 < n_header + (3 << 20)
    if knows_ranges:
        assert server.n_bytes_sent <= max(2 * n_header, n_header + (1 << 20))
    n_asked = len(server.requests)
    assert headers.fetch(hub, model) == path
    assert len(server.requests) == n_asked
    headers.close()
    assert not (tmp_path / "headers").exists()


def test_headers_that_a_killed_window_left_go(server: HubServer, hub: Hub, tmp_path: Path) -> None:
    server.add("o/n", {"m.gguf": model_bytes()})
    left = tmp_path / "headers" / "left by a kill"
    left.mkdir(parents=True)
    headers = HeaderFolder(tmp_path / "headers")
    assert not left.exists()
    assert headers.fetch(hub, hub.repo(Reference("o/n")).models[0]).is_file()


def test_the_header_of_a_model_in_shards(
    server: HubServer, hub: Hub, tmp_path: Path, tiny_model: Callable[..., Path]
) -> None:
    first = tiny_model(max_tensors_per_shard=8)
    shards = sorted(first.parent.glob(f"{first.name[:-20]}*.gguf"))
    server.add("o/n", {shard.name: shard.read_bytes() for shard in shards})
    model = hub.repo(Reference("o/n")).models[0]
    info = read_model_info(HeaderFolder(tmp_path / "headers").fetch(hub, model))
    assert len(info.files) == len(shards)


@pytest.mark.parametrize("content", [b"<html>Sign in</html>", b"", model_bytes()[:300]])
def test_what_is_no_model_leaves_no_header(server: HubServer, hub: Hub, tmp_path: Path, content: bytes) -> None:
    server.add("o/n", {"m.gguf": model_bytes()})
    model = hub.repo(Reference("o/n")).models[0]
    server.content_instead = content
    headers = HeaderFolder(tmp_path / "headers")
    with pytest.raises(EngineError):
        headers.fetch(hub, model)
    headers.close()
    assert not [path for path in (tmp_path / "headers").rglob("*") if path.is_file()]
