"""The client of a model hub: search, repository listings, byte ranges of files."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any

import httpx2
from huggingface_hub import HfApi, get_session, hf_hub_url, set_client_factory
from huggingface_hub.constants import HF_HUB_OFFLINE
from huggingface_hub.errors import OfflineModeIsEnabled
from huggingface_hub.utils import build_hf_headers, close_session, hf_raise_for_status

from engine import __version__
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.disk.foreign_json import read_json
from engine.models.hub.bounds import bound_answer
from engine.models.hub.byte_stream import ByteStream, checked_stream
from engine.models.hub.errors import hub_errors, proxy_error
from engine.models.hub.patience import Patience, watch_over
from engine.models.hub.reach import endpoint_of, host_of
from engine.models.hub.remote import (
    MAX_FILE_BYTES,
    Reference,
    RemoteFile,
    RemoteModel,
    Repo,
    SearchResult,
    group_models,
    is_repo,
)

PROGRAM = "kvasir"
TIMEOUT_S = 15.0
"""Without a byte for this long a connection counts as broken."""
MAX_FOUND = 40
MAX_FILES = 5_000
MAX_COUNT = 1 << 53
MAX_LICENCE = 60
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class Hub:
    """One hub. ``endpoint`` None takes HF_ENDPOINT, else huggingface.co; ``token`` may change at any time.

    Only one may exist in a process, since huggingface_hub keeps one HTTP client. All methods are thread-safe, block,
    and raise EngineError.
    """

    def __init__(self, endpoint: str | None = None, token: str | None = None) -> None:
        self.endpoint = endpoint.rstrip("/") if endpoint else endpoint_of(os.environ)
        self.token = token
        set_client_factory(_new_client)

    @property
    def host(self) -> str:
        """The hub's host name, for sentences."""
        return host_of(self.endpoint)

    def search(self, text: str) -> tuple[SearchResult, ...]:
        """Repositories with GGUF files, the most downloaded first."""
        try:
            return self._search(text)
        except EngineError as error:
            if error.code is not ErrorCode.HUB_NOT_FOUND:
                raise
            # A mirror may not implement the hub's whole API.
            message = say("{0} can't be searched: paste the name of a model there, owner/name.", self.host)
            raise EngineError(ErrorCode.HUB_FAILED, message, error.detail) from error

    def _search(self, text: str) -> tuple[SearchResult, ...]:
        query = {"search": text, "filter": "gguf", "sort": "downloads", "direction": "-1", "limit": str(MAX_FOUND)}
        with hub_errors(text, self.host), Patience().asking():
            _require_online()
            # Not list_models, which retries for half a minute before it raises.
            response = _session().get(f"{self.endpoint}/api/models", params=query, headers=self._headers())
            hf_raise_for_status(response)
            answers = read_json(response.content)
            if not isinstance(answers, list):
                raise ValueError("no list of models")
            return tuple(_found(one) for one in answers[:MAX_FOUND] if isinstance(one, dict) and is_repo(one.get("id")))

    def repo(self, reference: Reference) -> Repo:
        """A repository and its models; only the matching ones if the reference names a file or a quantization.

        Raises HUB_NOT_FOUND also if it has no such file or quantization.
        """
        with hub_errors(reference.repo, self.host), Patience().asking():
            info = self._api().model_info(
                reference.repo, revision=reference.revision, files_metadata=True, timeout=TIMEOUT_S
            )
            name, commit = str(info.id), str(info.sha or reference.revision or "main")
            if not is_repo(name) or not _is_text(commit):
                raise ValueError("no name of a repository")
            files = [_remote_file(one) for one in (info.siblings or [])[:MAX_FILES] if _is_text(one.rfilename)]
        models = tuple(model for model in group_models(name, commit, files) if _is_named(model, reference))
        if not models and (wanted := reference.file or reference.quantization) is not None:
            message = say(
                "“{0}” has no “{1}” that could be downloaded: enter {0} alone to see its files.", name, wanted
            )
            raise EngineError(ErrorCode.HUB_NOT_FOUND, message, f"{len(files)} files")
        return Repo(name, commit, _licence(info.tags), bool(info.gated), models)

    @contextlib.contextmanager
    def open_bytes(
        self,
        model: RemoteModel,
        file: RemoteFile,
        start: int,
        end: int | None = None,
        patience: Patience | None = None,
    ) -> Iterator[ByteStream]:
        """The bytes of a file from ``start`` to ``end`` (exclusive).

        Raises DOWNLOAD_DAMAGED, before any of its bytes, if the file is not the one listed.
        """
        patience = patience or Patience()
        url = hf_hub_url(model.repo, file.path, revision=model.commit, endpoint=self.endpoint)
        last = "" if end is None else str(end - 1)
        headers = {
            **self._headers(),
            "Range": f"bytes={start}-{last}",
            # With content encoding, byte positions would not be those of the file.
            "Accept-Encoding": "identity",
        }
        with hub_errors(f"{model.repo}/{file.path}", self.host), patience.asking():
            _require_online()
            with _session().stream("GET", url, headers=headers) as response:
                hf_raise_for_status(response)
                end = file.size_bytes if end is None else min(end, file.size_bytes)
                stream = checked_stream(response, file, start, end, self.host)
                patience.begin_bytes()
                yield stream

    def close(self) -> None:
        """Close the connections."""
        close_session()

    def _headers(self) -> dict[str, str]:
        # False, not None: never send the token that other programs have stored in huggingface_hub's file.
        return build_hf_headers(token=self.token or False, library_name=PROGRAM, library_version=__version__)

    def _api(self) -> HfApi:
        _require_online()
        _session()
        return HfApi(self.endpoint, token=self.token or False, library_name=PROGRAM, library_version=__version__)


