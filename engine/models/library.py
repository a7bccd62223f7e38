"""The library of models on this machine, with duplicates and shards merged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.api.errors import EngineError, ErrorCode, mistakes_as_errors
from engine.api.sentences import say
from engine.api.settings import CacheType
from engine.api.valid import valid_text
from engine.models import geometry
from engine.models.gguf import ModelInfo, ModelKind, read_model_info
from engine.models.stores import Candidate, Source, Store, content_digest, look_into

TOKENS_PRICED = 1000
_SHARD = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf\Z", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class LibraryModel:
    """A model of the library. ``info`` is None if the file can't be used, and ``problem`` says why.

    ``kv_bytes_per_1000``: cache bytes per 1000 tokens with f16 for K and V; ``late_kv_bytes_per_1000``: the same once
    the sliding windows are full.
    """

    path: Path
    source: Source
    name: str
    info: ModelInfo | None
    problem: EngineError | None
    kv_bytes_per_1000: int = 0
    late_kv_bytes_per_1000: int = 0


@dataclass(frozen=True)
class Listing:
    """The result of a scan: the models by name, and the folders to watch for changes."""

    models: tuple[LibraryModel, ...]
    folders: tuple[Path, ...]


@dataclass(frozen=True)
class _FileState:
    path: Path
    n_bytes: int
    modified_ns: int


class Library:
    """Scans stores for models. Caches headers, so that a rescan costs one stat per file; not thread-safe."""

    def __init__(self) -> None:
        self._known: dict[tuple[_FileState, ...], LibraryModel] = {}

    def look(self, stores: Sequence[Store]) -> Listing:
        """Scan the stores. Files that can't be chat models by their header (projectors, adapters, embedding models) are
        left out; a file that is damaged, incomplete or in parts is listed with its problem."""
        models: dict[object, LibraryModel] = {}
        folders: list[Path] = []
        known: dict[tuple[_FileState, ...], LibraryModel] = {}
        for store in stores:
            contents = look_into(store)
            folders += contents.folders
            for files in _models_of(contents.candidates):
                states = _states(candidate.path for candidate in files)
                keys = _identities(files[0].path)
                if not states or any(key in models for key in keys):
                    continue
                model = self._known.get(states) or _read(files[0])
                known[states] = model
                models.update(dict.fromkeys(keys, model))
        self._known = known
        listed = {id(model): model for model in models.values() if _is_for_chat(model)}
        ordered = sorted(listed.values(), key=lambda model: (model.name.casefold(), str(model.path)))
        return Listing(tuple(ordered), tuple(dict.fromkeys(folders)))


def _models_of(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """The candidates grouped by model, the shards of one model in order."""
    groups: dict[tuple[object, ...], list[Candidate]] = {}
    for candidate in candidates:
        match = _SHARD.match(candidate.path.name)
        key = (candidate.path.parent, match["stem"], match["count"]) if match else (candidate.path,)
        groups.setdefault(key, []).append(candidate)
    return [sorted(group, key=lambda one: one.path.name) for group in groups.values()]


def _states(paths: Iterable[Path]) -> tuple[_FileState, ...]:
    """The files' current states; empty if one of them has just been deleted."""
    states = []
    for path in paths:
        try:
            status = path.stat()
        except (OSError, ValueError):
            return ()
        states.append(_FileState(path, status.st_size, status.st_mtime_ns))
    return tuple(states)


def _identities(path: Path) -> list[object]:
    """Keys that identify the same file under another name: its inode, and its digest if the store gives one."""
    try:
        status = path.stat()
        resolved = path.resolve()
    except (OSError, RuntimeError):
        return [path]
    digest = content_digest(resolved)
    place = (status.st_dev, status.st_ino) if status.st_ino else resolved
    return [place] if digest is None else [place, digest]


def _read(candidate: Candidate) -> LibraryModel:
    path = candidate.path
    try:
        # One unexpected failure must not hide the other models.
        with mistakes_as_errors():
            _require_text(path)
            info = read_model_info(path)
            can_price = geometry.can_hold_heads(info, CacheType.F16, CacheType.F16)
            early, late = _kv_bytes_per_1000(info) if can_price else (0, 0)
    except EngineError as problem:
        return LibraryModel(path, candidate.source, candidate.label or _plain(path.stem), None, problem)
    name = candidate.label if candidate.source is Source.OLLAMA else info.name
    return LibraryModel(info.path, candidate.source, _plain(name or path.stem), info, None, early, late)


def _kv_bytes_per_1000(info: ModelInfo) -> tuple[int, int]:
    """Bytes per 1000 tokens while the sliding windows fill, and after that."""
    layers = [(one, geometry.layer_bytes_per_token(one, CacheType.F16, CacheType.F16)) for one in info.layers]
    early = sum(n_bytes for _, n_bytes in layers)
    late = sum(n_bytes for one, n_bytes in layers if not one.is_window)
    return early * TOKENS_PRICED, late * TOKENS_PRICED


def _require_text(path: Path) -> None:
    """Raise EngineError for a name that is not valid UTF-8, which Linux allows and llama.cpp can't open."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise EngineError(
            ErrorCode.MODEL_UNREADABLE,
            say("The name of “{0}”, or of its folder, has characters that are no text: rename it.", _plain(path.name)),
            ascii(str(path)),
        ) from error


def _is_for_chat(model: LibraryModel) -> bool:
    return model.info is None or model.info.kind is ModelKind.CHAT


def _plain(name: str) -> str:
    """The name as printable text."""
    return " ".join(valid_text(name).split()) or "?"
