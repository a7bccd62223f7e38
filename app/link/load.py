"""One wish for a loaded model, and how far it has come: a value, and the one function that moves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from app.store.setup import Setup
from engine.api.errors import EngineError
from engine.api.messages import (
    EngineLost,
    Event,
    Failed,
    LoadCancelled,
    LoadProgress,
    LossOutcome,
    ModelLoaded,
    ModelUnloaded,
)
from engine.api.plan import Proposal
from engine.api.settings import LoadSettings

if TYPE_CHECKING:
    # Not at the start: the window is to be there first.
    from engine.models.gguf import ModelInfo


class Stage(StrEnum):
    """How far a wish has come; the last three are ends."""

    WANTED = "wanted"
    """Its file is being looked at."""
    CHECKED = "checked"
    """It is a chat model; with which settings it is loaded is being found out."""
    PLANNED = "planned"
    """Its settings may not fit: that is being measured, or the person asked."""
    LOADING = "loading"
    """The engine is at it, or will be."""
    LOADED = "loaded"
    ROLLED_BACK = "rolled_back"
    """It failed or was given up, and what was in force before is loaded."""
    FAILED = "failed"
    """It failed or was given up, and nothing was loaded in its place."""


_UNSENT = (Stage.WANTED, Stage.CHECKED, Stage.PLANNED)


class Why(StrEnum):
    """Where a wish comes from."""

    OPENED = "opened"
    """A file is wanted."""
    APPLIED = "applied"
    """The model that is there is wanted with other settings; where that fails, those in force before are."""
    RECOVERED = "recovered"
    """The engine was lost with its model, and loads it again by itself."""


@dataclass(frozen=True)
class Wish:
    """What is wanted. ``then`` is called once it is loaded; ``before`` is what is in force while it is not."""

    number: int
    path: str
    setup: Setup
    why: Why = Why.OPENED
    then: Callable[[], object] | None = None
    before: Setup | None = None


@dataclass(frozen=True)
class Load:
    """The newest wish, and how far it has come.

    ``settings`` are those it is loaded with, as far as that is known; ``header`` is there if they are to be chosen.
    ``behind`` is what the engine holds or works on until this load begins; it comes to the front again if this one ends
    before. ``is_cancelled``: the engine was told to stop. ``error``: why it failed; None where somebody gave it up.
    """

    wish: Wish
    settings: LoadSettings
    stage: Stage = Stage.WANTED
    header: ModelInfo | None = None
    request_id: int | None = None
    is_cancelled: bool = False
    is_going_back: bool = False
    error: EngineError | Failed | EngineLost | None = None
    behind: Load | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether it has not ended."""
        return self.stage is Stage.LOADING or self.stage in _UNSENT

    @property
    def is_expected(self) -> bool:
        """Whether it counts as a load already, although the engine was not asked yet."""
        return self.stage is Stage.CHECKED or (self.stage is Stage.LOADING and self.request_id is None)

    @property
    def is_there(self) -> bool:
        """Whether the engine holds a model for it."""
        return self.stage in (Stage.LOADED, Stage.ROLLED_BACK)


# What happens to a load beside the engine's events. ``number`` is that of the wish meant: of an older one, nothing is
# heard any more.


@dataclass(frozen=True)
class Wanted:
    """Somebody has a wish, in place of any that the engine was not told of yet."""

    wish: Wish


@dataclass(frozen=True)
class Looked:
    """The file was looked at. ``is_sure``: the settings fit, at a glance; ``header``: by it they are to be chosen."""

    number: int
    error: EngineError | None = None
    is_sure: bool = True
    header: ModelInfo | None = None


@dataclass(frozen=True)
class Chosen:
    """What fits was found out, or (None) was not."""

    number: int
    settings: LoadSettings | None = None
    fits: bool = True


@dataclass(frozen=True)
class Measured:
    """Whether the settings fit; ``proposal`` is the smallest change with which they would."""

    number: int
    fits: bool
    proposal: Proposal | None = None


@dataclass(frozen=True)
class Answered:
    """With which settings the person wants it loaded although it does not fit; None: not at all."""

    number: int
    settings: LoadSettings | None = None


@dataclass(frozen=True)
class Sent:
    """The engine was asked for it under this id."""

    number: int
    request_id: int


