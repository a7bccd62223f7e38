"""Engine processes for the client's tests: they talk like the real one, and die when a path or a message says so."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection

from engine.api.errors import ErrorCode
from engine.api.messages import (
    Command,
    CountTokens,
    Device,
    EngineReady,
    Event,
    Failed,
    Finished,
    FinishReason,
    Generate,
    GenerationStats,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    Message,
    ModelFacts,
    ModelLoaded,
    Notice,
    NoticeCode,
    TextGenerated,
    TextKind,
    TokensCounted,
)
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.worker.entry import Inbox

VARIANTS = ("fast", "middle", "plain")
"""CPU variants, best first."""
SIGNALS = {"kill": signal.SIGKILL, "segv": signal.SIGSEGV, "abort": signal.SIGABRT, "term": signal.SIGTERM}


def run(pipe: Connection, options: EngineOptions) -> None:
    """A model's path is `dies-<signal>-<stage>` or `waits`; a message is `die <signal>`, `wait`, `hang` or a text."""
    _Worker(pipe, options).run()


def run_on_fast_machine(pipe: Connection, options: EngineOptions) -> None:
    """The fastest CPU code crashes in the first decode."""
    _Worker(pipe, options, works=lambda variant, _without: variant != "fast").run()


def run_on_wide_machine(pipe: Connection, options: EngineOptions) -> None:
    """Repacked weights crash in the first decode, whatever the CPU code."""
    _Worker(pipe, options, works=lambda _variant, without: without).run()


def run_on_bad_machine(pipe: Connection, options: EngineOptions) -> None:
    """The first decode always crashes."""
    _Worker(pipe, options, works=lambda _variant, _without: False).run()


def run_with_hanging_gpu(pipe: Connection, options: EngineOptions) -> None:
    """A driver that never comes back, where it is asked at all."""
    if not options.without_gpu:
        run_hanging(pipe, options)
    run(pipe, options)


def run_after_a_crash(pipe: Connection, options: EngineOptions) -> None:
    """The first process dies before it is ready; the next ones are as any other."""
    try:
        with open(options.log_path, "x"):  # noqa: PTH123
            die("segv")
    except FileExistsError:
        run(pipe, options)


def run_hanging(_pipe: Connection, _options: EngineOptions) -> None:
    """Never ready, and deaf."""
    signal.pause()


def run_ready_too_late(pipe: Connection, options: EngineOptions) -> None:
    """The first process gets ready at the very moment at which it is given up."""
    if not options.without_gpu:
        signal.sigwait({signal.SIGUSR1})
        worker = _Worker(pipe, options)
        worker.tell_ready()
        os._exit(1)
    run(pipe, options)


def run_hanging_at_its_end(pipe: Connection, options: EngineOptions) -> None:
    """The engine can't start, says why, and does not end."""
    pipe.send(Failed(None, ErrorCode.BACKEND_MISSING, say("The CPU code is missing."), "libggml"))
    run_hanging(pipe, options)


def run_without_library(pipe: Connection, options: EngineOptions) -> None:
    """The engine can't start, and says why."""
    pipe.send(Failed(None, ErrorCode.BACKEND_MISSING, say("The CPU code is missing."), "libggml"))
    os._exit(1)


def die(name: str) -> None:
    if name.isdigit():
        os._exit(int(name))
    os.kill(os.getpid(), SIGNALS[name])
    signal.pause()


class _Worker:
    def __init__(self, pipe: Connection, options: EngineOptions, *, works=lambda _variant, _without: True) -> None:
        self._pipe = pipe
        self._inbox = Inbox(pipe)
        usable = [variant for variant in VARIANTS if variant not in options.excluded_cpu_variants]
        self._variant = usable[0]
        self._works = works(self._variant, options.without_extra_bufts)
        self._path: str | None = None
        with open(options.log_path, "a") as log:  # noqa: PTH123
            log.write(f"started {self._variant} {options.without_extra_bufts}\n")

    def run(self) -> None:
        self.tell_ready()
        self._emit(Notice(NoticeCode.CPU_ONLY, say("No GPU.")))
        while (command := self._inbox.next()) is not None:
            self._carry_out(command)

    def tell_ready(self) -> None:
        cpu = Device("CPU", "A processor", "cpu", "CPU", 1, 2)
        versions = {"llama_cpp": "1.2.3", "pid": str(os.getpid())}
        self._emit(EngineReady(versions, ("CPU",), (cpu,), self._variant, VARIANTS))

    def _emit(self, event: Event) -> None:
        self._pipe.send(event)

    def _carry_out(self, command: Command) -> None:
        match command:
            case LoadModel():
                self._load(command)
            case Generate():
                self._generate(command)
            case CountTokens():
                self._emit(TokensCounted(command.request_id, 1, 1, 1))

    def _load(self, command: LoadModel) -> None:
        self._path = None
        _, _, way = command.path.partition("dies-")
        name, _, stage = way.partition("-")
        for step in LoadStage:
            if self._inbox.is_cancelled(command.request_id):
                self._emit(LoadCancelled(command.request_id))
                return
            self._emit(LoadProgress(command.request_id, step, 0.0))
            if stage == step or (step is LoadStage.WARM_UP and not self._works):
                if command.path.endswith("stopped"):
                    self._wait_for_stop(command.request_id)
                die(name if stage == step else "segv")
        if command.path.startswith("waits"):
            self._wait_for_stop(command.request_id)
            self._emit(LoadCancelled(command.request_id))
            return
        self._path = command.path
        self._emit(ModelLoaded(command.request_id, facts(command.path)))

    def _generate(self, command: Generate) -> None:
        request_id, text = command.request_id, command.messages[-1].text
        if self._path is None:
            self._emit(Failed(request_id, ErrorCode.NO_MODEL, say("No model is loaded: choose one first.")))
            return
        word, _, rest = text.partition(" ")
        self._emit(TextGenerated(request_id, TextKind.ANSWER, "partial"))
        if word == "hang":
            # As native code can: looks at no pipe, but ends with its client.
            client = multiprocessing.parent_process()
            assert client is not None
            client.join()
            os._exit(1)
        if word == "die":
            die(rest)
        reason = FinishReason.END_OF_TURN
        if word == "wait":
            self._wait_for_stop(request_id)
        if self._inbox.is_cancelled(request_id):
            reason = FinishReason.CANCELLED
        stats = GenerationStats(1, 0, 0, 1, 1, 0, 0, 1.0, 1.0, 1.0, 1)
        self._emit(Finished(request_id, reason, stats, f"{len(text)} characters", "", ()))

    def _wait_for_stop(self, request_id: int) -> None:
        while not self._inbox.is_cancelled(request_id):
            self._pipe.poll(1.0)


def facts(path: str) -> ModelFacts:
    return ModelFacts(
        path=path, name="fake", architecture="llama", quantization="F16", n_params=1, size_bytes=1, n_layer=1,
        n_layer_gpu=0, n_ctx=256, n_ctx_train=256, n_batch=1, n_ubatch=1, type_k="f16", type_v="f16", flash_attn=True,
        kv_bytes_per_token=1.0, kv_k_bytes=1, kv_v_bytes=1, policies=("stop",), default_policy="stop", devices=(),
    )  # fmt: skip


def message(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)
