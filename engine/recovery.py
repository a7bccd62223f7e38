"""What to do after the engine process died: start again, with which CPU code, or give up."""

from __future__ import annotations

import collections
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ErrorCode
from engine.messages import EngineReady, LoadStage

RESTARTS_MAX = 3
RESTARTS_PERIOD_S = 60.0
"""More than RESTARTS_MAX deaths in this time, without an answer between them, and the client stops trying."""


@dataclass(frozen=True)
class Advice:
    """``retry_load``: the load that died is worth another try, with other CPU code. ``message`` is for the person."""

    restart: bool
    retry_load: bool
    message: str


class Recovery:
    """Remembers deaths, and what a death in the first decode taught about this machine.

    On some processors the fastest CPU code crashes with the first decode (AMX: ggml-org/llama.cpp#20824). Then the next
    CPU variant is taken, or, where there is no other, weights are not repacked; ``memory_path`` keeps that for the
    next start, as long as processor and library stay the same.
    """

    def __init__(self, memory_path: Path | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory_path = memory_path
        self._clock = clock
        self._deaths: collections.deque[float] = collections.deque(maxlen=RESTARTS_MAX + 1)
        self._ready: EngineReady | None = None
        self.excluded_cpu_variants: tuple[str, ...] = ()
        self.without_extra_bufts = False
        self._known_identity: dict[str, str] | None = None
        self._recall()

    def note_ready(self, event: EngineReady) -> None:
        """The process is up and said what it runs on."""
        self._ready = event
        if self._identity(event) != self._known_identity and self._known_identity is not None:
            # Another processor or another llama.cpp: what was learnt may not hold any more.
            self._known_identity, self.excluded_cpu_variants, self.without_extra_bufts = None, (), False

    def note_success(self) -> None:
        """A request was answered: earlier deaths no longer count."""
        self._deaths.clear()

    def after_death(self, stage: LoadStage | None, ended_for: ErrorCode | None) -> Advice:
        """What to do now; ``stage`` is the part of a load in which the process died, if it was loading."""
        self._deaths.append(self._clock())
        if stage is LoadStage.WARM_UP and ended_for is None and self._ready is not None:
            advice = self._next_cpu_code(self._ready)
            if advice is not None:
                return advice
        is_often = len(self._deaths) > RESTARTS_MAX and self._deaths[-1] - self._deaths[0] < RESTARTS_PERIOD_S
        if is_often:
            return Advice(
                False,
                False,
                "The engine stopped again and again and is not started any more. Choose another model or smaller settings.",
            )
        return Advice(True, False, "")

    def _next_cpu_code(self, ready: EngineReady) -> Advice | None:
        remaining = [v for v in ready.cpu_variants if v not in self.excluded_cpu_variants and v != ready.cpu_variant]
        if remaining:
            self.excluded_cpu_variants += (ready.cpu_variant,)
            what = f"the code for “{remaining[0]}” instead of “{ready.cpu_variant}”"
        elif not self.without_extra_bufts:
            self.without_extra_bufts = True
            what = "weights as they are in the file"
        else:
            return None
        self._remember(ready)
        return Advice(
            True,
            True,
            f"This processor's fastest code stopped the engine, so Kvasir now uses {what}. Answers may be a little slower.",
        )

    # The memory file

    def _identity(self, ready: EngineReady) -> dict[str, str]:
        cpu = next((device.description for device in ready.devices if device.kind == "cpu"), "")
        return {"processor": cpu, "llama_cpp": ready.versions.get("llama_cpp", "")}

    def _recall(self) -> None:
        if self._memory_path is None:
            return
        try:
            kept: Any = json.loads(self._memory_path.read_text("utf-8"))
            identity = {str(key): str(value) for key, value in kept["machine"].items()}
            variants = tuple(str(name) for name in kept["excluded_cpu_variants"])
            without = kept["without_extra_bufts"] is True
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return
        self._known_identity, self.excluded_cpu_variants, self.without_extra_bufts = (
            identity,
            variants,
            without,
        )

    def _remember(self, ready: EngineReady) -> None:
        self._known_identity = self._identity(ready)
        if self._memory_path is None:
            return
        kept = {
            "machine": self._known_identity,
            "excluded_cpu_variants": self.excluded_cpu_variants,
            "without_extra_bufts": self.without_extra_bufts,
        }
        try:
            self._memory_path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w",
                encoding="utf-8",
                dir=self._memory_path.parent,
                prefix=self._memory_path.name,
                delete=False,
            ) as file:
                json.dump(kept, file, indent=1)
            os.replace(file.name, self._memory_path)
        except OSError:
            # A read-only folder: the same lesson is learnt again at the next start.
            return


def describe_exit(exit_code: int | None, stage: LoadStage | None, ended_for: ErrorCode | None) -> str:
    """One sentence for the person about a process that died."""
    if ended_for is ErrorCode.TEMPLATE_TIMEOUT:
        return "This model's chat template did not come to an end, so it was stopped. Choose another model, or a newer file of this one."
    when = "while loading the model" if stage is not None else "while it was working"
    if exit_code == -getattr(signal, "SIGKILL", 9):
        return (
            "The engine was ended by the system, usually because memory ran out. "
            "A smaller context window, q8_0 for K and V or a smaller model helps."
        )
    if exit_code is not None and exit_code < 0:
        return f"The engine crashed {when} ({_signal_name(-exit_code)}). Your text is safe; try again, or choose other settings."
    return f"The engine ended unexpectedly {when} (exit code {exit_code}). Your text is safe; try again."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
