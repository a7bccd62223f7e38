"""The library's promises: every model once, wherever it lies, and no folder that can break it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.api.errors import ErrorCode
from engine.models.library import Library, Listing
from engine.models.stores import Source, Store, known_stores, ollama_label
from tests.engine.models.raw_gguf import STRING, pair
from tests.engine.models.raw_gguf import model as model_bytes

TinyModel = Callable[..., Path]


@pytest.fixture
def own(tmp_path: Path) -> Store:
    folder = tmp_path / "models"
    folder.mkdir()
    return Store(Source.KVASIR, folder)


def names(listing: Listing) -> list[str]:
    return [model.path.name for model in listing.models]


def test_a_model_with_what_its_header_says(own: Store) -> None:
    (own.path / "a.gguf").write_bytes(model_bytes(pair("general.name", STRING, "Some Model")))
    (model,) = Library().look([own]).models
    assert (model.name, model.source, model.problem) == ("Some Model", Source.KVASIR, None)
    assert model.info is not None
    per_token = sum(2 * (layer.row_k + layer.row_v) for layer in model.info.layers)
    assert model.kv_bytes_per_1000 == 1000 * per_token > 0


@pytest.mark.parametrize("name", ["模型 Ω (final).gguf", "with space.GGUF", "😀.gguf"])
def test_any_name(own: Store, name: str) -> None:
    (own.path / "深い フォルダ").mkdir()
    (own.path / "深い フォルダ" / name).write_bytes(model_bytes())
    assert names(Library().look([own])) == [name]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text_says_so(own: Store) -> None:
    Path(os.fsdecode(os.fsencode(own.path) + b"/bad\xff.gguf")).write_bytes(model_bytes())
    (model,) = Library().look([own]).models
    assert model.problem is not None
    assert "rename it" in model.problem.message
    (model.name + model.problem.message + model.problem.detail).encode()


def test_shards_are_one_model(own: Store, tiny_model: TinyModel) -> None:
    first = tiny_model(max_tensors_per_shard=8)
    shards = sorted(first.parent.glob(f"{first.name[:-20]}*.gguf"))
    assert len(shards) > 1
    for shard in shards:
        shutil.copy(shard, own.path)
    (model,) = Library().look([own]).models
    assert model.path.name == first.name
    assert model.info is not None
    assert len(model.info.files) == len(shards)
    (own.path / first.name).unlink()
    (model,) = Library().look([own]).models
    assert model.problem is not None
    assert model.problem.code is ErrorCode.MODEL_SHARD_MISSING
    assert first.name in model.problem.message


def test_what_is_no_chat_model_is_left_out_and_what_is_broken_says_so(own: Store) -> None:
    (own.path / "mmproj.gguf").write_bytes(model_bytes(pair("general.type", STRING, "mmproj")))
    (own.path / "whole.gguf").write_bytes(model_bytes())
    (own.path / "cut.gguf").write_bytes(model_bytes()[:-100])
    (own.path / "page.gguf").write_bytes(b"<html>Sign in</html>")
    (own.path / "whole.gguf.part").write_bytes(model_bytes())
    (own.path / "folder.gguf").mkdir()
    problems = {
        model.path.name: model.problem.code if model.problem else None for model in Library().look([own]).models
    }
    assert problems == {
        "whole.gguf": None,
        "cut.gguf": ErrorCode.MODEL_TRUNCATED,
        "page.gguf": ErrorCode.MODEL_NOT_GGUF,
    }


def test_the_same_file_is_listed_once(own: Store, tmp_path: Path) -> None:
    (own.path / "a.gguf").write_bytes(model_bytes())
    (own.path / "b.gguf").hardlink_to(own.path / "a.gguf")
    (own.path / "c.gguf").symlink_to(own.path / "a.gguf")
    (own.path / "dangling.gguf").symlink_to(own.path / "nothing")
    (own.path / "circle").symlink_to(own.path, target_is_directory=True)
    again = tmp_path / "again"
    again.symlink_to(own.path, target_is_directory=True)
    assert names(Library().look([own, Store(Source.FOLDER, again)])) == ["a.gguf"]


def test_a_hugging_face_cache(tmp_path: Path) -> None:
    cache = tmp_path / "hub"
    content = model_bytes()
    blob = cache / "models--owner--repo-GGUF" / "blobs" / hashlib.sha256(content).hexdigest()
    blob.parent.mkdir(parents=True)
    blob.write_bytes(content)
    for revision in ("1111", "2222"):
        snapshot = cache / "models--owner--repo-GGUF" / "snapshots" / revision / "m.gguf"
        snapshot.parent.mkdir(parents=True)
        snapshot.symlink_to(os.path.relpath(blob, snapshot.parent))
    (model,) = Library().look([Store(Source.HUGGING_FACE, cache)]).models
    assert model.path.name == "m.gguf"
    assert model.source is Source.HUGGING_FACE


def write_ollama(root: Path, reference: str, content: bytes) -> Path:
    digest = hashlib.sha256(content).hexdigest()
    blob = root / "blobs" / f"sha256-{digest}"
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(content)
    manifest = root / "manifests" / reference
    manifest.parent.mkdir(parents=True, exist_ok=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:" + "0" * 64},
        {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}"},
    ]
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}))
    return blob


def test_what_ollama_calls_a_file(tmp_path: Path) -> None:
    blob = write_ollama(tmp_path / "ollama", "registry.ollama.ai/library/llama3/8b", b"any")
    other = write_ollama(tmp_path / "ollama", "hf.co/me/X-GGUF/Q4_K_M", b"other")
    assert (ollama_label(blob), ollama_label(other)) == ("llama3:8b", "hf.co/me/X-GGUF:Q4_K_M")
    nameless = blob.with_name("sha256-" + "0" * 64)
    nameless.write_bytes(b"")
    elsewhere = tmp_path / blob.name
    elsewhere.write_bytes(b"")
    assert [ollama_label(path) for path in (nameless, elsewhere, tmp_path / "m.gguf")] == [None] * 3


def test_ollamas_models_go_by_their_manifests(tmp_path: Path) -> None:
    root = tmp_path / "ollama"
    blob = write_ollama(root, "registry.ollama.ai/library/llama3/8b", model_bytes())
    write_ollama(root, "example.org/me/mine/latest", model_bytes(pair("general.name", STRING, "other")))
    write_ollama(root, "registry.ollama.ai/library/llama3/same", model_bytes())
    for name, text in {"list": "[]", "broken": "{", "layers": '{"layers": 7}', "nul": "\0"}.items():
        (root / "manifests" / name).write_text(text)
    manifest = root / "manifests/registry.ollama.ai/library/llama3/8b"
    manifest.write_text(manifest.read_text().replace("2", "2" * 5000, 1))
    (root / "manifests" / "escape").write_text(
        json.dumps({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../x"}]})
    )
    listing = Library().look([Store(Source.OLLAMA, root)])
    assert [model.name for model in listing.models] == ["example.org/me/mine:latest", "llama3:8b"]
    assert listing.models[1].path == blob


def test_one_content_in_two_programs_is_listed_once(tmp_path: Path) -> None:
    content = model_bytes()
    hub = tmp_path / "hub"
    blob = hub / "models--o--r" / "snapshots" / "1" / "m.gguf"
    blob.parent.mkdir(parents=True)
    stored = hub / "models--o--r" / "blobs" / hashlib.sha256(content).hexdigest()
    stored.parent.mkdir()
    stored.write_bytes(content)
    blob.symlink_to(stored)
    write_ollama(tmp_path / "ollama", "registry.ollama.ai/library/m/latest", content)
    listing = Library().look([Store(Source.HUGGING_FACE, hub), Store(Source.OLLAMA, tmp_path / "ollama")])
    assert [model.source for model in listing.models] == [Source.HUGGING_FACE]


def test_changes_are_seen_and_what_is_known_is_not_read_again(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = own.path / "a.gguf"
    path.write_bytes(model_bytes())
    library = Library()
    before = library.look([own]).models
    assert library.look([own]).models[0] is before[0]
    path.write_bytes(model_bytes(pair("general.name", STRING, "Renamed")))
    assert library.look([own]).models[0].name == "Renamed"
    path.unlink()
    assert library.look([own]).models == ()
    shutil.rmtree(own.path)
    assert library.look([own]).models == ()


def test_the_folders_to_watch(own: Store) -> None:
    (own.path / "b" / "c").mkdir(parents=True)
    (own.path / "b" / "c" / "circle").symlink_to(own.path, target_is_directory=True)
    assert set(Library().look([own]).folders) == {own.path, own.path / "b", own.path / "b" / "c"}


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="everything is readable here")
def test_a_folder_that_is_gone_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    gone = Store(Source.FOLDER, tmp_path / "media" / "disk" / "models")
    assert Library().look([gone]).folders == (tmp_path / "media",)
    assert Library().look([Store(Source.LM_STUDIO, gone.path)]).folders == ()


def test_a_folder_that_may_not_be_read(own: Store) -> None:
    (own.path / "a.gguf").write_bytes(model_bytes())
    (own.path / "locked").mkdir(mode=0)
    assert names(Library().look([own])) == ["a.gguf"]


def test_where_other_programs_keep_theirs(tmp_path: Path) -> None:
    own, added = tmp_path / "own", tmp_path / "added"
    (tmp_path / ".lmstudio-home-pointer").write_text(str(tmp_path / "moved") + "\n")
    stores = known_stores(own, [added], {}, tmp_path)
    found = [(store.source, store.path) for store in stores]
    assert found[:2] == [(Source.KVASIR, own), (Source.FOLDER, added)]
    assert (Source.HUGGING_FACE, tmp_path / ".cache/huggingface/hub") in found
    assert (Source.LM_STUDIO, tmp_path / "moved" / "models") in found
    assert (Source.LM_STUDIO, tmp_path / ".lmstudio" / "models") in found
    assert (Source.OLLAMA, tmp_path / ".ollama" / "models") in found
    elsewhere = known_stores(own, [], {"HF_HOME": "/h", "OLLAMA_MODELS": "/o"}, tmp_path)
    assert Store(Source.HUGGING_FACE, Path("/h/hub")) in elsewhere
    assert Store(Source.OLLAMA, Path("/o")) in elsewhere
    cache = known_stores(own, [], {"HF_HUB_CACHE": "/cache", "HF_HOME": "/h"}, tmp_path)
    assert Store(Source.HUGGING_FACE, Path("/cache")) in cache
