"""The entry point of the planner process, which ends when it is idle."""

from __future__ import annotations

import contextlib
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from engine.api.messages import (
    ChooseSettings,
    Command,
    Event,
    FindFit,
    FitFound,
    MemoryPlanned,
    PlanMemory,
    PlanQuestion,
    SettingsChosen,
)
from engine.api.options import EngineOptions
from engine.native.importing import loading_library, prepare_process
from engine.worker.entry import answer

if TYPE_CHECKING:
    from engine.native.meter import MemoryMeter


def run(pipe: Connection, options: EngineOptions, idle_s: float) -> None:
    """Answer questions until none came for ``idle_s`` seconds, or until the client is gone."""
    prepare_process(options)
    meter: MemoryMeter | None = None

    def emit(event: Event) -> None:
        with contextlib.suppress(OSError):
            pipe.send(event)

    def carry_out(question: Command) -> None:
        nonlocal meter
        assert isinstance(question, PlanQuestion)
        if meter is None:
            # Only after prepare_process, since this imports llama.cpp. A failure is the answer to this question.
            with loading_library():
                from engine.worker.library import LlamaCpp

                library = LlamaCpp(options, write_to=None)
                meter = library.open_meter()
            emit(library.ready)
        asked = Path(question.path), question.settings, question.given_back
        match question:
            case PlanMemory():
                emit(MemoryPlanned(meter.plan(*asked, question.policy)))
            case FindFit():
                emit(FitFound(meter.find_fit(*asked)))
            case ChooseSettings():
                emit(SettingsChosen(meter.choose(*asked)))

    with contextlib.suppress(EOFError, OSError):
        while pipe.poll(idle_s):
            answer(carry_out, pipe.recv(), emit)
