"""What to do after the engine process died: start again, with which CPU code, or give up."""

from __future__ import annotations

import collections
import contextlib
import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.api.messages import EngineReady, LoadStage
from engine.disk.foreign_json import read_json
from engine.disk.whole_file import write_whole

RESTARTS_MAX = 3
RESTARTS_PERIOD_S = 60.0
"""More than RESTARTS_MAX deaths in this time, without an answer between them, and the client stops trying."""
TRIALS_MAX = 2
"""Other CPU code is tried this often for one load: what still crashes then has another reason."""
MEMORY_BYTES_MAX = 65_536

GAVE_UP = "The engine stopped again and again and is not started any more. Choose another model or smaller settings."
NOT_READY = "The engine does not get ready: a driver may hang. Restart the computer, or install Kvasir again."
NOT_STARTED = "The engine can't be started: close other programs, or install Kvasir again."
UNLOADED = "The model was taken out of memory before this was answered."

_ENDED_FROM_OUTSIDE = frozenset({0, -9, -15})
"""Exit codes of a process that did not crash: an orderly end, SIGKILL (also of a system without memory), SIGTERM."""


@dataclass(frozen=True)
class Advice:
    """``retry``: what was under way is worth another try, in a process that uses other code."""

    restart: bool
    retry: bool = False


@dataclass(frozen=True)
class CpuCode:
    """Which of llama.cpp's CPU code may be used on this machine."""

    excluded_variants: tuple[str, ...] = ()
    without_extra_bufts: bool = False


