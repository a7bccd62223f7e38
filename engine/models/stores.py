"""The model folders of this machine: Kvasir's own, those of other programs, folders added by the person."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.disk.foreign_json import read_json

MAX_DEPTH = 10
MAX_FOLDERS = 5_000
MAX_FILES = 20_000
MAX_MANIFEST_BYTES = 1 << 20
"""Bounds on what one store may hold: somebody may add the root of a disk."""

_HUB_REPO = re.compile(r"models--(?P<owner>.+?)--(?P<name>.+)\Z")
_OLLAMA_MODEL = "application/vnd.ollama.image.model"
_OLLAMA_DIGEST = re.compile(r"sha256[:-](?P<hex>[0-9a-f]{64})\Z")
_OLLAMA_HOST, _OLLAMA_OWNER = "registry.ollama.ai", "library"


class Source(StrEnum):
    """The owner of a model's folder. Only Kvasir's own folder is ever written to."""

    KVASIR = "kvasir"
    FOLDER = "folder"
    HUGGING_FACE = "hugging_face"
    LM_STUDIO = "lm_studio"
    OLLAMA = "ollama"
    STARTER = "starter"


@dataclass(frozen=True)
class Store:
    """A folder that may hold models; it need not exist."""

    source: Source
    path: Path


@dataclass(frozen=True)
class Candidate:
    """A file that looks like a model. ``label`` is its name in the owning program, if the file's name says nothing."""

    path: Path
    source: Source
    label: str | None = None


@dataclass(frozen=True)
class Contents:
    """The content of a store: the files, and the folders to watch for changes."""

    candidates: tuple[Candidate, ...]
    folders: tuple[Path, ...]


def known_stores(own: Path, added: Sequence[Path], environment: Mapping[str, str], home: Path) -> tuple[Store, ...]:
    """Every store of this machine, Kvasir's own first; a file in two stores is listed in the first."""
    stores = [Store(Source.KVASIR, own), *(Store(Source.FOLDER, path) for path in added)]
    stores += [Store(Source.HUGGING_FACE, path) for path in (_hub_cache(environment, home),)]
    stores += [Store(Source.LM_STUDIO, path) for path in _lm_studio_folders(home)]
    stores += [Store(Source.OLLAMA, path) for path in _ollama_folders(environment, home)]
    return tuple(stores)


def look_into(store: Store) -> Contents:
    """Scan a store; empty if it does not exist or is not readable."""
    if store.source is Source.OLLAMA:
        return _look_into_ollama(store)
    found, folders = [], []
    for folder, names in _walk(store.path):
        folders.append(folder)
        label = _hub_label(folder, store) if store.source is Source.HUGGING_FACE else None
        found += [Candidate(folder / name, store.source, label) for name in names if name.lower().endswith(".gguf")]
    if store.source is Source.FOLDER or (store.source is Source.KVASIR and not folders):
        # A watched folder does not report that it was moved away; its parent does.
        folders += _nearest_folder(store.path)
    return Contents(tuple(found), tuple(folders))


def content_digest(path: Path) -> str | None:
    """The SHA-256 of a file that is named by it, as in the stores of Hugging Face and Ollama; None elsewhere."""
    match = re.fullmatch(r"(?:sha256-)?([0-9a-f]{64})", path.name)
    return match[1] if match else None


def ollama_label(path: Path) -> str | None:
    """Ollama's name of a file in its store, by the first manifest that refers to it; None for other files."""
    digest = content_digest(path)
    if digest is None or path.parent.name != "blobs":
        return None
    store = Store(Source.OLLAMA, path.parent.parent)
    labels = (one.label for one in _look_into_ollama(store).candidates if one.path.name == path.name)
    return next(labels, None)


def _hub_cache(environment: Mapping[str, str], home: Path) -> Path:
    if explicit := environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE"):
        return Path(explicit)
    if root := environment.get("HF_HOME"):
        return Path(root) / "hub"
    cache = environment.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else home / ".cache") / "huggingface" / "hub"


def _lm_studio_folders(home: Path) -> list[Path]:
    folders = [home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"]
    try:
        # LM Studio writes a pointer file when its models folder has been moved.
        moved = (home / ".lmstudio-home-pointer").read_text(encoding="utf-8")[:4096].strip()
    except (OSError, ValueError):
        moved = ""
    return [Path(moved) / "models", *folders] if moved and "\0" not in moved else folders


def _ollama_folders(environment: Mapping[str, str], home: Path) -> list[Path]:
    explicit = environment.get("OLLAMA_MODELS")
    own = Path(explicit) if explicit else home / ".ollama" / "models"
    # The second is the folder of the system service that its installer sets up on Linux.
    return [own] if os.name == "nt" else [own, Path("/usr/share/ollama/.ollama/models")]


def _nearest_folder(path: Path) -> list[Path]:
    """The nearest existing ancestor of a missing folder, to be watched for its return (e.g. a removable disk)."""
    for parent in path.parents:
        try:
            if parent.is_dir():
                return [parent]
        except OSError:
            continue
    return []


def _hub_label(folder: Path, store: Store) -> str | None:
    try:
        match = _HUB_REPO.match(folder.relative_to(store.path).parts[0])
    except (ValueError, IndexError):
        return None
    return f"{match['owner']}/{match['name']}" if match else None


def _look_into_ollama(store: Store) -> Contents:
    """The models in Ollama's manifests; its blobs alone don't identify themselves."""
    found: list[Candidate] = []
    folders = [store.path]
    root = store.path / "manifests"
    for folder, names in _walk(root):
        folders.append(folder)
        for name in names:
            manifest = folder / name
            digest = _model_digest(_read_json(manifest))
            if digest is not None:
                blob = store.path / "blobs" / f"sha256-{digest}"
                found.append(Candidate(blob, store.source, _ollama_label(manifest.relative_to(root).parts)))
    return Contents(tuple(found), tuple(folders))


def _model_digest(manifest: Any) -> str | None:
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    for layer in layers if isinstance(layers, list) else ():
        if isinstance(layer, dict) and layer.get("mediaType") == _OLLAMA_MODEL:
            match = _OLLAMA_DIGEST.match(str(layer.get("digest", "")))
            if match:
                return match["hex"]
    return None


def _ollama_label(parts: tuple[str, ...]) -> str:
    """ "llama3:8b", with the owner and the host where they are not Ollama's own."""
    *path, tag = parts
    if path[:1] == [_OLLAMA_HOST]:
        path = path[1:]
    if path[:1] == [_OLLAMA_OWNER]:
        path = path[1:]
    return f"{'/'.join(path)}:{tag}" if path else tag


def _read_json(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_MANIFEST_BYTES + 1)
        return read_json(raw) if len(raw) <= MAX_MANIFEST_BYTES else None
    except (OSError, ValueError):
        return None


def _walk(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Folders with their file names, links followed once, within bounds; entries that vanish are skipped."""
    waiting = [(root, 0)]
    seen: set[tuple[int, int]] = set()
    n_folders = n_files = 0
    while waiting and n_folders < MAX_FOLDERS and n_files < MAX_FILES:
        folder, depth = waiting.pop()
        try:
            status = folder.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in seen:
                continue
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except (OSError, ValueError):
            continue
        seen.add(identity)
        names = []
        for entry in listed:
            if _is_folder(entry):
                if depth < MAX_DEPTH:
                    waiting.append((folder / entry.name, depth + 1))
            else:
                names.append(entry.name)
        n_folders += 1
        n_files += len(names)
        yield folder, names


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
