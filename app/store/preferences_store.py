"""The preferences file: readable JSON with a version, replaced in one step, and renamed when it makes no sense."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.store.preferences import Preferences
from app.store.preferences_json import FORMAT_VERSION, PreferencesReader, as_json
from engine.api.valid import valid_text
from engine.disk.foreign_json import read_json
from engine.disk.whole_file import write_whole

MAX_FILE_BYTES = 1_000_000


class ProblemKind(StrEnum):
    """What was wrong with the preferences file."""

    DAMAGED = "damaged"
    FROM_THE_FUTURE = "from_the_future"
    WRONG_VALUES = "wrong_values"
    UNREADABLE = "unreadable"
    NOT_SAVED = "not_saved"


@dataclass(frozen=True)
class Problem:
    """``kept_as``: where the old file is now, if it was renamed; ``detail`` is for the log."""

    kind: ProblemKind
    path: Path
    kept_as: Path | None = None
    detail: str = ""


class PreferencesStore:
    """The preferences in force and the file they are kept in.

    ``on_problem`` hears of a file that could not be read or written, once for each kind; nothing is raised, since no
    person wants to lose a chat over a settings file.
    """

    def __init__(self, path: Path, on_problem: Callable[[Problem], None]) -> None:
        self._path = path
        self.on_problem = on_problem
        self._told: set[ProblemKind] = set()
        self._can_write = True
        self._current = Preferences()

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._path

    @property
    def current(self) -> Preferences:
        """What is in force."""
        return self._current

    def load(self) -> Preferences:
        """Read the file; whatever is wrong with it, the answer is usable."""
        try:
            with self._path.open("rb") as file:
                raw = file.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return self._current
        except OSError as error:
            # Written by somebody who may want it back: nothing is written over it.
            self._can_write = False
            self._tell(Problem(ProblemKind.UNREADABLE, self._path, detail=str(error)))
            return self._current
        self._current = self._understand(raw)
        return self._current

    def set(self, preferences: Preferences) -> None:
        """Put new preferences in force and write them."""
        if preferences == self._current:
            return
        self._current = preferences
        if self._can_write:
            self._save(preferences)

    def update(self, **changes: Any) -> None:
        """Change single fields."""
        self.set(replace(self._current, **changes))

    def _understand(self, raw: bytes) -> Preferences:
        try:
            if len(raw) > MAX_FILE_BYTES:
                raise ValueError("the file is larger than any preferences file")
            content = read_json(raw)
            version = content["version"]
            if not isinstance(version, int) or isinstance(version, bool) or version < 1:
                raise ValueError(f"version {version!r:.40}")
        except (ValueError, KeyError, TypeError) as error:
            self._put_aside(ProblemKind.DAMAGED, str(error)[:500])
            return Preferences()
        if version > FORMAT_VERSION:
            self._put_aside(ProblemKind.FROM_THE_FUTURE, f"version {version}")
            return Preferences()
        reader = PreferencesReader()
        preferences = reader.preferences(content)
        if reader.wrong:
            self._put_aside(ProblemKind.WRONG_VALUES, "\n".join(reader.wrong))
        return preferences

    def _put_aside(self, kind: ProblemKind, detail: str) -> None:
        kept_as = next(
            path
            for path in (self._path.with_name(f"{self._path.name}.damaged-{n}") for n in range(1, 1_000_000))
            if not path.exists()
        )
        try:
            self._path.rename(kept_as)
        except OSError:
            self._can_write = False
            self._tell(Problem(kind, self._path, detail=detail))
            return
        if kind is ProblemKind.WRONG_VALUES:
            # What could be read stays in force, and in the file.
            with contextlib.suppress(OSError):
                shutil.copyfile(kept_as, self._path)
        self._tell(Problem(kind, self._path, kept_as, detail))

    def _save(self, preferences: Preferences) -> None:
        text = json.dumps(as_json(preferences), indent=2, ensure_ascii=False) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # A path may have bytes that are no text.
            write_whole(self._path, [valid_text(text).encode()])
        except OSError as error:
            self._tell(Problem(ProblemKind.NOT_SAVED, self._path, detail=str(error)))

    def _tell(self, problem: Problem) -> None:
        if problem.kind not in self._told:
            self._told.add(problem.kind)
            self.on_problem(problem)
