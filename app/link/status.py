"""What the engine is doing, worked out from its events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from engine.api.messages import (
    ChatRestored,
    EngineLost,
    EngineReady,
    Event,
    Failed,
    Finished,
    LoadCancelled,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelFacts,
    ModelLoaded,
    ModelUnloaded,
    PrefillProgress,
    TextGenerated,
)


class EngineState(StrEnum):
    """The state of the engine in a word."""

    STARTING = "starting"
    NO_MODEL = "no_model"
    LOADING = "loading"
    READY = "ready"
    READING = "reading"
    ANSWERING = "answering"
    STOPPED = "stopped"


_STAGE_SPANS = {
    LoadStage.READING: (0.0, 0.05),
    LoadStage.WEIGHTS: (0.05, 0.85),
    LoadStage.CONTEXT: (0.85, 0.92),
    LoadStage.WARM_UP: (0.92, 1.0),
}
"""Which part of the bar each stage of a load takes, by what it usually takes of the time."""


@dataclass(frozen=True)
class EngineStatus:
    """The engine as last heard of.

    ``model_path`` is the file that is loaded or being loaded, ``facts`` are there only once it is. ``fraction`` of the
    load or of the prompt that is being read, 0 to 1. ``replaced`` is the model that is still there until a load really
    begins. Events of a request older than the newest one change nothing.
    """

    state: EngineState = EngineState.STARTING
    fraction: float = 0.0
    model_path: str | None = None
    facts: ModelFacts | None = None
    engine: EngineReady | None = None
    load_request: int = 0
    replaced: ModelFacts | None = None
    answer_request: int | None = None

    @property
    def can_answer(self) -> bool:
        """A model is loaded and nothing is under way."""
        return self.state is EngineState.READY

    @property
    def can_cancel_load(self) -> bool:
        """A load is under way, or waits for an engine that is starting."""
        return self.model_path is not None and self.facts is None

    @property
    def is_busy(self) -> bool:
        """An answer is under way."""
        return self.answer_request is not None

    def expecting(self, path: str) -> EngineStatus:
        """A load of this file is on its way."""
        state = EngineState.STARTING if self.engine is None else EngineState.LOADING
        return replace(
            self,
            state=state,
            fraction=0.0,
            model_path=path,
            facts=None,
            replaced=self.facts or self.replaced,
            answer_request=None,
        )

    def when_loading(self, request_id: int, path: str) -> EngineStatus:
        """A load was asked for."""
        return replace(self.expecting(path), load_request=request_id)

    def when_answering(self, request_id: int) -> EngineStatus:
        """An answer was asked for, or that a chat is read."""
        return replace(self, state=EngineState.READING, fraction=0.0, answer_request=request_id)

    def after(self, event: Event) -> EngineStatus:
        """The status once this has happened."""
        if isinstance(event, EngineReady):
            waiting = EngineState.NO_MODEL if self.model_path is None else EngineState.LOADING
            return replace(self, engine=event, state=waiting, fraction=0.0)
        if isinstance(event, LoadProgress | ModelLoaded):
            return self._after_load_event(event)
        if isinstance(event, ModelUnloaded):
            return self._after_unload()
        if isinstance(event, EngineLost):
            return self._after_loss(event)
        if isinstance(event, Failed | LoadCancelled) and event.request_id == self.load_request:
            return self._after_no_load(event)
        if isinstance(event, LoadCancelled) and self.can_cancel_load:
            # An older one was stopped, for which the model before had to go.
            return replace(self, replaced=None)
        return self._after_answer_event(event)

    def _after_load_event(self, event: LoadProgress | ModelLoaded) -> EngineStatus:
        # After a crash the client loads again by itself, under an id that is new to us: newer ones count.
        if self.model_path is None:
            return self
        if event.request_id < self.load_request:
            # An older one, that could not be stopped in time, changes what the newest one will replace.
            kept = event.facts if isinstance(event, ModelLoaded) else None
            return replace(self, replaced=kept) if self.can_cancel_load else self
        if isinstance(event, ModelLoaded):
            return replace(
                self,
                state=EngineState.READY,
                fraction=1.0,
                facts=event.facts,
                replaced=None,
                load_request=event.request_id,
                answer_request=None,
            )
        start, end = _STAGE_SPANS[event.stage]
        fraction = start + (end - start) * min(1.0, max(0.0, event.fraction))
        return replace(
            self,
            state=EngineState.LOADING,
            fraction=max(fraction, self.fraction) if self.state is EngineState.LOADING else fraction,
            replaced=None,
            load_request=event.request_id,
        )

    def _after_no_load(self, event: Failed | LoadCancelled) -> EngineStatus:
        if self.facts is not None:
            return self
        # A load that fails was refused before anything was unloaded.
        return self._without_load(self.replaced if isinstance(event, Failed) else None)

    def _without_load(self, kept: ModelFacts | None) -> EngineStatus:
        if kept is not None:
            return replace(self, state=EngineState.READY, model_path=kept.path, facts=kept, replaced=None, fraction=1.0)
        state = EngineState.STARTING if self.engine is None else EngineState.NO_MODEL
        return replace(self, state=state, model_path=None, replaced=None, fraction=0.0)

    def _after_unload(self) -> EngineStatus:
        if self.can_cancel_load:
            return self._waiting_load()
        return replace(
            self, state=EngineState.NO_MODEL, model_path=None, facts=None, replaced=None, answer_request=None
        )

    def _after_loss(self, event: EngineLost) -> EngineStatus:
        if self.can_cancel_load and self.load_request not in event.request_ids:
            return self._waiting_load()
        if event.outcome is LossOutcome.GAVE_UP:
            return EngineStatus(state=EngineState.STOPPED, load_request=self.load_request)
        if event.reload_id is not None:
            return EngineStatus(model_path=self.model_path, load_request=event.reload_id)
        return EngineStatus(load_request=self.load_request)

    def _waiting_load(self) -> EngineStatus:
        """A load that the process which ended has not seen: it is for the next one."""
        return EngineStatus(model_path=self.model_path, load_request=self.load_request)

    def _after_answer_event(self, event: Event) -> EngineStatus:
        request_id = getattr(event, "request_id", None)
        if self.answer_request is None or request_id != self.answer_request:
            return self
        if isinstance(event, PrefillProgress):
            fraction = event.n_done / event.n_total if event.n_total > 0 else 1.0
            return replace(self, state=EngineState.READING, fraction=min(1.0, max(0.0, fraction)))
        if isinstance(event, TextGenerated) and self.state is not EngineState.ANSWERING:
            return replace(self, state=EngineState.ANSWERING, fraction=0.0)
        if isinstance(event, Finished | Failed | ChatRestored):
            return replace(self, state=EngineState.READY, fraction=0.0, answer_request=None)
        return self
