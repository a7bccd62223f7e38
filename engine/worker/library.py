"""Opens llama.cpp in a process, with back ends and RPC workers."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path

from engine import __version__
from engine.api.errors import EngineError
from engine.api.messages import EngineReady
from engine.api.options import EngineOptions
from engine.api.settings import LoadSettings
from engine.native.devices import Ggml
from engine.native.log import NativeLog
from engine.native.meter import MemoryMeter
from engine.native.model import NativeModel, library_version


class LlamaCpp:
    """llama.cpp in this process. Implements ``engine.worker.backend.Backend``.

    Loads the back ends and connects to the RPC workers of the options; raises EngineError(BACKEND_MISSING).
    ``write_to``: the file descriptor for its log.
    """

    def __init__(self, options: EngineOptions, *, write_to: int | None = 2) -> None:
        self._without_extra_bufts = options.without_extra_bufts
        self._log = NativeLog(write_to=write_to)
        self._ggml = ggml = Ggml()
        loaded = ggml.load_backends(
            excluded_cpu_variants=options.excluded_cpu_variants, without_gpu=options.without_gpu
        )
        self.unusable, self.damaged = loaded.unusable, loaded.damaged
        unreachable = []
        for endpoint in options.rpc_servers:
            try:
                ggml.add_rpc_server(endpoint)
            except EngineError as error:
                unreachable.append(error.sentence)
        self.unreachable = tuple(unreachable)
        self.ready = EngineReady(
            versions(),
            loaded.names,
            ggml.devices(),
            loaded.cpu_variant,
            loaded.cpu_variants,
            process_id=os.getpid(),
            without_gpu=options.without_gpu,
        )

    def open_model(self, path: Path, settings: LoadSettings, on_progress: Callable[[float], bool]) -> NativeModel:
        return NativeModel(path, settings, self._log, on_progress=on_progress)

    def open_meter(self) -> MemoryMeter:
        return MemoryMeter(self._ggml, self._log, without_extra_bufts=self._without_extra_bufts)

    def log_tail(self) -> str:
        return self._log.tail()

    def close(self) -> None:
        self._log.close()


def versions() -> dict[str, str]:
    """Versions that a bug report needs."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "kvasir": __version__,
        "llama_cpp": library_version(),
    }
