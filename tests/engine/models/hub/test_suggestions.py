"""The first models to offer, the way to the hub as far as it can be told, and the guess at what a load takes."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.api.settings import CacheType, LoadSettings
from engine.models import geometry
from engine.models.gguf import read_model_info
from engine.models.hub import reach
from engine.models.hub.client import Hub
from engine.models.hub.remote import parse_reference
from engine.models.hub.suggestions import CPU_TOKENS_PER_S, SUGGESTIONS, find_suggested, suggestions_for
from engine.plan.estimate import rough_bytes
from tests.hub_server import HubServer
from tests.real_headers import MODELS, write_real_header

GIB = 2**30


@pytest.mark.parametrize("gpu_gib", [0, 2, 4, 8, 12, 16, 24, 80])
@pytest.mark.parametrize("ram_gib", [0, 1, 2, 4, 8, 64])
def test_three_that_fit_the_largest_first(gpu_gib: int, ram_gib: int) -> None:
    found = suggestions_for(gpu_gib * GIB, ram_gib * GIB)
    sizes = [one.model.size_bytes for one in found]
    assert 1 <= len(found) <= 3
    assert sizes == sorted(sizes, reverse=True)
    for one in found:
        room = (gpu_gib if one.is_on_gpu else ram_gib) * GIB
        assert one.fits == (one.model.needed_bytes < room)
        assert one.fits or (len(found) == 1 and one.model is SUGGESTIONS[0])
        assert one.is_on_gpu or one.model.cpu_tokens_per_s >= CPU_TOKENS_PER_S
    assert max(gpu_gib, ram_gib) < 4 or len(found) == 3


def test_a_small_card_does_not_hide_what_the_ram_has_room_for() -> None:
    assert suggestions_for(1 * GIB, 16 * GIB)[0] == suggestions_for(0, 16 * GIB)[0]
    assert [one.is_on_gpu for one in suggestions_for(2 * GIB, 16 * GIB)] == [False, True, False]


def test_each_can_be_asked_for() -> None:
    for one in SUGGESTIONS:
        assert parse_reference(f"{one.repo}:{one.quantization}") is not None


@pytest.mark.parametrize(("name", "suggested"), [("Mistral-7B", "Mistral 7B Instruct v0.3"), ("Phi-4", "Phi-4 14B")])
def test_what_a_token_takes_is_what_the_header_says(name: str, suggested: str, tmp_path: Path) -> None:
    info = read_model_info(write_real_header(tmp_path / "m.gguf", MODELS[name]))
    one = next(one for one in SUGGESTIONS if one.name == suggested)
    assert one.kv_bytes_per_token == geometry.kv_bytes_per_token(info, CacheType.F16, CacheType.F16)
    assert one.size_bytes == pytest.approx(info.size_bytes, rel=0.03)


def test_a_suggestion_is_found_where_the_hub_has_it_now(server: HubServer, hub: Hub) -> None:
    one = SUGGESTIONS[0]
    server.add("new/home", {"x-q4_k_m.gguf": b"1234", "x-q8_0.gguf": b"12345"})
    server.renamed[one.repo] = "new/home"
    model = find_suggested(hub, one)
    assert (model.repo, model.quantization) == ("new/home", "Q4_K_M")


@pytest.mark.parametrize("files", [None, {"x-Q8_0.gguf": b"1234"}, {}])
def test_a_suggestion_that_is_gone_says_so(server: HubServer, hub: Hub, files: dict[str, bytes] | None) -> None:
    one = SUGGESTIONS[0]
    if files is not None:
        server.add(one.repo, files)
    with pytest.raises(EngineError) as raised:
        find_suggested(hub, one)
    assert raised.value.code is ErrorCode.HUB_NOT_FOUND
    assert one.name in raised.value.message
    assert one.repo not in raised.value.message


def test_other_problems_keep_their_sentences(server: HubServer, hub: Hub) -> None:
    server.status = 429
    with pytest.raises(EngineError) as raised:
        find_suggested(hub, SUGGESTIONS[0])
    assert raised.value.code is ErrorCode.HUB_BUSY


# --- the way to the hub ---


@pytest.mark.parametrize(
    ("addresses", "is_up", "expected"),
    [
        (["192.168.1.7"], True, True),
        (["192.168.1.7"], False, False),
        (["127.0.0.1", "::1", "fe80::1%eth0", "169.254.3.4", "no address"], True, False),
        (["fe80::1%eth0", "2001:db8::1"], True, True),
        ([], True, False),
    ],
)
def test_a_connection_is_told_without_using_it(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str], is_up: bool, expected: bool
) -> None:
    entries = [
        SimpleNamespace(family=socket.AF_INET6 if ":" in text else socket.AF_INET, address=text) for text in addresses
    ]
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: {"eth0": entries, "gone": entries})
    monkeypatch.setattr(psutil, "net_if_stats", lambda: {"eth0": SimpleNamespace(isup=is_up)})
    assert reach.may_be_reached({}) == expected
    assert reach.may_be_reached({"HF_ENDPOINT": "http://localhost:8080/"})
    assert not reach.may_be_reached({"HF_ENDPOINT": "http://127.0.0.1:8080", "HF_HUB_OFFLINE": "1"})
    assert not reach.may_be_reached({"HF_ENDPOINT": "http://127.0.0.1", "TRANSFORMERS_OFFLINE": "yes"})


@pytest.mark.parametrize(
    ("environment", "host"),
    [
        ({}, "huggingface.co"),
        ({"HF_ENDPOINT": ""}, "huggingface.co"),
        ({"HF_ENDPOINT": "https://mirror.example/hf/"}, "mirror.example"),
        ({"HF_ENDPOINT": "http://["}, "http://["),
    ],
)
def test_the_hub_that_is_asked(environment: dict[str, str], host: str) -> None:
    assert reach.host_of(reach.endpoint_of(environment)) == host


# --- what a load takes ---


def test_a_guess_grows_with_the_context(tiny_model: Callable[..., Path]) -> None:
    info = read_model_info(tiny_model())
    small, large = (rough_bytes(info, LoadSettings(n_ctx=n_ctx)) for n_ctx in (256, 512))
    assert info.size_bytes < small < large
    assert large - small == pytest.approx(1.1 * 256 * 2 * 2 * 64 * 2, abs=2)
    assert rough_bytes(read_model_info(tiny_model(arch="mamba")), LoadSettings()) > 0
