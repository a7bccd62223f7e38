"""Value types of models on a hub."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import parse_qs, unquote, urlsplit

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say

MAX_REFERENCE = 1000
MAX_FILE_BYTES = 1 << 44
MAX_NAME_BYTES = 230
"""Of the 255 that file systems take, some are for what unfinished files are called."""
_NAME = r"[A-Za-z0-9][\w.\-]{0,95}"
_REPO = re.compile(rf"(?P<repo>{_NAME}/{_NAME})(?::(?P<tag>[\w.\-]+))?\Z", re.ASCII)
_QUANTIZATION = re.compile(
    r"(?:^|[.\-_])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|TQ\d_\d|BF16|F16|F32|FP16|MXFP4(?:_MOE)?|NVFP4))(?=$|[.\-])", re.I
)
_SHARD = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf\Z", re.IGNORECASE)
_NO_MODEL = re.compile(r"(^|[-_.])(mmproj|imatrix)([-_.]|\Z)", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|\Z)", re.IGNORECASE)


@dataclass(frozen=True)
class Reference:
    """A parsed reference to a repository, optionally with one file or one quantization."""

    repo: str
    revision: str | None = None
    file: str | None = None
    quantization: str | None = None


@dataclass(frozen=True)
class RemoteFile:
    """A file of a repository; ``sha256`` is None if the hub does not report it."""

    path: str
    size_bytes: int
    sha256: str | None


@dataclass(frozen=True)
class RemoteModel:
    """A model to download: its file, or all its shards in order, at one commit."""

    repo: str
    commit: str
    files: tuple[RemoteFile, ...]

    @property
    def name(self) -> str:
        """The file's name without extension and shard number."""
        name = PurePosixPath(self.files[0].path).name
        match = _SHARD.match(name)
        return match["stem"] if match else name.removesuffix(".gguf")

    @property
    def quantization(self) -> str:
        """The quantization in the file's name; empty if it has none."""
        found = _QUANTIZATION.findall(self.name)
        return str(found[-1]).upper() if found else ""

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    @property
    def key(self) -> str:
        """A key that identifies the model across commits."""
        return f"{self.repo}/{self.files[0].path}"


@dataclass(frozen=True)
class Repo:
    """A repository with its models, smallest first. ``name`` differs from what was asked for when it was renamed."""

    name: str
    commit: str
    licence: str
    is_gated: bool
    models: tuple[RemoteModel, ...]


@dataclass(frozen=True)
class SearchResult:
    """One result of a search."""

    repo: str
    n_downloads: int
    n_likes: int
    licence: str
    is_gated: bool


def parse_reference(text: str) -> Reference | None:
    """Parse owner/name, owner/name:Q4_K_M, owner/name/file.gguf, or the URL of a page or file.

    None for any other text.
    """
    text = text.strip()[:MAX_REFERENCE]
    if text.startswith(("http://", "https://", "hf.co/", "huggingface.co/")):
        return _parse_address(text)
    match = _REPO.match(text)
    if match is not None:
        return Reference(match["repo"], quantization=match["tag"])
    owner, _, rest = text.partition("/")
    name, _, file = rest.partition("/")
    is_file = file.lower().endswith(".gguf") and _REPO.match(f"{owner}/{name}") is not None
    return Reference(f"{owner}/{name}", file=file) if is_file else None


def _parse_address(text: str) -> Reference | None:
    try:
        address = urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:
        return None
    parts = [unquote(part) for part in address.path.split("/") if part]
    for prefix in ("api", "models"):
        if parts[:1] == [prefix]:
            parts = parts[1:]
    match = _REPO.match("/".join(parts[:2]))
    if match is None:
        return None
    _, _, *rest = parts
    if len(rest) >= 2 and rest[0] in ("blob", "resolve", "raw", "tree"):
        file = "/".join(rest[2:]) if rest[0] != "tree" else ""
        return Reference(match["repo"], rest[1], file or None, match["tag"])
    # A page of the hub that displays the file.
    shown = parse_qs(address.query).get("show_file_info", [None])[0]
    return Reference(match["repo"], file=shown, quantization=match["tag"])


def is_repo(name: object) -> bool:
    """Whether it is the name of a repository, owner/name."""
    return isinstance(name, str) and re.fullmatch(f"{_NAME}/{_NAME}", name, re.ASCII) is not None


def group_models(repo: str, commit: str, files: Iterable[RemoteFile]) -> tuple[RemoteModel, ...]:
    """The GGUF models among a repository's files: shards together, projectors and other parts left out."""
    groups: dict[tuple[str, str], list[RemoteFile]] = {}
    for file in files:
        name = PurePosixPath(file.path).name
        if not name.lower().endswith(".gguf") or _NO_MODEL.search(name) or file.size_bytes <= 0:
            continue
        match = _SHARD.match(file.path)
        groups.setdefault((match["stem"], match["count"]) if match else (file.path, "1"), []).append(file)
    whole = [
        RemoteModel(repo, commit, tuple(sorted(group, key=lambda one: one.path)))
        for (_, count), group in groups.items()
        if len(group) == int(count)
    ]
    return tuple(sorted(whole, key=lambda model: (model.size_bytes, model.name)))


def local_parts(model: RemoteModel, file: RemoteFile) -> tuple[str, ...]:
    """The file's path below the models folder; raises HUB_NAME_INVALID for a name that would leave it.

    Names are untrusted: none may leave the folder or have a special meaning to the operating system.
    """
    parts = [*model.repo.split("/"), *PurePosixPath(file.path).parts]
    if len(parts) < 3 or any(part in ("", ".", "..", "/") or len(part.encode()) > MAX_NAME_BYTES for part in parts):
        raise EngineError(
            ErrorCode.HUB_NAME_INVALID,
            say("The name of “{0}” would lead out of the folder of models, so it is not downloaded.", file.path[:80]),
            repr(file.path[:200]),
        )
    return tuple(_local_name(part) for part in parts)


def file_version(model: RemoteModel, file: RemoteFile) -> str:
    """Twelve hexadecimal digits that identify the content as far as the hub reports it, safe in a file name."""
    return file.sha256[:12] if file.sha256 is not None else commit_version(model)


def commit_version(model: RemoteModel) -> str:
    """Twelve hexadecimal digits that identify the commit, which may be any text."""
    return hashlib.sha256(model.commit.encode()).hexdigest()[:12]


def _local_name(part: str) -> str:
    name = _FORBIDDEN.sub("_", part).rstrip(". ") or "_"
    return f"_{name}" if _RESERVED.match(name) else name
