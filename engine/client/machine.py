"""Fallbacks known to be needed on this machine: CPU code of llama.cpp that crashes, a GPU driver that hangs."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.api.messages import EngineReady
from engine.api.options import EngineOptions
from engine.api.sentences import Sentence, say
from engine.disk.foreign_json import read_json
from engine.disk.whole_file import write_whole

TRIALS_MAX = 2
"""The most fallbacks tried: a crash after that has another reason."""
MEMORY_BYTES_MAX = 65_536

_ENDED_FROM_OUTSIDE = frozenset({0, -9, -15})
"""Exit codes of a process that did not crash: an orderly end, SIGKILL (also of a system without memory), SIGTERM."""


@dataclass(frozen=True)
class NativeCode:
    """Which parts of llama.cpp's native code a process may use."""

    excluded_variants: tuple[str, ...] = ()
    without_extra_bufts: bool = False
    without_gpu: bool = False

    def applied(self, options: EngineOptions) -> EngineOptions:
        """The options of a process that is limited to this code."""
        return replace(
            options,
            excluded_cpu_variants=(*options.excluded_cpu_variants, *self.excluded_variants),
            without_extra_bufts=options.without_extra_bufts or self.without_extra_bufts,
            without_gpu=options.without_gpu or self.without_gpu,
        )


class Machine:
    """The native code to use on this machine, shared by all clients of llama.cpp processes; thread-safe.

    On some processors the fastest CPU code crashes with the first decode (AMX: ggml-org/llama.cpp#20824). The fallback
    is the next CPU variant, or, if there is none, weights that are not repacked. Code that then loads a model is
    stored in ``memory_path`` for the next start, and is valid as long as processor and library stay the same.
    """

    def __init__(self, memory_path: Path | None = None) -> None:
        self._memory_path = memory_path
        self._lock = threading.Lock()
        # The proven code of this machine, and the code to use now.
        self._known, self._known_identity = self._recall()
        self._code = self._known
        # Code that has loaded a model: a later crash with it has another reason.
        self._proven: NativeCode | None = None
        self._n_trials = 0
        self._lesson: Sentence | None = None

    @property
    def code(self) -> NativeCode:
        """The code that the next process may use."""
        return self._code

    def set_without_gpu(self, without_gpu: bool) -> None:
        """Set whether GPU back ends are left out because a driver hangs."""
        with self._lock:
            self._code = replace(self._code, without_gpu=without_gpu)

    def note_ready(self, event: EngineReady) -> None:
        """Note that a process is ready, with the CPU code that it runs on."""
        with self._lock:
            if self._known_identity is not None and _identity(event) != self._known_identity:
                # Another processor or another llama.cpp: the stored fallback may not apply any more.
                self._known, self._known_identity = NativeCode(), None
                self._give_trials_up()
                self._forget()

    def try_other_code(self, used: NativeCode, exit_code: int | None, variant: str, variants: tuple[str, ...]) -> bool:
        """Select a fallback after a process died; whether there is one, so that a retry is worthwhile.

        ``variant``: the CPU code that the process reported; ``variants``: all available ones, the best first.
        """
        if exit_code in _ENDED_FROM_OUTSIDE:
            return False
        with self._lock:
            if used != self._code:
                return True
            tried = (*used.excluded_variants, variant)
            remaining = [one for one in variants if one not in tried]
            if remaining and self._n_trials == 0:
                self._code = replace(used, excluded_variants=tried)
                self._lesson = say("the code for “{0}” instead of “{1}”", remaining[0], variant)
            elif self._n_trials < TRIALS_MAX and not used.without_extra_bufts:
                self._code = replace(used, without_extra_bufts=True)
                self._lesson = say("weights as they are in the file")
            else:
                # The CPU code was not the cause: no fallback.
                self._give_trials_up()
                return False
            self._n_trials += 1
            return True

    def is_proven(self, used: NativeCode) -> bool:
        """Whether a model was loaded with this code."""
        return used == self._proven

    def note_loaded(self, used: NativeCode, ready: EngineReady) -> Sentence | None:
        """Note that this code loaded a model and use it from now on; a sentence for the person if it has changed."""
        with self._lock:
            is_news = bool(self._n_trials) and used == self._code
            self._proven, self._n_trials = used, 0
            self._code = replace(used, without_gpu=self._code.without_gpu)
            if not is_news or self._lesson is None:
                return None
            self._known, self._known_identity = replace(used, without_gpu=False), _identity(ready)
            self._remember()
            return say(
                "This processor's fastest code stopped the engine, so Kvasir now uses {0}. "
                "Answers may be a little slower.",
                self._lesson,
            )

    # Callers hold the lock.

    def _give_trials_up(self) -> None:
        self._code = replace(self._known, without_gpu=self._code.without_gpu)
        self._n_trials = 0

    # The memory file

    def _recall(self) -> tuple[NativeCode, dict[str, str] | None]:
        nothing = (NativeCode(), None)
        if self._memory_path is None:
            return nothing
        try:
            with self._memory_path.open("rb") as file:
                kept: Any = read_json(file.read(MEMORY_BYTES_MAX))
            identity = {str(key): str(value) for key, value in kept["machine"].items()}
            variants = tuple(str(name) for name in kept["excluded_cpu_variants"])
            return NativeCode(variants, kept["without_extra_bufts"] is True), identity
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            # Damaged or unreadable: the fallback is found again by the next crash.
            return nothing

    def _remember(self) -> None:
        if self._memory_path is None:
            return
        kept = {
            "machine": self._known_identity,
            "excluded_cpu_variants": self._known.excluded_variants,
            "without_extra_bufts": self._known.without_extra_bufts,
        }
        # In a read-only folder the fallback is found again after the next start.
        with contextlib.suppress(OSError):
            self._memory_path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._memory_path, [json.dumps(kept, indent=1).encode()])

    def _forget(self) -> None:
        if self._memory_path is not None:
            with contextlib.suppress(OSError):
                self._memory_path.unlink(missing_ok=True)


def _identity(ready: EngineReady) -> dict[str, str]:
    cpu = next((device.description for device in ready.devices if device.is_ram), "")
    return {"processor": cpu, "llama_cpp": ready.versions.get("llama_cpp", "")}
