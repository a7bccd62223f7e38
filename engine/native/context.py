"""A context of llama.cpp: decoding, and the primitives that move cells."""

from __future__ import annotations

import array
import ctypes
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import llama_cpp.llama_cpp as llama
import numpy as np

from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.api.settings import CacheType, FlashAttention, LoadSettings, RopeScaling, SamplingSettings
from engine.cache.memory import DecodeOutcome, DecodeStatus, StateBytes
from engine.models import geometry
from engine.native.log import NativeLog
from engine.native.report import read_context
from engine.native.sampler import Sampler
from engine.native.traits import memory_traits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engine.native.model import NativeModel

SEQUENCE = 0
"""The one llama.cpp sequence id in use: the active chat owns the whole context."""
INTERRUPT_PERIOD_S = 0.02
"""How often a running decode polls ``interrupt``; polling at every callback costs 30 % of the speed."""
SLOW_TOKEN_S = 0.1
"""Where a token takes longer, its decode can be stopped too; below, the callback alone costs 4 to 15 % of it."""

GROWTH_SHARE = 4
"""A snapshot may grow by a fourth where it lies: the next one of its chat, which is longer, then fits there too."""

GGML_TYPE_BF16 = 30
"""ggml's number for bf16, which the binding does not name."""

_GGML_TYPES = {
    CacheType.F32: llama.GGML_TYPE_F32,
    CacheType.F16: llama.GGML_TYPE_F16,
    CacheType.BF16: GGML_TYPE_BF16,
    CacheType.Q8_0: llama.GGML_TYPE_Q8_0,
    CacheType.Q5_1: llama.GGML_TYPE_Q5_1,
    CacheType.Q5_0: llama.GGML_TYPE_Q5_0,
    CacheType.Q4_1: llama.GGML_TYPE_Q4_1,
    CacheType.Q4_0: llama.GGML_TYPE_Q4_0,
    CacheType.IQ4_NL: llama.GGML_TYPE_IQ4_NL,
}
_FLASH_ATTENTION = {FlashAttention.AUTO: -1, FlashAttention.OFF: 0, FlashAttention.ON: 1}
_ROPE_SCALING = {None: -1, RopeScaling.NONE: 0, RopeScaling.LINEAR: 1, RopeScaling.YARN: 2}


def set_fields(struct: ctypes.Structure, **values: Any) -> None:
    """Set fields of a ctypes struct; raises if one does not exist, since ctypes accepts any attribute silently."""
    known = {field[0] for field in struct._fields_}
    for name, value in values.items():
        if name not in known:
            raise AttributeError(f"{type(struct).__name__} has no field {name}")
        setattr(struct, name, value)


