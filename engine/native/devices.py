"""The back ends of ggml with their devices."""

from __future__ import annotations

import ctypes
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import llama_cpp.llama_cpp as llama

from engine.api.errors import EngineError, ErrorCode
from engine.api.facts import known_memory
from engine.api.messages import BACKENDS_WITHOUT_GPU, Device
from engine.api.sentences import say
from engine.native.library_file import is_whole

_ACRONYMS = ("cpu", "rpc", "cuda", "hip", "blas")
_DEVICE_KINDS = ("cpu", "gpu", "igpu", "accel", "meta")


RPC_CONNECT_S = 3.0
"""The timeout for connecting to an RPC worker."""
_PROBE_TOKENS = 512
"""Columns of the matrix that llama.cpp asks with."""
_FEATURES_MAX = 64
"""A bound for lists that end with a null."""


class _InitParams(ctypes.Structure):
    _fields_ = (("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool))


class _Properties(ctypes.Structure):
    """The struct ggml_backend_dev_props, without the capabilities at its end."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("memory_free", ctypes.c_size_t),
        ("memory_total", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("device_id", ctypes.c_char_p),
        ("capabilities", ctypes.c_bool * 16),
    )


class _Feature(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("value", ctypes.c_char_p))


@dataclass(frozen=True)
class LoadedBackends:
    """The result of ``load_backends``: registered names and the CPU code in use.

    ``unusable``: intact back ends that don't load, such as a GPU's without its driver; ``damaged``: truncated files.
    """

    names: tuple[str, ...]
    cpu_variant: str
    cpu_variants: tuple[str, ...]
    unusable: tuple[str, ...] = field(default=())
    damaged: tuple[str, ...] = field(default=())


class Ggml:
    """The ggml library instance that llama.cpp uses, with its registry of back ends.

    WORKAROUND https://github.com/abetlen/llama-cpp-python/issues/2069: the binding does not load back ends that are
    built as loadable files, and its own handle opens a second copy of the library with an empty registry. Remove when
    llama_cpp loads back ends itself.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(_library_path()))
        signatures: dict[str, tuple[type | None, list[type]]] = {
            "ggml_backend_load": (ctypes.c_void_p, [ctypes.c_char_p]),
            "ggml_backend_register": (None, [ctypes.c_void_p]),
            "ggml_backend_reg_count": (ctypes.c_size_t, []),
            "ggml_backend_reg_get": (ctypes.c_void_p, [ctypes.c_size_t]),
            "ggml_backend_reg_name": (ctypes.c_char_p, [ctypes.c_void_p]),
            "ggml_backend_reg_by_name": (ctypes.c_void_p, [ctypes.c_char_p]),
            "ggml_backend_reg_get_proc_address": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
            "ggml_backend_dev_count": (ctypes.c_size_t, []),
            "ggml_backend_dev_get": (ctypes.c_void_p, [ctypes.c_size_t]),
            "ggml_backend_dev_name": (ctypes.c_char_p, [ctypes.c_void_p]),
            "ggml_backend_dev_description": (ctypes.c_char_p, [ctypes.c_void_p]),
            "ggml_backend_dev_type": (ctypes.c_int, [ctypes.c_void_p]),
            "ggml_backend_dev_get_props": (None, [ctypes.c_void_p, ctypes.POINTER(_Properties)]),
            "ggml_backend_dev_backend_reg": (ctypes.c_void_p, [ctypes.c_void_p]),
            "ggml_backend_dev_supports_op": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_void_p]),
            "ggml_backend_buft_name": (ctypes.c_char_p, [ctypes.c_void_p]),
            "ggml_backend_buffer_free": (None, [ctypes.c_void_p]),
            "ggml_backend_alloc_ctx_tensors_from_buft": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]),
            "ggml_tensor_overhead": (ctypes.c_size_t, []),
            "ggml_init": (ctypes.c_void_p, [_InitParams]),
            "ggml_free": (None, [ctypes.c_void_p]),
            "ggml_new_tensor_2d": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]),
            "ggml_mul_mat": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]),
        }
        base = ctypes.CDLL(str(_library_path("ggml-base")))
        self._c = SimpleNamespace()
        for name, (result, arguments) in signatures.items():
            function = getattr(self._library, name, None) or getattr(base, name)
            function.restype, function.argtypes = result, arguments
            setattr(self._c, name.removeprefix("ggml_backend_"), function)

    def backends(self) -> tuple[str, ...]:
        """Names of the registered back ends, as ggml spells them."""
        return tuple(_text(self._c.reg_name(self._c.reg_get(i))) for i in range(self._c.reg_count()))

    def load_backends(self, *, excluded_cpu_variants: Sequence[str] = (), without_gpu: bool = False) -> LoadedBackends:
        """Load every back end file beside llama_cpp, of the CPU's only the best variant that is not excluded.

        ``without_gpu`` leaves out GPU back ends, whose loading starts the drivers. Back ends that are linked in are
        registered already. Raises EngineError(BACKEND_MISSING) if there is no CPU back end in the end; any other file
        that does not load is only reported.
        """
        if self._c.reg_count():
            return LoadedBackends(self.backends(), cpu_variant="built in", cpu_variants=())
        found = _backend_files()
        files = [path for path in found if is_whole(path)]
        damaged = tuple(path.name for path in found if path not in files)
        variants = _cpu_variants(files)
        usable = [name for name in variants if name not in excluded_cpu_variants] or variants[-1:]
        unusable = []
        for path in files:
            variant = _cpu_variant(path)
            if variant is not None and variant not in usable[:1]:
                continue
            if without_gpu and _backend_name(path) not in BACKENDS_WITHOUT_GPU:
                continue
            if not self._c.load(str(path).encode()):
                unusable.append(_backend_name(path))
        if self._c.reg_by_name(b"CPU") is None:
            raise EngineError(
                ErrorCode.BACKEND_MISSING,
                say("llama.cpp's CPU code is missing or can't be loaded: install Kvasir again."),
                f"searched {[str(folder) for folder in _backend_folders()]}, unusable {unusable}, damaged {damaged}",
            )
        in_use = usable[0] if usable else "generic"
        return LoadedBackends(self.backends(), in_use, tuple(variants), tuple(unusable), damaged)

    def devices(self) -> tuple[Device, ...]:
        """Every device of every back end, with its free and total memory now (bytes)."""
        return tuple(self._device(self._c.dev_get(i)) for i in range(self._c.dev_count()))

    def _device(self, pointer: int) -> Device:
        properties = _Properties()
        self._c.dev_get_props(pointer, ctypes.byref(properties))
        # A device that does not report its memory gets no share of a plan.
        total, free = known_memory(properties.memory_total, properties.memory_free) or (0, 0)
        return Device(
            name=_text(self._c.dev_name(pointer)),
            description=_text(self._c.dev_description(pointer)),
            kind=self._kind(pointer),
            backend=_text(self._c.reg_name(self._c.dev_backend_reg(pointer))),
            free_bytes=free,
            total_bytes=total,
            bus_id=_text(properties.device_id) or None,
        )

    def flash_attention_pairs(self, backend: str) -> frozenset[str] | None:
        """K and V type pairs, such as "q8_0-q4_0", for which a CUDA build has fast kernels; None if not reported."""
        get_features = self._function(backend, "ggml_backend_get_features", ctypes.POINTER(_Feature), ctypes.c_void_p)
        if get_features is None:
            return None
        feature = get_features(self._c.reg_by_name(backend.encode()))
        for index in range(_FEATURES_MAX):
            if not feature[index].name:
                break
            if _text(feature[index].name) == "FA_QUANTS":
                return frozenset(_text(feature[index].value).split(";"))
        return None

    def repacking_buffers(self, type_number: int, n_row: int, n_rows: int) -> tuple[str, ...]:
        """Names of the CPU's buffer types that would repack a matrix of rows of ``n_row`` elements.

        Checked as in llama.cpp's load: with a tensor in that buffer type, which is allocated for a moment.
        """
        cpu = next((i for i in range(self._c.dev_count()) if self._kind(self._c.dev_get(i)) == "cpu"), None)
        buffer_types = ctypes.POINTER(ctypes.c_void_p)
        get_extra = self._function("CPU", "ggml_backend_dev_get_extra_bufts", buffer_types, ctypes.c_void_p)
        if cpu is None or get_extra is None:
            return ()
        device = self._c.dev_get(cpu)
        names, extra = [], get_extra(device)
        for index in range(_FEATURES_MAX):
            if not extra or not extra[index]:
                break
            if self._takes_matrix(device, extra[index], type_number, n_row, n_rows):
                names.append(_text(self._c.buft_name(extra[index])))
        return tuple(names)

    def _takes_matrix(self, device: int, buffer_type: int, type_number: int, n_row: int, n_rows: int) -> bool:
        params = _InitParams(8 * self._c.ggml_tensor_overhead(), None, True)
        weights, graph = self._c.ggml_init(params), self._c.ggml_init(params)
        matrix = self._c.ggml_new_tensor_2d(weights, type_number, n_row, n_rows)
        buffer = self._c.alloc_ctx_tensors_from_buft(weights, buffer_type)
        try:
            inputs = self._c.ggml_new_tensor_2d(graph, llama.GGML_TYPE_F32, n_row, _PROBE_TOKENS)
            product = self._c.ggml_mul_mat(graph, matrix, inputs)
            return bool(buffer) and bool(self._c.dev_supports_op(device, product))
        finally:
            if buffer:
                self._c.buffer_free(buffer)
            self._c.ggml_free(graph)
            self._c.ggml_free(weights)

    def _kind(self, device: int) -> str:
        """The kind of a device; a type unknown to this version counts as an accelerator without memory."""
        return dict(enumerate(_DEVICE_KINDS)).get(self._c.dev_type(device), "accel")

    def add_rpc_server(self, endpoint: str) -> None:
        """Register the devices of a llama.cpp RPC server, ``host:port``; raises EngineError(BACKEND_MISSING)."""
        add_server = self._rpc_function("ggml_backend_rpc_add_server", ctypes.c_void_p, ctypes.c_char_p)
        found: list[int] = []
        if _is_listening(endpoint):
            # llama.cpp aborts if no server listens, and waits for ever if another service does.
            asking = threading.Thread(target=lambda: found.append(add_server(endpoint.encode())), daemon=True)
            asking.start()
            asking.join(RPC_CONNECT_S)
        registry = found[0] if found else None
        if not registry:
            raise EngineError(
                ErrorCode.BACKEND_MISSING,
                say("No RPC worker answers at {0}: start one there, or remove it from the settings.", endpoint),
            )
        self._c.register(registry)

    def serve_rpc(self, endpoint: str, n_threads: int) -> None:
        """Serve this machine's CPU device at ``host:port``; returns only when the server ends."""
        start_server = self._rpc_function(
            "ggml_backend_rpc_start_server",
            None,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_void_p),
        )
        cpu = [self._c.dev_get(i) for i in range(self._c.dev_count()) if self._kind(self._c.dev_get(i)) == "cpu"]
        start_server(endpoint.encode(), None, n_threads, 1, (ctypes.c_void_p * 1)(*cpu[:1]))

    def _rpc_function(self, name: str, result: type | None, *arguments: type) -> Any:
        function = self._function("RPC", name, result, *arguments)
        if function is None:
            raise EngineError(ErrorCode.BACKEND_MISSING, say("This build of llama.cpp has no RPC back end."), name)
        return function

    def _function(self, backend: str, name: str, result: type | None, *arguments: type) -> Any:
        """A back end-specific function; None if the back end doesn't export it."""
        registry = self._c.reg_by_name(backend.encode())
        address = registry and self._c.reg_get_proc_address(registry, name.encode())
        return ctypes.CFUNCTYPE(result, *arguments)(address) if address else None


