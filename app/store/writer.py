"""The thread that writes chats, in order, so that no slow disk holds up the window."""

from __future__ import annotations

import errno
import logging
import shutil
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.store.salvage import Salvaged, finish_salvage, is_damage, is_salvage_unfinished, salvage
from app.store.schema import FromTheFutureError
from app.store.store import ChatStore, refuses

RETRY_SECONDS = 2.0
CLOSE_SECONDS = 4.0
ROOM_BYTES = 256 * 1024
"""With less free than this SQLite can't even make the files beside the database."""

Job = Callable[[ChatStore], object]
log = logging.getLogger("kvasir")


class StoreProblemKind(StrEnum):
    """What became of the chats' file."""

    DAMAGED = "damaged"
    EXCHANGED = "exchanged"
    FROM_THE_FUTURE = "from_the_future"
    DISK_FULL = "disk_full"
    NOT_WRITABLE = "not_writable"
    SAVED_AGAIN = "saved_again"
    LEFT_OUT = "left_out"


@dataclass(frozen=True)
class StoreProblem:
    """``path`` is the file, or where a damaged one is now; ``n_messages`` were brought over; ``detail`` for the log."""

    kind: StoreProblemKind
    path: Path
    n_messages: int = 0
    detail: str = ""


@dataclass(frozen=True)
class _Waiting:
    """A job in the queue."""

    job: Job
    done: Callable[[object], None] | None
    only_reads: bool


class ChatWriter:
    """Runs jobs one after the other on the store at ``path``. A job that the disk refuses is tried until it works,
    unless it only reads: nothing is lost if it is left out. One that no other try could help is left out and told.

    ``on_problem`` and each job's ``done``, which gets what the job returned (None if it was left out), are called in
    the writer's thread.
    """

    def __init__(self, path: Path, on_problem: Callable[[StoreProblem], None]) -> None:
        self._path = path
        self._hear_problem = on_problem
        self._jobs: deque[_Waiting] = deque()
        self._wakes = threading.Condition()
        self._is_closing = False
        self._told: StoreProblemKind | None = None
        self._store: ChatStore | None = None
        self._is_usable = True
        self._thread = threading.Thread(target=self._run, name="chat-writer", daemon=True)
        self._thread.start()

    def do(self, job: Job, done: Callable[[object], None] | None = None, *, only_reads: bool = False) -> None:
        """Run a job after those before."""
        with self._wakes:
            self._jobs.append(_Waiting(job, done, only_reads))
            self._wakes.notify_all()

    def close(self) -> bool:
        """Write what is left, unless the disk refuses; whether all of it is written."""
        with self._wakes:
            self._is_closing = True
            self._wakes.notify_all()
        self._thread.join(CLOSE_SECONDS)
        return not self._jobs

    # In the thread

    def _run(self) -> None:
        while True:
            with self._wakes:
                while not self._jobs and not self._is_closing:
                    self._wakes.wait()
                if not self._jobs:
                    break
                first = self._jobs[0]
            if self._try(first):
                with self._wakes:
                    self._jobs.popleft()
            else:
                with self._wakes:
                    if self._is_closing:
                        break
                    self._wakes.wait(RETRY_SECONDS)
        if self._store is not None:
            self._store.close()

    def _try(self, waiting: _Waiting) -> bool:
        """Whether the job needs no other try."""
        result = None
        try:
            result = self._run_job(waiting.job)
        except FromTheFutureError as error:
            self._is_usable = False
            self._tell(StoreProblem(StoreProblemKind.FROM_THE_FUTURE, self._path, detail=str(error)))
        except Exception as error:
            if waiting.only_reads:
                log.info("the chats can't be read: %r", error)
            elif isinstance(error, OSError) or (isinstance(error, sqlite3.Error) and refuses(error)):
                self._refused(error)
                return False
            else:
                # Tried again, it would fail for ever, and hold up all that comes after it.
                log.exception("a change of the chats is left out")
                self._on_problem(StoreProblem(StoreProblemKind.LEFT_OUT, self._path, detail=repr(error)))
        else:
            if self._told is not None and self._is_usable and not waiting.only_reads:
                self._told = None
                self._on_problem(StoreProblem(StoreProblemKind.SAVED_AGAIN, self._path))
        if waiting.done is not None:
            _tell_outside(waiting.done, result)
        return True

    def _run_job(self, job: Job) -> object:
        if not self._is_usable:
            return None
        try:
            return self._run_in_place(job)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            detail = str(error)
        if self._store is not None:
            self._store.close()
            self._store = None
        self._tell_damage(salvage(self._path), detail)
        return self._run_in_place(job)

    def _run_in_place(self, job: Job) -> object:
        while True:
            store = self._open()
            result = job(store)
            if store.is_in_place():
                return result
            # Somebody exchanged the file meanwhile: what was written into it is not in the new one.

    def _open(self) -> ChatStore:
        if is_salvage_unfinished(self._path):
            self._tell_damage(finish_salvage(self._path), "a salvage was cut short")
        if self._store is not None and not self._store.is_in_place():
            self._store.close()
            self._store = None
            self._on_problem(StoreProblem(StoreProblemKind.EXCHANGED, self._path))
        if self._store is None:
            self._store = ChatStore(self._path)
        return self._store

    def _tell_damage(self, found: Salvaged, detail: str) -> None:
        self._on_problem(StoreProblem(StoreProblemKind.DAMAGED, found.kept_as, found.n_messages, detail))

    def _refused(self, error: Exception) -> None:
        code = getattr(error, "sqlite_errorcode", None)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            # Somebody reads where nobody may write meanwhile; it is soon done.
            log.info("the chats are busy: %s", error)
            return
        is_full = code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        # SQLite has many words for a file that can't grow.
        is_full = is_full or _free_bytes(self._path.parent) < ROOM_BYTES
        kind = StoreProblemKind.DISK_FULL if is_full else StoreProblemKind.NOT_WRITABLE
        self._tell(StoreProblem(kind, self._path, detail=str(error)))

    def _on_problem(self, problem: StoreProblem) -> None:
        _tell_outside(self._hear_problem, problem)

    def _tell(self, problem: StoreProblem) -> None:
        """Once, not at each try."""
        if self._told is not problem.kind:
            self._told = problem.kind
            self._on_problem(problem)


def _tell_outside(hear: Callable[[Any], object], heard: object) -> None:
    """Call a listener whose failure must not stop the writer."""
    try:
        hear(heard)
    except Exception:
        log.exception("what the chats' writer told was not taken")


def _free_bytes(folder: Path) -> int:
    """The room on a disk, of which there is no saying where the folder can't be made."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return ROOM_BYTES