def _session() -> httpx2.Client:
    """The HTTP client shared with huggingface_hub, created on first use with the environment's proxy."""
    try:
        return get_session()
    except (ImportError, ValueError) as error:
        raise proxy_error(repr(error)) from error


def _new_client() -> httpx2.Client:
    client = httpx2.Client(
        follow_redirects=True,
        timeout=TIMEOUT_S,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [bound_answer]},
    )
    return watch_over(client)


def _require_online() -> None:
    if HF_HUB_OFFLINE:
        raise OfflineModeIsEnabled("HF_HUB_OFFLINE")


def _is_text(name: Any) -> bool:
    """Whether it can be part of a URL: a string without lone surrogates."""
    try:
        return isinstance(name, str) and bool(name.encode())
    except UnicodeEncodeError:
        return False


def _remote_file(sibling: Any) -> RemoteFile:
    size = sibling.size if isinstance(sibling.size, int) and 0 <= sibling.size <= MAX_FILE_BYTES else 0
    digest = str(sibling.lfs.sha256) if sibling.lfs is not None else ""
    return RemoteFile(str(sibling.rfilename), size, digest if _SHA256.match(digest) else None)


def _is_named(model: RemoteModel, reference: Reference) -> bool:
    if reference.file is not None:
        return any(file.path == reference.file for file in model.files)
    return reference.quantization is None or reference.quantization.upper() in (model.quantization, "LATEST")


def _found(answer: dict[str, Any]) -> SearchResult:
    counts = [answer.get(name) for name in ("downloads", "likes")]
    n_downloads, n_likes = (count if isinstance(count, int) and 0 <= count <= MAX_COUNT else 0 for count in counts)
    return SearchResult(
        str(answer["id"]), n_downloads, n_likes, _licence(answer.get("tags")), bool(answer.get("gated"))
    )


def _shown(text: Any) -> str:
    return str(text).encode("utf-8", "replace").decode()


def _licence(tags: Any) -> str:
    for tag in tags if isinstance(tags, list) else ():
        if str(tag).startswith("license:"):
            return _shown(tag).removeprefix("license:")[:MAX_LICENCE]
    return ""
