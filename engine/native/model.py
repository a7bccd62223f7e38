"""A model in llama.cpp: the weights and the vocabulary of one GGUF file."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
from collections.abc import Callable, Sequence
from pathlib import Path

import llama_cpp.llama_cpp as llama

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.api.settings import GpuLayers, LoadSettings, SplitMode
from engine.cache.memory import MemoryKind
from engine.models.rope import DEFAULT_BASE, Rope
from engine.native.context import NativeContext, set_fields
from engine.native.log import NativeLog
from engine.native.report import read_load
from engine.native.vocabulary import NativeVocabulary

_SPLIT_MODES = {SplitMode.NONE: 0, SplitMode.LAYER: 1, SplitMode.ROW: 2}


class NativeModel:
    """Weights and vocabulary of one GGUF file.

    ``no_alloc`` reads the metadata alone and lets contexts be measured without taking memory. ``on_progress`` gets the
    fraction loaded and answers whether to go on; a load it ends raises EngineError with the code MODEL_LOAD_FAILED.
    """

    def __init__(
        self,
        path: Path,
        settings: LoadSettings,
        log: NativeLog,
        *,
        on_progress: Callable[[float], bool] = lambda _fraction: True,
        no_alloc: bool = False,
    ) -> None:
        self.path = path
        self._log = log
        self.library_version = library_version()
        params = llama.llama_model_default_params()
        layers = settings.n_gpu_layers
        mode = llama.LLAMA_LOAD_MODE_MMAP if settings.use_mmap and not no_alloc else llama.LLAMA_LOAD_MODE_NONE
        # The struct holds bare pointers: callback and array must live until the load is over.
        progress = llama.llama_progress_callback(lambda fraction, _data: on_progress(fraction))
        shares = (ctypes.c_float * llama.llama_max_devices())(*settings.tensor_split[: llama.llama_max_devices()])
        set_fields(
            params,
            n_gpu_layers=-1 if isinstance(layers, GpuLayers) else layers,
            main_gpu=settings.main_gpu,
            split_mode=_SPLIT_MODES[settings.split_mode],
            load_mode=mode,
            use_extra_bufts=settings.use_extra_bufts,
            no_alloc=no_alloc,
            progress_callback=progress,
        )
        if settings.tensor_split:
            set_fields(params, tensor_split=shares)
        with log.capture() as self.load_log:
            self.pointer = llama.llama_model_load_from_file(str(path).encode(), params)
        if not self.pointer:
            raise load_error(path, self.load_log)
        # A context with yarn and a scale multiplies it in the model itself (llama_init_from_model).
        self.n_ctx_train = int(llama.llama_model_n_ctx_train(self.pointer))
        self.vocabulary = NativeVocabulary(llama.llama_model_get_vocab(self.pointer))

    def metadata(self, key: str) -> str | None:
        """A metadata value as text, or None."""
        size = llama.llama_model_meta_val_str(self.pointer, key.encode(), None, 0)
        if size < 0:
            return None
        buffer = ctypes.create_string_buffer(size + 1)
        llama.llama_model_meta_val_str(self.pointer, key.encode(), buffer, size + 1)
        return buffer.value.decode("utf-8", "replace")

    def description(self) -> str:
        """llama.cpp's short description, such as "llama 135M Q4_1"."""
        buffer = ctypes.create_string_buffer(256)
        llama.llama_model_desc(self.pointer, buffer, 256)
        return buffer.value.decode("utf-8", "replace")

    @property
    def rope(self) -> Rope:
        """Rotary positions as llama.cpp read them."""
        keys = f"{self.metadata('general.architecture')}.rope."
        return Rope(
            base=float(self.metadata(keys + "freq_base") or 0.0) or DEFAULT_BASE,
            scaling=(scaling := self.metadata(keys + "scaling.type") or "linear"),
            factor=1 / (float(llama.llama_model_rope_freq_scale_train(self.pointer)) or 1.0),
            n_ctx_original=int(self.metadata(keys + "scaling.original_context_length") or 0),
            is_off=scaling == "none",
        )

    @property
    def n_layer(self) -> int:
        return int(llama.llama_model_n_layer(self.pointer))

    @functools.cached_property
    def n_layer_gpu(self) -> int:
        """Layers that lie on a GPU, without the output layer."""
        return sum(device != "CPU" for device in read_load(self.load_log).layer_devices[: self.n_layer])

    @property
    def n_params(self) -> int:
        return int(llama.llama_model_n_params(self.pointer))

    @property
    def size_bytes(self) -> int:
        """Bytes of all tensors."""
        return int(llama.llama_model_size(self.pointer))

    @property
    def memory_kind_without_swa(self) -> MemoryKind:
        if llama.llama_model_is_hybrid(self.pointer):
            return MemoryKind.HYBRID
        return MemoryKind.RECURRENT if llama.llama_model_is_recurrent(self.pointer) else MemoryKind.ATTENTION

    def open_context(self, settings: LoadSettings) -> NativeContext:
        return NativeContext(self, settings, self._log)

    def close(self) -> None:
        if self.pointer:
            llama.llama_model_free(self.pointer)
            self.pointer = None


def load_error(path: Path, log_lines: Sequence[str]) -> EngineError:
    """Why llama.cpp refused a file that has a sound header: its own last words are the detail."""
    detail = "\n".join(log_lines[-12:])
    return EngineError(
        ErrorCode.MODEL_LOAD_FAILED,
        say(
            "llama.cpp can't load {0}: it may need a newer Kvasir, or the file is damaged. Download it "
            "again, or choose another.",
            path.name,
        ),
        detail,
    )


def library_version() -> str:
    """The version of llama-cpp-python, which is bound to one of llama.cpp."""
    try:
        return importlib.metadata.version("llama-cpp-python")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