@dataclass(frozen=True)
class GivenUp:
    """The person does not want what is under way."""


@dataclass(frozen=True)
class UnloadWanted:
    """The person wants no model at all."""


_ANSWERS = {
    Looked: Stage.WANTED,
    Chosen: Stage.CHECKED,
    Measured: Stage.PLANNED,
    Answered: Stage.PLANNED,
}
"""What is heard in which stage; an answer that comes later is none."""

Happening = Wanted | Looked | Chosen | Measured | Answered | Sent | GivenUp | UnloadWanted | Event


class Do(StrEnum):
    """What is to be done after a step, with the load that it comes with."""

    LOOK = "look"
    CHOOSE = "choose"
    MEASURE = "measure"
    ASK = "ask"
    SEND = "send"
    CANCEL = "cancel"
    TELL = "tell"
    """Say why it failed."""
    END = "end"
    """It has ended, once and for all."""


@dataclass(frozen=True)
class Effect:
    """``proposal`` comes with ASK."""

    do: Do
    load: Load
    proposal: Proposal | None = None


Step = tuple[Load | None, tuple[Effect, ...]]


def step(load: Load | None, event: Happening) -> Step:
    """The load after something happened, and what is to be done now."""
    match event:
        case Wanted():
            return _after_wish(load, event.wish)
        case Looked() | Chosen() | Measured() | Answered():
            if load is None or load.wish.number != event.number or load.stage is not _ANSWERS[type(event)]:
                return load, ()
            return _before_sending(load, event)
        case Sent():
            return _after_sending(load, event)
        case GivenUp():
            return _give_up(load)
        case UnloadWanted():
            return None, _ends_of(load)
        case LoadProgress() | ModelLoaded() | LoadCancelled() | Failed():
            return _after_answer(load, event, is_newest=True)
        case EngineLost():
            return _after_loss(load, event, is_newest=True)
        case ModelUnloaded():
            return _after_unload(load), ()
    return load, ()


# Until the engine is asked


def _after_wish(load: Load | None, wish: Wish) -> Step:
    behind, effects = _end(load) if load is not None and load.stage in _UNSENT else (load, ())
    new = Load(wish, wish.setup.load, behind=behind)
    return new, (*effects, Effect(Do.LOOK, new))


def _before_sending(load: Load, event: Looked | Chosen | Measured | Answered) -> Step:
    match event:
        case Looked(error=EngineError()):
            return _end(replace(load, error=event.error))
        case Looked(header=header) if header is not None:
            # What the engine works on would be in the way of measuring what is free.
            behind, effects = _cancel(load.behind)
            load = replace(load, stage=Stage.CHECKED, header=header, behind=behind)
            return load, (*effects, Effect(Do.CHOOSE, load))
        case Chosen(settings=None):
            return _send(load, load.settings)
        case Looked() | Chosen():
            settings = event.settings if isinstance(event, Chosen) and event.settings is not None else load.settings
            is_sure = event.fits if isinstance(event, Chosen) else event.is_sure
            if is_sure:
                return _send(load, settings)
            load = replace(load, stage=Stage.PLANNED, settings=settings)
            return load, (Effect(Do.MEASURE, load),)
        case Measured():
            return _send(load, load.settings) if event.fits else (load, (Effect(Do.ASK, load, event.proposal),))
        case Answered():
            return _send(load, event.settings) if event.settings is not None else _end(load)


def _send(load: Load, settings: LoadSettings) -> Step:
    behind, effects = _cancel(load.behind)
    load = replace(load, stage=Stage.LOADING, settings=settings, behind=behind)
    return load, (*effects, Effect(Do.SEND, load))


def _after_sending(load: Load | None, event: Sent) -> Step:
    if load is None:
        return None, ()
    if load.wish.number == event.number and load.stage is Stage.LOADING and load.request_id is None:
        load = replace(load, request_id=event.request_id)
        return load, (Effect(Do.CANCEL, load),) if load.is_cancelled else ()
    behind, effects = _after_sending(load.behind, event)
    return replace(load, behind=behind), effects


def _cancel(load: Load | None) -> Step:
    """Have the engine stop; it says what became of it."""
    if load is None or load.stage is not Stage.LOADING or load.is_cancelled:
        return load, ()
    load = replace(load, is_cancelled=True)
    return load, (Effect(Do.CANCEL, load),) if load.request_id is not None else ()


