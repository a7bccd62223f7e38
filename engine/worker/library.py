"""llama.cpp as a process opens it: its back ends, the workers it was told of, and what it then runs on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass

from engine import __version__
from engine.api.errors import EngineError
from engine.api.messages import EngineReady
from engine.api.options import EngineOptions
from engine.api.sentences import Sentence
from engine.native.devices import Ggml, LoadedBackends


@dataclass(frozen=True)
class OpenedLibrary:
    """``unreachable``: why workers of the options are left out, a sentence each."""

    ggml: Ggml
    backends: LoadedBackends
    ready: EngineReady
    unreachable: tuple[Sentence, ...]


def open_library(options: EngineOptions) -> OpenedLibrary:
    """Load the back ends and reach the RPC workers of the options; raises EngineError(BACKEND_MISSING)."""
    ggml = Ggml()
    backends = ggml.load_backends(excluded_cpu_variants=options.excluded_cpu_variants, without_gpu=options.without_gpu)
    unreachable = []
    for endpoint in options.rpc_servers:
        try:
            ggml.add_rpc_server(endpoint)
        except EngineError as error:
            unreachable.append(error.sentence)
    ready = EngineReady(
        versions(),
        backends.names,
        ggml.devices(),
        backends.cpu_variant,
        backends.cpu_variants,
        process_id=os.getpid(),
        without_gpu=options.without_gpu,
    )
    return OpenedLibrary(ggml, backends, ready, tuple(unreachable))


def versions() -> dict[str, str]:
    """Versions that a bug report needs."""
    try:
        binding = importlib.metadata.version("llama-cpp-python")
    except importlib.metadata.PackageNotFoundError:
        binding = "unknown"
    return {
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "kvasir": __version__,
        "llama_cpp": binding,
    }