def _is_listening(endpoint: str) -> bool:
    host, _, port = endpoint.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), RPC_CONNECT_S):
            return True
    except (OSError, ValueError, OverflowError):
        return False


def _text(raw: bytes | None) -> str:
    return raw.decode("utf-8", "replace") if raw else ""


def _package_folder() -> Path:
    return Path(llama.__file__).parent


def _library_path(stem: str = "ggml") -> Path:
    """The library file that libllama links: on Linux the name with the version, ``libggml.so.0``."""
    folder = _package_folder() / "lib"
    pattern = {"darwin": f"lib{stem}.0.dylib", "win32": f"{stem}.dll"}.get(sys.platform, f"lib{stem}.so.0")
    fallback = {"darwin": f"lib{stem}.dylib", "win32": f"lib{stem}.dll"}.get(sys.platform, f"lib{stem}.so")
    for name in (pattern, fallback):
        if (folder / name).exists():
            return folder / name
    raise EngineError(
        ErrorCode.BACKEND_MISSING,
        say("llama.cpp's libraries are missing: install Kvasir again."),
        str(folder / pattern),
    )


def _backend_folders() -> list[Path]:
    """The folders of back end files: ``bin`` beside the package in a wheel, its own folder in a frozen program."""
    folders = [_package_folder().parent / "bin", _package_folder() / "lib", _package_folder() / "bin"]
    frozen = getattr(sys, "_MEIPASS", None)
    return ([Path(frozen) / "bin"] if frozen else []) + folders


