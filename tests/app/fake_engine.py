"""An engine without a process or a model: it says what a real one would, in the order in which a real one does."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from engine.api.errors import ErrorCode
from engine.api.messages import (
    CacheChanged,
    CacheUsage,
    Cancel,
    ChatRestored,
    Command,
    CountTokens,
    Device,
    DeviceMemory,
    EngineLost,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    Generate,
    GenerationStats,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelFacts,
    ModelLoaded,
    ModelUnloaded,
    PrefillProgress,
    RestoreChat,
    Span,
    SpanState,
    TextGenerated,
    TextKind,
    TokensCounted,
)
from engine.api.sentences import Sentence

N_CELLS = 4096
ROOM = 4000
READY = EngineReady(
    {"llama_cpp": "0.3.36", "llama.cpp": "b7213"},
    ("CPU", "RPC"),
    (Device("CPU", "A processor of eight cores", "cpu", "CPU", 6 * 2**30, 16 * 2**30),),
    "haswell",
    ("haswell", "sse42"),
)


def model_facts(path: str = "/models/Tiny-1B-Q4_K_M.gguf") -> ModelFacts:
    return ModelFacts(
        path=path,
        name="tiny",
        architecture="llama",
        quantization="Q4_K_M",
        n_params=1_000_000_000,
        size_bytes=700_000_000,
        n_layer=16,
        n_layer_gpu=0,
        n_ctx=N_CELLS,
        n_ctx_train=8192,
        n_batch=2048,
        n_ubatch=512,
        type_k="f16",
        type_v="f16",
        flash_attn=True,
        kv_bytes_per_token=32768.0,
        kv_k_bytes=N_CELLS * 16384,
        kv_v_bytes=N_CELLS * 16384,
        policies=("stop", "sinks"),
        default_policy="sinks",
        devices=(DeviceMemory("CPU", 700_000_000, N_CELLS * 32768, 0, 90_000_000, 0),),
    )


def stats(n_generated: int = 4, n_reused: int = 20, seed: int = 7) -> GenerationStats:
    return GenerationStats(
        n_prompt=32,
        n_reused=n_reused,
        n_skipped=0,
        n_fed=32 - n_reused,
        n_generated=n_generated,
        n_evicted=0,
        n_recomputed=0,
        prefill_tps=248.0,
        decode_tps=36.4,
        ttft_ms=180.0,
        seed=seed,
    )


def usage(chat_id: str, n_used: int = 40, n_evicted: int = 0, spans: tuple[Span, ...] = ()) -> CacheUsage:
    return CacheUsage(
        chat_id=chat_id,
        n_cells=N_CELLS,
        n_used=n_used,
        n_sink=4,
        n_window=N_CELLS - 4,
        n_evicted=n_evicted,
        n_skipped=0,
        n_reused=20,
        n_until_eviction=N_CELLS - n_used,
        n_renumbered=0,
        n_recomputed=0,
        next_position=n_used + n_evicted,
        used_bytes=n_used * 32768,
        allocated_bytes=N_CELLS * 32768,
        spans=spans,
    )


def span(start: int, end: int, index: int, state: SpanState = SpanState.CACHED) -> Span:
    return Span(start, end, state, "user", index, False)


class FakeEngine:
    """Has the public methods of EngineClient; ``post`` is the window's end of the pipe.

    By itself it answers every command at once. With ``loads_by_hand`` or ``answers_by_hand`` it only notes the command
    in ``sent``, and the test posts the events.
    """

    def __init__(
        self, post: Callable[[Event], None], *, loads_by_hand: bool = False, answers_by_hand: bool = False
    ) -> None:
        self.post = post
        self.sent: list[Command] = []
        self.answer = "Red, green and **blue**."
        self.loads_by_hand = loads_by_hand
        self.answers_by_hand = answers_by_hand
        self.is_running = False
        self._ids = itertools.count(1)
        self._open: list[Generate] = []
        self._reading: set[int] = set()

    def next_request_id(self) -> int:
        return next(self._ids)

    def start(self) -> None:
        self.is_running = True
        self.post(READY)

    def send(self, command: Command) -> None:
        self.sent.append(command)
        if isinstance(command, LoadModel) and not self.loads_by_hand:
            for stage in (LoadStage.WEIGHTS, LoadStage.WARM_UP):
                self.post(LoadProgress(command.request_id, stage, 0.5))
            self.post(ModelLoaded(command.request_id, model_facts(command.path)))
        elif isinstance(command, Generate):
            self._open.append(command)
            if not self.answers_by_hand:
                self._answer(command)
        elif isinstance(command, RestoreChat):
            if command.evaluate:
                self._reading.add(command.request_id)
            if not self.answers_by_hand:
                self.post(CacheChanged(usage(command.chat_id)))
                self.restored(command.request_id)
        elif isinstance(command, CountTokens):
            n_draft = len(command.draft.split())
            self.post(TokensCounted(command.request_id, n_draft, n_draft, ROOM))
        elif isinstance(command, Cancel):
            if any(isinstance(one, LoadModel) and one.request_id == command.request_id for one in self.sent):
                self.post(LoadCancelled(command.request_id))
            for request in [one for one in self._open if one.request_id == command.request_id]:
                self.finish(request, reason=FinishReason.CANCELLED)
            if command.request_id in self._reading:
                self.restored(command.request_id)

    def unload(self) -> None:
        self.post(ModelUnloaded())
        self.post(READY)

    def close(self) -> None:
        self.is_running = False

    # What tests ask for

    def last(self, kind: type[Command]) -> Command:
        return next(command for command in reversed(self.sent) if isinstance(command, kind))

    @property
    def request(self) -> Generate:
        """The newest request for an answer."""
        command = self.last(Generate)
        assert isinstance(command, Generate)
        return command

    def stream(self, text: str, kind: TextKind = TextKind.ANSWER, *, request_id: int | None = None) -> None:
        self.post(TextGenerated(request_id or self.request.request_id, kind, text))

    def finish(
        self, request: Generate | None = None, text: str = "", reason: FinishReason = FinishReason.END_OF_TURN
    ) -> None:
        request = request or self.request
        self._open = [one for one in self._open if one is not request]
        self.post(Finished(request.request_id, reason, stats(), text, "", tuple(range(len(text.split())))))

    def restored(self, request_id: int) -> None:
        """A chat is in the context, and was read for it if that was wanted."""
        is_read = request_id in self._reading
        self._reading.discard(request_id)
        self.post(ChatRestored(request_id, replace(stats(0), decode_tps=0.0, ttft_ms=None) if is_read else None))

    def die(
        self, *request_ids: int, outcome: LossOutcome = LossOutcome.RESTARTED, is_up_again: bool = True
    ) -> int | None:
        """The process ended; with RESTARTED a new one is up at once, and is asked for the model under this id."""
        code = ErrorCode.ENGINE_CRASHED
        sentence = Sentence("The engine crashed while it was working (SIGSEGV). Your text is safe; try again.")
        self._open = []
        self._reading.clear()
        reload_id = self.next_request_id() if outcome is LossOutcome.RESTARTED else None
        self.post(EngineLost(-11, outcome, code, sentence, "ggml: the last line of the log", request_ids, reload_id))
        if outcome is LossOutcome.RESTARTED and is_up_again:
            self.post(READY)
        return reload_id

    def _answer(self, request: Generate) -> None:
        self.post(PrefillProgress(request.request_id, 16, 32, 0))
        self.post(PrefillProgress(request.request_id, 32, 32, 0))
        for word in self.answer.split(" "):
            self.post(TextGenerated(request.request_id, TextKind.ANSWER, word + " "))
        self.post(CacheChanged(usage(request.chat_id)))
        self.finish(request, self.answer + " ")