class Recovery:
    """Remembers deaths, and what a death in the first decode taught about this machine.

    On some processors the fastest CPU code crashes with the first decode (AMX: ggml-org/llama.cpp#20824). Then the next
    CPU variant is tried, or, where there is no other, weights as they are in the file. Code that then works is kept in
    ``memory_path`` for the next start, as long as processor and library stay the same.
    """

    def __init__(self, memory_path: Path | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory_path = memory_path
        self._clock = clock
        self._deaths: collections.deque[float] = collections.deque(maxlen=RESTARTS_MAX + 1)
        self._ready: EngineReady | None = None
        # What this machine is known to need, and what is being tried now.
        self._known, self._known_identity = self._recall()
        self._code = self._known
        self._n_trials = 0
        self._lesson = ""
        self._without_gpu = self._must_tell_gpu = False

    @property
    def excluded_cpu_variants(self) -> tuple[str, ...]:
        """CPU variants that the next process must not use."""
        return self._code.excluded_variants

    @property
    def without_extra_bufts(self) -> bool:
        """Whether the next process leaves weights as they are in the file."""
        return self._code.without_extra_bufts

    @property
    def without_gpu(self) -> bool:
        """Whether the next process leaves the GPUs alone."""
        return self._without_gpu

    def note_ready(self, event: EngineReady) -> str | None:
        """The process is up and said what it runs on: a sentence for the person if a GPU was given up for that."""
        self._ready = event
        if self._known_identity is not None and self._identity(event) != self._known_identity:
            # Another processor or another llama.cpp: what was learnt may not hold any more. The next process is free.
            self._known, self._known_identity = CpuCode(), None
            self._code, self._n_trials = self._known, 0
            self._forget()
        if not self._must_tell_gpu:
            return None
        self._must_tell_gpu = False
        return (
            "A graphics driver does not answer, so Kvasir runs on the CPU alone until it is started again. "
            "Restart the computer, or update the driver."
        )

    def note_success(self) -> None:
        """A request was answered: earlier deaths no longer count."""
        self._deaths.clear()

    def note_new_try(self) -> None:
        """The person wants another try: nothing that went wrong before counts."""
        self._deaths.clear()
        self._without_gpu = self._must_tell_gpu = False

    def note_loaded(self) -> str | None:
        """A model is loaded, so the CPU code works: a sentence for the person if it is other code than before."""
        if not self._n_trials or self._ready is None:
            return None
        self._n_trials = 0
        self._known, self._known_identity = self._code, self._identity(self._ready)
        self._remember()
        return (
            f"This processor's fastest code stopped the engine, so Kvasir now uses {self._lesson}. "
            "Answers may be a little slower."
        )

    def after_death(self, exit_code: int | None, stage: LoadStage | None, *, is_late: bool = False) -> Advice:
        """What to do now; ``stage`` is the part of a load in which the process died, if it was loading.

        ``is_late``: it was ended, since it did not get ready.
        """
        if is_late:
            return self._after_hanging_start()
        is_crash = exit_code not in _ENDED_FROM_OUTSIDE
        if is_crash and stage is LoadStage.WARM_UP and self._ready is not None:
            if self._try_other_code(self._ready):
                return Advice(restart=True, retry=True)
            # It was not the CPU code: nothing is learnt.
            self._code, self._n_trials = self._known, 0
        self._deaths.append(self._clock())
        is_often = len(self._deaths) > RESTARTS_MAX and self._deaths[-1] - self._deaths[0] < RESTARTS_PERIOD_S
        return Advice(restart=not is_often)

    def _after_hanging_start(self) -> Advice:
        """Starting a GPU's driver is all that can take so long: once more without."""
        if self._without_gpu:
            return Advice(restart=False)
        self._without_gpu = self._must_tell_gpu = True
        return Advice(restart=True, retry=True)

    def _try_other_code(self, ready: EngineReady) -> bool:
        """Choose the CPU code to try next; False if there is nothing left that could help."""
        if self._n_trials >= TRIALS_MAX:
            return False
        code = self._code
        tried = (*code.excluded_variants, ready.cpu_variant)
        remaining = [variant for variant in ready.cpu_variants if variant not in tried]
        if remaining and self._n_trials == 0:
            self._code = CpuCode(tried, code.without_extra_bufts)
            self._lesson = f"the code for “{remaining[0]}” instead of “{ready.cpu_variant}”"
        elif not code.without_extra_bufts:
            self._code = CpuCode(code.excluded_variants, True)
            self._lesson = "weights as they are in the file"
        else:
            return False
        self._n_trials += 1
        return True

    # The memory file

    def _identity(self, ready: EngineReady) -> dict[str, str]:
        cpu = next((device.description for device in ready.devices if device.kind == "cpu"), "")
        return {"processor": cpu, "llama_cpp": ready.versions.get("llama_cpp", "")}

    def _recall(self) -> tuple[CpuCode, dict[str, str] | None]:
        nothing = (CpuCode(), None)
        if self._memory_path is None:
            return nothing
        try:
            with self._memory_path.open("rb") as file:
                kept: Any = read_json(file.read(MEMORY_BYTES_MAX))
            identity = {str(key): str(value) for key, value in kept["machine"].items()}
            variants = tuple(str(name) for name in kept["excluded_cpu_variants"])
            return CpuCode(variants, kept["without_extra_bufts"] is True), identity
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            # Damaged or unreadable: the same lesson is learnt again.
            return nothing

    def _remember(self) -> None:
        if self._memory_path is None:
            return
        kept = {
            "machine": self._known_identity,
            "excluded_cpu_variants": self._known.excluded_variants,
            "without_extra_bufts": self._known.without_extra_bufts,
        }
        # In a read-only folder the same lesson is learnt again at the next start.
        with contextlib.suppress(OSError):
            self._memory_path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._memory_path, [json.dumps(kept, indent=1).encode()])

    def _forget(self) -> None:
        if self._memory_path is not None:
            with contextlib.suppress(OSError):
                self._memory_path.unlink(missing_ok=True)


def describe_exit(exit_code: int | None, stage: LoadStage | None) -> str:
    """One sentence for the person about a process that died."""
    when = "while loading the model" if stage is not None else "while it was working"
    if exit_code == -getattr(signal, "SIGKILL", 9):
        return (
            "The engine was ended by the system, usually because memory ran out. "
            "A smaller context window, q8_0 for K and V or a smaller model helps."
        )
    if exit_code is not None and exit_code < 0:
        name = _signal_name(-exit_code)
        return f"The engine crashed {when} ({name}). Your text is safe; try again, or choose other settings."
    return f"The engine ended unexpectedly {when} (exit code {exit_code}). Your text is safe; try again."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