def _backend_files() -> list[Path]:
    """Loadable back end files, GPU ones before the CPU's, as ``ggml_backend_load_all_from_path`` orders them."""
    prefix, suffix = ("ggml-", ".dll") if sys.platform == "win32" else ("libggml-", ".so")
    for folder in _backend_folders():
        files = sorted(path for path in folder.glob(f"{prefix}*{suffix}") if not path.name.startswith(f"{prefix}base"))
        if files:
            return sorted(files, key=lambda path: _cpu_variant(path) is not None)
    return []


def _backend_name(path: Path) -> str:
    """``Vulkan`` for libggml-vulkan.so."""
    name = path.stem.removeprefix("lib").removeprefix("ggml-").split("-")[0]
    return name.upper() if name in _ACRONYMS else name.capitalize()


def _cpu_variant(path: Path) -> str | None:
    """``haswell`` for libggml-cpu-haswell.so, "generic" for a single libggml-cpu.so, None for other back ends."""
    stem = path.stem.removeprefix("lib").removeprefix("ggml-")
    return None if stem.split("-")[0] != "cpu" else stem.partition("-")[2] or "generic"


def _cpu_variants(files: Sequence[Path]) -> list[str]:
    """CPU variants that run on this processor, best first, by the score that each file computes for itself."""
    scored = []
    for path in files:
        variant = _cpu_variant(path)
        if variant is None:
            continue
        try:
            library = ctypes.CDLL(str(path))
            score = library.ggml_backend_score() if hasattr(library, "ggml_backend_score") else 1
        except OSError:
            continue
        if score > 0:
            scored.append((score, variant))
    return [variant for _score, variant in sorted(scored, reverse=True)]