def _give_up(load: Load | None) -> Step:
    if load is None or load.stage not in _UNSENT:
        return _cancel(load)
    behind, effects = _end(load)
    behind, more = _cancel(behind)
    return behind, (*effects, *more)


# What the engine says


def _after_answer(
    load: Load | None, event: LoadProgress | ModelLoaded | LoadCancelled | Failed, *, is_newest: bool
) -> Step:
    if load is None or event.request_id is None:
        return load, ()
    if load.stage is not Stage.LOADING or load.request_id != event.request_id:
        behind, effects = _after_answer(load.behind, event, is_newest=False)
        return replace(load, behind=behind), effects
    if isinstance(event, Failed | LoadCancelled):
        # A load that fails without having begun was refused, and what was loaded is still there.
        kept = load.behind if isinstance(event, Failed) else None
        return _not_loaded(load, event if isinstance(event, Failed) else None, kept, is_newest=is_newest)
    effects = _ends_of(load.behind)
    load = replace(load, behind=None)
    if isinstance(event, LoadProgress):
        return load, effects
    return _end(replace(load, stage=Stage.ROLLED_BACK if load.is_going_back else Stage.LOADED), effects)


def _not_loaded(load: Load, error: Failed | EngineLost | None, kept: Load | None, *, is_newest: bool) -> Step:
    """A load came to nothing; ``kept`` is what is there without it."""
    error = None if load.is_cancelled else error
    load = replace(load, error=error or load.error, behind=kept)
    effects = (Effect(Do.TELL, load),) if isinstance(error, Failed) else ()
    # One that was stopped for the sake of a newer wish brings nothing back.
    is_superseded = load.is_cancelled and not is_newest
    if load.wish.before is None or load.is_going_back or is_superseded:
        return _end(load, effects)
    if kept is not None and kept.is_there:
        return kept, (*effects, Effect(Do.END, replace(load, stage=Stage.ROLLED_BACK, behind=None)))
    settings = load.wish.before.load
    back = replace(load, settings=settings, request_id=None, is_cancelled=False, is_going_back=True)
    return back, (*effects, Effect(Do.SEND, back))


def _after_loss(load: Load | None, event: EngineLost, *, is_newest: bool) -> Step:
    if load is None:
        return None, ()
    if load.is_there:
        return _recovered(load, event), ()
    behind, effects = _after_loss(load.behind, event, is_newest=False)
    load = replace(load, behind=behind)
    is_lost = load.stage is Stage.LOADING and load.request_id in event.request_ids
    has_given_up = event.outcome is LossOutcome.GAVE_UP
    if is_lost and not has_given_up:
        after, more = _not_loaded(load, event, behind, is_newest=is_newest)
    elif is_lost or (has_given_up and load.stage is Stage.CHECKED):
        # An engine that can't start is not started again for what waited for it.
        after, more = _end(replace(load, error=event))
    else:
        return load, effects
    return after, (*effects, *more)


def _recovered(load: Load, event: EngineLost) -> Load | None:
    if event.reload_id is None:
        return None
    wish = replace(load.wish, why=Why.RECOVERED, then=None, before=None)
    return Load(wish, load.settings, Stage.LOADING, request_id=event.reload_id)


def _after_unload(load: Load | None) -> Load | None:
    """What the engine was not told of yet, or what waits for its next process, is still wanted."""
    if load is None or load.is_there:
        return None
    return replace(load, behind=_after_unload(load.behind))


# Ends


def _end(load: Load, effects: tuple[Effect, ...] = ()) -> Step:
    """It has ended; what comes to the front now, if it is not there itself."""
    if load.is_there:
        return load, (*effects, Effect(Do.END, load))
    told = (Effect(Do.TELL, load),) if isinstance(load.error, EngineError) else ()
    return load.behind, (*effects, *told, Effect(Do.END, replace(load, stage=Stage.FAILED, behind=None)))


def _ends_of(load: Load | None) -> tuple[Effect, ...]:
    """What is still under way ends without having been told of."""
    if load is None:
        return ()
    own = (Effect(Do.END, replace(load, stage=Stage.FAILED, behind=None)),) if load.is_under_way else ()
    return (*_ends_of(load.behind), *own)
