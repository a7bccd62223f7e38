"""A model hub on this machine: it speaks what Kvasir uses of the Hugging Face API, and misbehaves when told to."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_" + "secret" * 4


@dataclass
class HubRepo:
    """A repository; without ``is_open`` it is hidden, or with ``is_gated`` its files are refused."""

    name: str
    files: dict[str, bytes]
    licence: str = "apache-2.0"
    is_gated: bool = False
    is_private: bool = False
    downloads: int = 1000


@dataclass
class HubServer:
    """What the server has, what it was asked, and how it is to behave."""

    endpoint: str = ""
    repos: dict[str, HubRepo] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    cut_after: list[int] = field(default_factory=list)
    """For each of the next answers with bytes, after how many the connection is cut."""
    knows_ranges: bool = True
    status: int | None = None
    """What every request is answered with, or only the next ``n_refused``."""
    n_refused: int | None = None
    status_headers: dict[str, str] = field(default_factory=dict)
    """Sent along with it."""
    tells_digests: bool = True
    links_digests: bool = True
    """Whether it tells them too when it sends on to the bytes."""
    etag: str | None = None
    content_instead: bytes | None = None
    raw_instead: list[bytes] = field(default_factory=list)
    """What the next questions for bytes are answered with, from the status line on; the connection is cut then."""
    answer_instead: bytes | None = None
    """What every question of the API is answered with."""
    answer_headers: dict[str, str] = field(default_factory=dict)
    """Sent along with it."""
    gate: threading.Event | None = None
    """Bytes after the first half wait for it."""
    reached_gate: threading.Event = field(default_factory=threading.Event)

    def add(self, name: str, files: dict[str, bytes], **options: object) -> HubRepo:
        self.repos[name] = HubRepo(name, files, **options)  # type: ignore[arg-type]
        return self.repos[name]

    @property
    def n_bytes_sent(self) -> int:
        return sum(end - start for start, end in self.ranges)


@contextmanager
def hub_server() -> Iterator[HubServer]:
    """Serve on a free port of this machine."""
    hub = HubServer()

    class Handler(_Handler):
        server_hub = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # A handler that waits at a gate must not hold up the end.
    server.block_on_close = False
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        if hub.gate is not None:
            hub.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server_hub: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        hub = self.server_hub
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        hub.requests.append((self.path, dict(self.headers)))
        if hub.status is not None and hub.n_refused != 0:
            hub.n_refused = None if hub.n_refused is None else hub.n_refused - 1
            self._refuse(hub.status, None, "Busy")
        elif hub.answer_instead is not None and path.startswith("/api/"):
            self._send_json(hub.answer_instead, hub.answer_headers)
        elif path == "/api/models":
            self._search(parse_qs(parts.query))
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?", path):
            self._info(match[1])
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(match[1], match[3])
        elif match := re.fullmatch(r"/cdn/([^/]+/[^/]+)/(.+)", path):
            assert "Authorization" not in self.headers or self.headers["Host"] in hub.endpoint
            self._bytes(hub.repos[match[1]].files[match[2]])
        else:
            self._refuse(404, "EntryNotFound", "No such page")

    def _search(self, query: dict[str, list[str]]) -> None:
        words = query.get("search", [""])[0].lower().split()
        found = [repo for repo in self.server_hub.repos.values() if all(word in repo.name.lower() for word in words)]
        found.sort(key=lambda repo: -repo.downloads)
        self._json([self._described(repo) for repo in found][: int(query.get("limit", ["100"])[0])])

    def _described(self, repo: HubRepo) -> dict[str, object]:
        return {
            "_id": "1",
            "id": repo.name,
            "modelId": repo.name,
            "sha": COMMIT,
            "private": repo.is_private,
            "gated": "manual" if repo.is_gated else False,
            "downloads": repo.downloads,
            "likes": 7,
            "tags": ["gguf", f"license:{repo.licence}"],
        }

    def _info(self, name: str) -> None:
        hub = self.server_hub
        if name in hub.renamed:
            self._redirect(f"/api/models/{hub.renamed[name]}?blobs=true", 307)
            return
        repo = hub.repos.get(name)
        if repo is None or (repo.is_private and not self._is_known()):
            self._refuse(401 if not self._is_known() else 404, "RepoNotFound", "Repository not found")
            return
        siblings = []
        for path, content in repo.files.items():
            digest = hashlib.sha256(content).hexdigest()
            lfs = {"sha256": digest, "size": len(content), "pointerSize": 134} if hub.tells_digests else None
            siblings.append({"rfilename": path, "size": len(content), "blobId": "b", "lfs": lfs})
        self._json({**self._described(repo), "siblings": siblings})

    def _resolve(self, name: str, path: str) -> None:
        repo = self.server_hub.repos.get(self.server_hub.renamed.get(name, name))
        if repo is None:
            self._refuse(401, "RepoNotFound", "Repository not found")
        elif repo.is_gated and not self._is_known():
            self._refuse(401, "GatedRepo", "Access to this model is restricted")
        elif self.headers.get("Authorization") not in (None, f"Bearer {TOKEN}"):
            self._refuse(401, None, "Invalid credentials in Authorization header")
        elif path not in repo.files:
            self._refuse(404, "EntryNotFound", "Entry not found")
        else:
            digest = hashlib.sha256(repo.files[path]).hexdigest()
            linked = {"X-Linked-Etag": f'"{digest}"'} if self.server_hub.links_digests else {}
            self._redirect(f"/cdn/{repo.name}/{path}", 302, {**linked, "X-Repo-Commit": COMMIT})

    def _is_known(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _bytes(self, content: bytes) -> None:
        hub = self.server_hub
        if hub.raw_instead:
            self.wfile.write(hub.raw_instead.pop(0))
            self.close_connection = True
            self._wait_at_gate()
            return
        if hub.content_instead is not None:
            content = hub.content_instead
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if match is None or not hub.knows_ranges:
            start, end = 0, len(content)
            self.send_response(200)
        else:
            start = int(match[1])
            end = min(int(match[2]) + 1 if match[2] else len(content), len(content))
            if start >= len(content):
                self._refuse(416, None, "Range not satisfiable")
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        self.send_header("Content-Length", str(end - start))
        if hub.etag is not None:
            self.send_header("ETag", hub.etag)
        self.end_headers()
        stop = min(end, start + hub.cut_after.pop(0)) if hub.cut_after else end
        middle = (start + stop) // 2
        self.wfile.write(content[start:middle])
        self.wfile.flush()
        self._wait_at_gate()
        self.wfile.write(content[middle:stop])
        hub.ranges.append((start, stop))
        if stop < end:
            self.close_connection = True

    def _wait_at_gate(self) -> None:
        if self.server_hub.gate is not None:
            self.wfile.flush()
            self.server_hub.reached_gate.set()
            self.server_hub.gate.wait(30)

    def _json(self, value: object) -> None:
        self._send_json(json.dumps(value).encode())

    def _send_json(self, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(200)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _redirect(self, where: str, status: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    def _refuse(self, status: int, code: str | None, message: str) -> None:
        body = json.dumps({"error": message}).encode()
        self.send_response(status)
        if code is not None:
            self.send_header("X-Error-Code", code)
        for name, value in self.server_hub.status_headers.items():
            self.send_header(name, value)
        self.send_header("X-Error-Message", message)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, ValueError):
            # The client went away in the middle, as a paused download does.
            self.close_connection = True
