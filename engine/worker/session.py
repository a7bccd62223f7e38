"""The state of the engine process: the library, at most one loaded model, the snapshot tiers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.api.chat import Message
from engine.api.errors import EngineError, ErrorCode
from engine.api.installation import cpu_only_message
from engine.api.messages import (
    ChatTier,
    ChatTiersChanged,
    Command,
    CountTokens,
    Device,
    Event,
    ForgetAllChats,
    ForgetChat,
    ForgetOtherChats,
    Generate,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    ModelLoaded,
    Notice,
    NoticeCode,
    RestoreChat,
    SetTierBudgets,
    TokensCounted,
)
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.api.settings import GpuLayers, LoadSettings
from engine.devices import spare_ram_bytes
from engine.models.gguf import ModelInfo, read_model_info, require_chat_model
from engine.plan import check, ram
from engine.snapshots.folder import SnapshotFolder
from engine.snapshots.tiers import Tiers
from engine.text.confined import ConfinedTemplate, TemplateProcess
from engine.text.look import Interrupted, Look, looking
from engine.text.template import load_template
from engine.text.tokens import estimated_tokens
from engine.worker.answer import Answer
from engine.worker.backend import Backend, Meter
from engine.worker.loaded_model import GPU_PROBE_TOKENS, LoadedModel
from engine.worker.reading import restore

PROGRESS_PERIOD_S = 0.05
WARM_UP_TOKENS = 8
COUNT_S = 2.0
"""The timeout of a token count, after which it is estimated: it is shown while the person types."""
COUNT_YIELD_S = 0.25
"""The same while another command is queued, such as a newer count."""
CLOSE_WRITE_S = 2.0
"""How long the process may go on to write what is in RAM alone before it ends; the client kills it a second later."""
LOAD_WRITE_S = 0.5
"""The same before another model is loaded. Nearly always there is nothing to write: an idle second was enough."""


class Session:
    """Executes commands; every answer goes through ``emit``.

    ``is_cancelled(request_id)`` is polled while a command runs; ``is_wanted()``, whether another command is queued,
    while an estimate would do as the answer. Raises EngineError if a request fails.
    """

    def __init__(
        self,
        backend: Backend,
        options: EngineOptions,
        emit: Callable[[Event], None],
        is_cancelled: Callable[[int], bool],
        is_wanted: Callable[[], bool],
    ) -> None:
        self._options = options
        self._emit = emit
        self._is_cancelled = is_cancelled
        self._is_wanted = is_wanted
        self._backend = backend
        self._loaded: LoadedModel | None = None
        folder = SnapshotFolder(Path(options.snapshot_folder)) if options.snapshot_folder else None
        self._tiers = Tiers(options.tiers, folder, spare_ram_bytes)
        self._told_tiers: tuple[ChatTier, ...] = ()
        self._templates = TemplateProcess(timeout_s=options.template_timeout_s)
        emit(backend.ready)
        for name in backend.damaged:
            damaged = say("The file {0} of Kvasir is damaged and is left out: install Kvasir again.", name)
            emit(Notice(NoticeCode.BACKEND_UNUSABLE, damaged))
        for unreachable in backend.unreachable:
            emit(Notice(NoticeCode.BACKEND_UNUSABLE, unreachable))
        if not has_gpu(backend.ready.devices) and not options.without_gpu:
            # A GPU back end without its driver is normal on most machines, so it is not reported.
            made_for = (*backend.ready.backends, *backend.unusable)
            emit(Notice(NoticeCode.CPU_ONLY, cpu_only_message(made_for), backend.log_tail()))

    def carry_out(self, command: Command) -> None:
        """Execute a command."""
        match command:
            case LoadModel():
                self._load(command)
            case Generate():
                loaded = self._require_model()
                is_cancelled = partial(self._is_cancelled, command.request_id)
                # The active chat changes long before the answer ends, so the tiers are reported from within.
                Answer(loaded, command, self._emit, is_cancelled, self.tell_tiers).give()
            case RestoreChat():
                restore(self._require_model(), command, self._emit, partial(self._is_cancelled, command.request_id))
            case CountTokens():
                self._count(command)
            case ForgetChat():
                if self._loaded is not None and self._loaded.active.chat_id == command.chat_id:
                    self._loaded.active.forget()
                self._tiers.forget(command.chat_id)
            case ForgetOtherChats():
                if self._loaded is not None and self._loaded.active.chat_id not in command.chat_ids:
                    self._loaded.active.forget()
                self._tiers.forget_others(command.chat_ids)
            case ForgetAllChats():
                if self._loaded is not None:
                    self._loaded.active.forget()
                self._tiers.forget_all()
            case SetTierBudgets():
                self._tiers.set_budgets(command.settings)
            case _:
                raise EngineError(ErrorCode.INTERNAL, say("The engine got a command it does not know."), repr(command))

    def work_idle(self, is_wanted: Callable[[], bool]) -> None:
        """Background work while idle: write snapshots to disk, and free RAM if the machine is short of it.

        Ends soon after ``is_wanted()`` becomes True.
        """
        if not is_wanted():
            warm = self._loaded.active if self._loaded is not None else self._tiers
            for _pause in warm.write_behind():
                if is_wanted():
                    break
        self._tiers.relieve()
        self.tell_tiers()

    @property
    def holds_chats_in_ram(self) -> bool:
        """Whether snapshots are in RAM, so that background work should be repeated."""
        return self._tiers.is_in_ram

    def tell_tiers(self) -> None:
        """Emit ChatTiersChanged if the tiers have changed."""
        tiers = self._loaded.active.chat_tiers() if self._loaded is not None else ()
        if tiers != self._told_tiers:
            self._told_tiers = tiers
            self._emit(ChatTiersChanged(tiers))

    def close(self) -> None:
        """Free everything; snapshots that are only in RAM are written to disk, as far as time allows."""
        deadline = time.monotonic() + CLOSE_WRITE_S
        if self._loaded is not None:
            self._loaded.active.save()
        # Free the model's memory first: another process may be waiting for it.
        self._unload()
        self._templates.end()
        self._write_until(deadline)
        self._backend.close()

    def _write_until(self, deadline: float, is_unwanted: Callable[[], bool] = lambda: False) -> None:
        """Write snapshots that are only in RAM to disk until the deadline, newest first."""
        for _pause in self._tiers.write_behind():
            if time.monotonic() > deadline or is_unwanted():
                break

    def _require_model(self) -> LoadedModel:
        if self._loaded is None:
            raise EngineError(ErrorCode.NO_MODEL, say("No model is loaded: choose one first."))
        return self._loaded

    def _unload(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None
            self._tiers.bind("")

    # Loading

    def _load(self, command: LoadModel) -> None:
        if self._loaded is not None:
            self._loaded.active.save()
            # Save to disk first, in case the load crashes the process.
            self._write_until(time.monotonic() + LOAD_WRITE_S, lambda: self._is_cancelled(command.request_id))
        # Free the old model's memory before the new load allocates any, whether that succeeds or not.
        self._unload()
        if self._is_cancelled(command.request_id):
            self._emit(LoadCancelled(command.request_id))
            return
        started = time.perf_counter()
        self._emit(LoadProgress(command.request_id, LoadStage.READING, 0.0))
        info = read_model_info(Path(command.path))
        require_chat_model(info)
        if info.chat_template:
            # The process starts while the weights are read. If it can't, a built-in template is the fallback later.
            with contextlib.suppress(OSError):
                self._templates.start()
        settings, notices = check.check_load(info, command.settings)
        if self._options.without_extra_bufts:
            settings = replace(settings, use_extra_bufts=False)
        meter = self._backend.open_meter()
        try:
            settings = self._with_gpu_layers(info, settings, meter)
            ram.require_memory(info, settings)
            self._loaded = self._load_native(command, info, settings)
            devices = meter.loaded_memory(self._loaded.model, self._loaded.context, settings)
            loaded_facts = self._loaded.facts(devices)
        except LoadWasCancelled:
            self._emit(LoadCancelled(command.request_id))
            return
        except BaseException:
            # A model that was not reported to the client must not stay loaded.
            self._unload()
            raise
        finally:
            meter.close()
        for adjusted in notices:
            self._emit(adjusted)
        for notice in self._loaded.template.notices:
            self._emit(Notice(NoticeCode.TEMPLATE, notice.sentence, notice.code))
        load_ms = 1000 * (time.perf_counter() - started)
        self._emit(ModelLoaded(command.request_id, replace(loaded_facts, load_ms=load_ms)))

    def _with_gpu_layers(self, info: ModelInfo, settings: LoadSettings, meter: Meter) -> LoadSettings:
        """Resolve an automatic number of GPU layers to as many as fit."""
        if not has_gpu(self._backend.ready.devices):
            return replace(settings, n_gpu_layers=0)
        if settings.n_gpu_layers is GpuLayers.AUTO:
            return replace(settings, n_gpu_layers=meter.fit_gpu_layers(info.path, settings))
        return settings

    def _load_native(self, command: LoadModel, info: ModelInfo, settings: LoadSettings) -> LoadedModel:
        request_id = command.request_id
        last_emit = 0.0

        def on_progress(fraction: float) -> bool:
            nonlocal last_emit
            now = time.monotonic()
            if now - last_emit > PROGRESS_PERIOD_S or fraction >= 1.0:
                last_emit = now
                self._emit(LoadProgress(request_id, LoadStage.WEIGHTS, fraction))
            return not self._is_cancelled(request_id)

        try:
            model = self._backend.open_model(info.path, settings, on_progress)
        except EngineError as error:
            if self._is_cancelled(request_id):
                raise LoadWasCancelled from error
            if not info.is_architecture_known:
                raise EngineError(
                    ErrorCode.MODEL_ARCHITECTURE_UNKNOWN,
                    say(
                        "This is a “{0}” model, which this version can't run: it needs a newer Kvasir.",
                        info.architecture,
                    ),
                    error.detail,
                ) from error
            if settings.n_gpu_layers != 0:
                raise EngineError(
                    error.code,
                    say(
                        "llama.cpp can't load {0} with so much of it on the GPU: choose fewer GPU layers. If 0 "
                        "does not help either, the file may be damaged.",
                        info.path.name,
                    ),
                    error.detail,
                ) from error
            raise
        try:
            self._emit(LoadProgress(request_id, LoadStage.CONTEXT, 0.0))
            look = partial(self._look_at_load, request_id)
            open_template = partial(ConfinedTemplate, process=self._templates, look=look)
            template = load_template(model.vocabulary, info.chat_template, open_template)
            context = model.open_context(settings)
            try:
                self._emit(LoadProgress(request_id, LoadStage.WARM_UP, 0.0))
                n_tokens = GPU_PROBE_TOKENS if model.n_layer_gpu else WARM_UP_TOKENS
                is_warm = context.evaluate_blank(n_tokens, interrupt=lambda: self._is_cancelled(request_id))
                if not is_warm or self._is_cancelled(request_id):
                    raise LoadWasCancelled
                return LoadedModel(info, settings, model, context, self._tiers, template)
            except BaseException:
                context.close()
                raise
        except BaseException:
            model.close()
            raise

    def _look_at_load(self, request_id: int) -> None:
        if self._is_cancelled(request_id):
            raise LoadWasCancelled

    # Counting

    def _count(self, command: CountTokens) -> None:
        loaded = self._require_model()
        limits = loaded.manager.limits
        n_room = limits.capacity - limits.n_sink
        messages = (*command.messages, Message("user", command.draft))
        try:
            prompt = loaded.prompt(messages, look=self._look_at_count(command.request_id))
        except (Interrupted, EngineError):
            # The error will be reported when the message is sent; an estimate will do here.
            vocabulary = loaded.model.vocabulary
            n_draft = estimated_tokens(vocabulary, command.draft)
            n_before = estimated_tokens(vocabulary, "\n".join(message.text for message in command.messages))
            self._emit(TokensCounted(command.request_id, n_before + n_draft, n_draft, n_room, is_estimate=True))
            return
        turn = next((t for t in reversed(prompt.turns) if t.message_index == len(command.messages)), prompt.turns[-1])
        self._emit(TokensCounted(command.request_id, len(prompt.tokens), turn.end - turn.start, n_room))

    def _look_at_count(self, request_id: int) -> Look:
        started = time.monotonic()

        def is_unwanted() -> bool:
            seconds = time.monotonic() - started
            is_late = seconds > COUNT_S or (seconds > COUNT_YIELD_S and self._is_wanted())
            return is_late or self._is_cancelled(request_id)

        return looking(is_unwanted)


class LoadWasCancelled(Exception):
    """The load was cancelled."""


def has_gpu(devices: Sequence[Device]) -> bool:
    """Whether any device can take layers besides this machine's RAM."""
    return any(device.is_gpu for device in devices)
