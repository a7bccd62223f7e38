"""The restart policy after the engine process died: restart, retry with fallback code, or give up."""

from __future__ import annotations

import collections
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.api.messages import EngineReady, LoadStage
from engine.api.options import EngineOptions
from engine.api.sentences import Sentence, say
from engine.client.machine import Machine

RESTARTS_MAX = 3
RESTARTS_PERIOD_S = 60.0
"""More than RESTARTS_MAX deaths in this time, without an answer between them, and the client stops trying."""

GAVE_UP = say(
    "The engine stopped again and again and is not started any more. Choose another model or smaller settings."
)
NOT_READY = say("The engine does not get ready: a driver may hang. Restart the computer, or install Kvasir again.")
NOT_STARTED = say("The engine can't be started: close other programs, or install Kvasir again.")
UNLOADED = say("The model was taken out of memory before this was answered.")


@dataclass(frozen=True)
class Advice:
    """What to do after a crash. ``retry``: repeat the pending requests in a process that uses fallback code."""

    restart: bool
    retry: bool = False


class Recovery:
    """Counts the crashes of one client's processes; the ``machine`` keeps the fallbacks found by them."""

    def __init__(self, memory_path: Path | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.machine = Machine(memory_path)
        self._clock = clock
        self._deaths: collections.deque[float] = collections.deque(maxlen=RESTARTS_MAX + 1)
        # The native code that the newest process uses, and its EngineReady.
        self._used = self.machine.code
        self._ready: EngineReady | None = None
        self._must_tell_gpu = False

    def options_for_next(self, options: EngineOptions) -> EngineOptions:
        """The options that the next process is started with."""
        self._used = self.machine.code
        return self._used.applied(options)

    def note_ready(self, event: EngineReady) -> Sentence | None:
        """Note that the process is ready; a sentence for the person if it is because the GPU was left out."""
        self._ready = event
        self.machine.note_ready(event)
        if not self._must_tell_gpu:
            return None
        self._must_tell_gpu = False
        return say(
            "A graphics driver does not answer, so Kvasir runs on the CPU alone until it is started again. "
            "Restart the computer, or update the driver."
        )

    def note_success(self) -> None:
        """A request was answered: earlier crashes no longer count."""
        self._deaths.clear()

    def note_new_try(self) -> None:
        """The person asks for another try: earlier crashes no longer count."""
        self._deaths.clear()
        self.machine.set_without_gpu(False)
        self._must_tell_gpu = False

    def note_loaded(self) -> Sentence | None:
        """A model is loaded, so the CPU code works; a sentence for the person if it is not the code used before."""
        return self.machine.note_loaded(self._used, self._ready) if self._ready is not None else None

    def after_death(self, exit_code: int | None, stage: LoadStage | None, *, is_late: bool = False) -> Advice:
        """Decide what to do; ``stage`` is the stage of the load in which the process died, if it was loading.

        ``is_late``: it was ended because it did not become ready in time.
        """
        if is_late:
            return self._after_hanging_start()
        ready = self._ready if stage is LoadStage.WARM_UP else None
        if ready is not None and self.machine.try_other_code(
            self._used, exit_code, ready.cpu_variant, ready.cpu_variants
        ):
            return Advice(restart=True, retry=True)
        self._deaths.append(self._clock())
        is_often = len(self._deaths) > RESTARTS_MAX and self._deaths[-1] - self._deaths[0] < RESTARTS_PERIOD_S
        return Advice(restart=not is_often)

    def _after_hanging_start(self) -> Advice:
        """Retry without GPUs: only the start of a GPU driver can take so long."""
        if self.machine.code.without_gpu:
            return Advice(restart=False)
        self.machine.set_without_gpu(True)
        self._must_tell_gpu = True
        return Advice(restart=True, retry=True)


def describe_exit(exit_code: int | None, stage: LoadStage | None) -> Sentence:
    """One sentence for the person about a process that died."""
    when = say("while loading the model") if stage is not None else say("while it was working")
    if exit_code == -getattr(signal, "SIGKILL", 9):
        return say(
            "The engine was ended by the system, usually because memory ran out. A smaller context window, "
            "q8_0 for K and V or a smaller model helps."
        )
    if exit_code is not None and exit_code < 0:
        name = _signal_name(-exit_code)
        return say("The engine crashed {0} ({1}). Your text is safe; try again, or choose other settings.", when, name)
    code = say("unknown") if exit_code is None else str(exit_code)
    return say("The engine ended unexpectedly {0} (exit code {1}). Your text is safe; try again.", when, code)


def _signal_name(number: int) -> str | Sentence:
    try:
        return signal.Signals(number).name
    except ValueError:
        return say("signal {0}", number)
