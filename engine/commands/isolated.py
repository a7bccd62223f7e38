"""Runs a measurement in a process of its own, on CPU code that does not crash there."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from engine.api.errors import EngineError, ErrorCode
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.client import deadlines
from engine.client.log_tail import read_log_tail
from engine.client.recovery import NOT_READY
from engine.commands.scratch import scratch_folder
from engine.native.importing import loading_library
from engine.worker.entry import prepare_process

TRIES = 3
"""The best CPU code, the next one, and that without repacked weights."""

_Result = TypeVar("_Result")


def run_isolated(measure: Callable[..., _Result], *arguments: Any) -> _Result:
    """The result of ``measure(log, options, *arguments)``, computed in a spawned process.

    All of it must pickle, and importing ``measure`` must not import llama.cpp, which comes after what it prints into.
    Raises the EngineError that ``measure`` raises, ENGINE_CRASHED or ENGINE_START_FAILED.
    """
    with scratch_folder() as folder:
        options = EngineOptions(log_path=str(folder / "engine.log"))
        for _attempt in range(TRIES):
            ours, theirs = multiprocessing.get_context("spawn").Pipe(duplex=False)
            process = multiprocessing.get_context("spawn").Process(
                target=_measure, args=(theirs, options, measure, arguments), daemon=True
            )
            process.start()
            theirs.close()
            variant = ""
            try:
                if not ours.poll(deadlines.START_TIMEOUT_S):
                    process.kill()
                    process.join(deadlines.CLOSE_TIMEOUT_S)
                    raise EngineError(ErrorCode.ENGINE_START_FAILED, NOT_READY, read_log_tail(Path(options.log_path)))
                first = ours.recv()
                if not isinstance(first, EngineError):
                    variant = first
                    first = ours.recv()
                result = first
            except EOFError:
                process.join()
                is_last_code = variant in ("", "built in") or variant in options.excluded_cpu_variants
                options = (
                    replace(options, without_extra_bufts=True)
                    if is_last_code
                    else replace(options, excluded_cpu_variants=(*options.excluded_cpu_variants, variant))
                )
                continue
            finally:
                ours.close()
            process.join()
            if isinstance(result, EngineError):
                raise result
            return result  # type: ignore[no-any-return]
        raise EngineError(
            ErrorCode.ENGINE_CRASHED,
            say("llama.cpp crashed during the measurement: try a smaller context window, or f16 for K and V."),
            read_log_tail(Path(options.log_path)),
        )


def _measure(pipe: Connection, options: EngineOptions, measure: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    prepare_process(options)
    try:
        with loading_library():
            from engine.native.devices import Ggml
            from engine.native.log import NativeLog

            log = NativeLog()
            variant = Ggml().load_backends(excluded_cpu_variants=options.excluded_cpu_variants).cpu_variant
        pipe.send(variant)
        pipe.send(measure(log, options, *arguments))
    except EngineError as error:
        pipe.send(error)
