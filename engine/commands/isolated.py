"""Runs a measurement in a separate process, with a fallback to CPU code that does not crash."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from engine.api.errors import EngineError, ErrorCode
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.client import deadlines
from engine.client.machine import Machine
from engine.client.process import read_log_tail
from engine.client.recovery import NOT_READY
from engine.commands.scratch import scratch_folder
from engine.native.importing import loading_library, prepare_process

CRASHED = say("llama.cpp crashed during the measurement: try a smaller context window, or f16 for K and V.")

_Result = TypeVar("_Result")


def run_isolated(measure: Callable[..., _Result], *arguments: Any) -> _Result:
    """The result of ``measure(log, options, *arguments)``, computed in a spawned process.

    All arguments and the result must pickle, and importing ``measure`` must not import llama.cpp, whose output must be
    redirected first.
    Raises the EngineError that ``measure`` raises, ENGINE_CRASHED or ENGINE_START_FAILED.
    """
    context, machine = multiprocessing.get_context("spawn"), Machine()
    with scratch_folder() as folder:
        log_path = folder / "engine.log"
        while True:
            code = machine.code
            ours, theirs = context.Pipe(duplex=False)
            options = code.applied(EngineOptions(log_path=str(log_path)))
            process = context.Process(target=_measure, args=(theirs, options, measure, arguments), daemon=True)
            process.start()
            theirs.close()
            # The CPU code in use with the available ones, then the result; or an error instead.
            said: list[Any] = []
            try:
                if not ours.poll(deadlines.START_TIMEOUT_S):
                    process.kill()
                    process.join(deadlines.CLOSE_TIMEOUT_S)
                    raise EngineError(ErrorCode.ENGINE_START_FAILED, NOT_READY, read_log_tail(log_path))
                while True:
                    said.append(ours.recv())
            except (EOFError, OSError):
                process.join()
            finally:
                ours.close()
            if said and isinstance(said[-1], EngineError):
                raise said[-1]
            if len(said) > 1:
                return said[1]  # type: ignore[no-any-return]
            if not (said and machine.try_other_code(code, process.exitcode, *said[0])):
                raise EngineError(ErrorCode.ENGINE_CRASHED, CRASHED, read_log_tail(log_path))


def _measure(pipe: Connection, options: EngineOptions, measure: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    prepare_process(options)
    try:
        with loading_library():
            from engine.native.devices import Ggml
            from engine.native.log import NativeLog

            log = NativeLog()
            backends = Ggml().load_backends(excluded_cpu_variants=options.excluded_cpu_variants)
        pipe.send((backends.cpu_variant, backends.cpu_variants))
        pipe.send(measure(log, options, *arguments))
    except EngineError as error:
        pipe.send(error)