class NativeContext:
    """A llama.cpp context with its cells. Implements ``engine.cache.memory.CacheMemory``.

    One sequence, positions given explicitly. Raises EngineError(CONTEXT_FAILED) if llama.cpp refuses the settings.
    """

    def __init__(self, model: NativeModel, settings: LoadSettings, log: NativeLog) -> None:
        self._model = model
        params = llama.llama_context_default_params()
        # llama.cpp rounds the number of cells up, but refuses batches larger than the number requested.
        n_ctx = geometry.n_cells(settings.n_ctx_or(model.n_ctx_train))
        n_threads = settings.n_threads or physical_cores()
        n_batch = min(settings.n_batch, n_ctx)
        set_fields(
            params,
            n_ctx=n_ctx,
            n_batch=n_batch,
            n_ubatch=min(settings.n_ubatch, n_batch),
            n_seq_max=1,
            n_threads=n_threads,
            n_threads_batch=n_threads,
            rope_scaling_type=_ROPE_SCALING[settings.rope_scaling],
            rope_freq_base=settings.rope_freq_base or 0.0,
            rope_freq_scale=settings.rope_freq_scale or 0.0,
            flash_attn_type=_FLASH_ATTENTION[settings.flash_attn],
            type_k=_GGML_TYPES[settings.type_k],
            type_v=_GGML_TYPES[settings.type_v],
            offload_kqv=settings.offload_kqv,
            swa_full=settings.swa_full,
            no_perf=True,
        )
        with log.capture() as self.load_log:
            self.pointer = llama.llama_init_from_model(model.pointer, params)
        if not self.pointer:
            raise EngineError(
                ErrorCode.CONTEXT_FAILED,
                say(
                    "llama.cpp can't make a context with these settings: a smaller context window or f16 for K and V "
                    "is the way out."
                ),
                "\n".join(self.load_log[-12:]),
            )
        self._memory = llama.llama_get_memory(self.pointer)
        self.n_batch = int(llama.llama_n_batch(self.pointer))
        self.n_ubatch = int(llama.llama_n_ubatch(self.pointer))
        self._batch = llama.llama_batch_init(self.n_batch, 0, 1)
        for i in range(self.n_batch):
            self._batch.n_seq_id[i] = 1
            self._batch.seq_id[i][0] = SEQUENCE
        self._abort = llama.ggml_abort_callback(self._on_abort_asked)
        self._interrupt: Callable[[], bool] | None = None
        self._token_s = 0.0
        self._next_look = 0.0
        self._is_shift_pending = False
        report = read_context(self.load_log)
        self.traits = memory_traits(model, self.pointer, settings, report.caches)
        self.flash_attn = report.flash_attn

    # Decoding

    def decode(
        self,
        tokens: Sequence[int],
        first_position: int,
        *,
        interrupt: Callable[[], bool] | None = None,
        all_logits: bool = False,
    ) -> DecodeOutcome:
        """Evaluate up to ``n_batch`` tokens at ``first_position`` and on, which must follow the last cell's position.

        ``interrupt`` is polled every 20 ms on the CPU, but not for a single token if decoding one is fast; an
        interrupted decode keeps the completed micro-batches. It is not polled while a K-shift is pending: after an
        interruption that would be applied twice in some layers. Logits are computed for the last token (for all with
        ``all_logits``).
        """
        n_tokens = len(tokens)
        if not 0 < n_tokens <= self.n_batch:
            raise ValueError(f"{n_tokens} tokens do not fit a batch of {self.n_batch}")
        self._fill_batch(tokens, first_position, all_logits)
        if self._is_shift_pending:
            interrupt, self._is_shift_pending = None, False
        is_watched = interrupt is not None and (n_tokens > 1 or self._token_s > SLOW_TOKEN_S)
        started = time.monotonic()
        if is_watched:
            self._interrupt, self._next_look = interrupt, started + INTERRUPT_PERIOD_S
            llama.llama_set_abort_callback(self.pointer, self._abort, None)
        try:
            result = int(llama.llama_decode(self.pointer, self._batch))
            if interrupt is not None and self._model.n_layer_gpu:
                # Otherwise the next chunks would be queued on the device before they could be cancelled.
                self.synchronize()
        finally:
            if is_watched:
                llama.llama_set_abort_callback(self.pointer, llama.ggml_abort_callback(0), None)
                self._interrupt = None
        if n_tokens == 1:
            self._token_s = time.monotonic() - started
        if result == 0:
            return DecodeOutcome(DecodeStatus.DONE, n_tokens)
        # llama.cpp keeps the complete micro-batches before the failed one.
        n_kept = max(0, self.last_position() + 1 - first_position)
        status = {1: DecodeStatus.NO_ROOM, 2: DecodeStatus.INTERRUPTED}.get(result, DecodeStatus.FAILED)
        return DecodeOutcome(status, n_kept if status is DecodeStatus.INTERRUPTED else 0)

    def _fill_batch(self, tokens: Sequence[int], first_position: int, all_logits: bool) -> None:
        n_tokens, batch = len(tokens), self._batch
        batch.n_tokens = n_tokens
        ctypes.memmove(batch.token, array.array("i", tokens).tobytes(), 4 * n_tokens)
        positions = array.array("i", range(first_position, first_position + n_tokens))
        ctypes.memmove(batch.pos, positions.tobytes(), 4 * n_tokens)
        ctypes.memset(batch.logits, int(all_logits), n_tokens)
        batch.logits[n_tokens - 1] = 1

    def _on_abort_asked(self, _data: object) -> bool:
        now = time.monotonic()
        if self._interrupt is None or now < self._next_look:
            return False
        self._next_look = now + INTERRUPT_PERIOD_S
        return self._interrupt()

    def logits(self, index: int = -1) -> NDArray[np.float32]:
        """A copy of the logits of one output of the last decode: float32, shape (n_vocab,)."""
        pointer = llama.llama_get_logits_ith(self.pointer, index)
        if not pointer:
            raise EngineError(
                ErrorCode.DECODE_FAILED,
                say("The model gave no result for this token."),
                f"logits of output {index}",
            )
        return np.ctypeslib.as_array(pointer, shape=(self.n_vocab,)).copy()

    @property
    def n_vocab(self) -> int:
        """The size of the vocabulary, which is the number of logits per output."""
        return self._model.vocabulary.n_tokens

    def sampler(self, settings: SamplingSettings, seed: int, recent_tokens: Sequence[int] = ()) -> Sampler:
        return Sampler(settings, seed, n_vocab=self.n_vocab, recent_tokens=recent_tokens)

    def sample(self, sampler: Sampler) -> int:
        return sampler.sample(self.pointer)

    def evaluate_blank(self, n_tokens: int, *, interrupt: Callable[[], bool] | None = None) -> bool:
        """Warm up: decode some tokens and discard them, which pages weights in and proves that decoding works.

        False if ``interrupt`` ended it. Raises EngineError(DECODE_FAILED).
        """
        vocabulary = self._model.vocabulary
        token = vocabulary.bos if vocabulary.bos is not None else vocabulary.eos or 0
        for n in (min(n_tokens, self.n_batch), 1):
            outcome = self.decode([token] * n, self.last_position() + 1, interrupt=interrupt)
            if outcome.status is DecodeStatus.INTERRUPTED:
                return False
            if outcome.status is not DecodeStatus.DONE:
                raise EngineError(
                    ErrorCode.DECODE_FAILED,
                    say(
                        "The model loads but can't compute with these settings: try f16 for K and V, or fewer "
                        "GPU layers."
                    ),
                    f"warm-up decode {outcome.status}",
                )
        self.synchronize()
        self.clear()
        return True

    def synchronize(self) -> None:
        """Wait until the device has finished; a decode on a GPU returns before that."""
        llama.llama_synchronize(self.pointer)

    # Cells

    def remove(self, p0: int, p1: int | None) -> bool:
        """Free the cells at positions [p0, p1) (None: to the end); False, with nothing changed, if unsupported."""
        return bool(llama.llama_memory_seq_rm(self._memory, SEQUENCE, p0, -1 if p1 is None else p1))

    def shift(self, p0: int, p1: int, delta: int) -> None:
        """Move the cells at [p0, p1) by ``delta`` positions; K is rotated by the next decode.

        Raises EngineError(CACHE_INCONSISTENT) if llama.cpp would abort on it.
        """
        if not self.traits.can_shift:
            raise EngineError(
                ErrorCode.CACHE_INCONSISTENT,
                say("This model's cache can't be renumbered in place."),
                f"[{p0}, {p1}) by {delta}",
            )
        llama.llama_memory_seq_add(self._memory, SEQUENCE, p0, p1, delta)
        self._is_shift_pending = True

    def clear(self) -> None:
        """Free every cell."""
        llama.llama_memory_clear(self._memory, False)
        self._is_shift_pending = False

    def last_position(self) -> int:
        """The highest position held, -1 if there is none (``llama_memory_seq_pos_max``)."""
        return int(llama.llama_memory_seq_pos_max(self._memory, SEQUENCE))

    def snapshot(self, *, partial: bool = False, room: StateBytes | None = None) -> memoryview:
        """The sequence's state; ``partial``: only the recurrent or sliding-window part (a checkpoint).

        ``room``: an obsolete snapshot. Copying into memory that is already allocated takes half the time, since the
        system has no pages to clear.
        """
        flags = llama.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY if partial else 0
        size = int(llama.llama_state_seq_get_size_ext(self.pointer, SEQUENCE, flags))
        state = np.empty(size, np.uint8) if partial else room_for(size, room)
        data = state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
        written = int(llama.llama_state_seq_get_data_ext(self.pointer, data, size, SEQUENCE, flags))
        if written != size:
            raise EngineError(
                ErrorCode.CACHE_INCONSISTENT, say("The cache could not be copied."), f"{written} of {size} bytes"
            )
        return state.data

    def restore(self, state: StateBytes, *, partial: bool = False) -> bool:
        """Restore a snapshot. False if llama.cpp refuses it; the sequence's cells are undefined then: clear them."""
        flags = llama.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY if partial else 0
        data = np.frombuffer(state, np.uint8).ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
        return int(llama.llama_state_seq_set_data_ext(self.pointer, data, len(state), SEQUENCE, flags)) == len(state)

    def close(self) -> None:
        if self.pointer:
            llama.llama_batch_free(self._batch)
            llama.llama_free(self.pointer)
            self.pointer = None


def room_for(n_bytes: int, used: StateBytes | None) -> NDArray[np.uint8]:
    """``n_bytes`` bytes: new ones, or those of ``used``, a snapshot that nobody needs any more, if they are as many.

    What a snapshot has to grow into takes no memory before it is written to.
    """
    if isinstance(used, memoryview) and isinstance(used.obj, np.ndarray):
        held: NDArray[np.uint8] = used.obj
        whole = held if held.base is None else held.base
        if n_bytes <= len(whole) <= 2 * n_bytes:
            return whole[:n_bytes]
    # NumPy asks for large pages: with bytes or a bytearray a copy takes five times as long.
    return np.empty(n_bytes + n_bytes // GROWTH_SHARE, np.uint8)[:n_bytes]


def physical_cores() -> int:
    """Physical cores this process may run on, at least one."""
    import psutil

    allowed = (
        len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else psutil.cpu_count() or 1
    )
    return max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))
