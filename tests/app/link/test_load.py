"""Every road of a wish for a model, step by step and at random: what is shown as loaded is what the engine has."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from app.link.load import (
    Answered,
    Chosen,
    Do,
    Effect,
    GivenUp,
    Load,
    Looked,
    Measured,
    Sent,
    Stage,
    UnloadWanted,
    Wanted,
    Why,
    Wish,
    step,
)
from app.link.status import EngineState, EngineStatus
from app.store.setup import Setup
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import (
    EngineLost,
    Event,
    Failed,
    LoadCancelled,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    ModelUnloaded,
)
from engine.api.sentences import say
from engine.api.settings import LoadSettings
from engine.models.gguf import ModelInfo
from tests.app.fake_engine import READY, model_facts

BEFORE, AFTER, CHOSEN = (LoadSettings(n_ctx=n_ctx) for n_ctx in (512, 1024, 2048))
HEADER = cast("ModelInfo", object())
NO_MODEL = EngineError(ErrorCode.MODEL_EMPTY, say(say("It is empty.")))


def opened(number: int, path: str = "/a.gguf") -> Wanted:
    return Wanted(Wish(number, path, Setup()))


def applied(number: int, load: LoadSettings = AFTER) -> Wanted:
    return Wanted(Wish(number, "/a.gguf", Setup(load), Why.APPLIED, before=Setup(BEFORE)))


def begun(request_id: int) -> LoadProgress:
    return LoadProgress(request_id, LoadStage.READING, 0.0)


def loaded(request_id: int) -> ModelLoaded:
    return ModelLoaded(request_id, model_facts())


def failed(request_id: int) -> Failed:
    return Failed(request_id, ErrorCode.OUT_OF_MEMORY, say(say("Too much.")))


def lost(*request_ids: int, reload_id: int | None = None, outcome: LossOutcome = LossOutcome.RESTARTED) -> EngineLost:
    return EngineLost(-11, outcome, ErrorCode.ENGINE_CRASHED, say("It crashed."), "", request_ids, reload_id)


GAVE_UP = LossOutcome.GAVE_UP
SURE, UNSURE = Looked(1), Looked(1, is_sure=False)
LOADED = (opened(1), SURE, Sent(1, 11), begun(11), loaded(11))
RELOADING = (*LOADED, applied(2), Looked(2), Sent(2, 12))

ROADS = {
    "a file is looked at first": ((opened(1),), Stage.WANTED, [Do.LOOK]),
    "a wrong one costs nothing": ((*LOADED, opened(2), Looked(2, NO_MODEL)), Stage.LOADED, [Do.TELL, Do.END]),
    "what surely fits is loaded": ((opened(1), SURE), Stage.LOADING, [Do.SEND]),
    "what fits is chosen": ((opened(1), Looked(1, header=HEADER)), Stage.CHECKED, [Do.CHOOSE]),
    "and loaded": ((opened(1), Looked(1, header=HEADER), Chosen(1, CHOSEN)), Stage.LOADING, [Do.SEND]),
    "also where it is not found out": ((opened(1), Looked(1, header=HEADER), Chosen(1)), Stage.LOADING, [Do.SEND]),
    "a choice that does not fit is measured": (
        (opened(1), Looked(1, header=HEADER), Chosen(1, CHOSEN, fits=False)),
        Stage.PLANNED,
        [Do.MEASURE],
    ),
    "what may not fit is measured": ((opened(1), UNSURE), Stage.PLANNED, [Do.MEASURE]),
    "and loaded where it fits": ((opened(1), UNSURE, Measured(1, fits=True)), Stage.LOADING, [Do.SEND]),
    "else the person is asked": ((opened(1), UNSURE, Measured(1, fits=False)), Stage.PLANNED, [Do.ASK]),
    "and listened to": (
        (opened(1), UNSURE, Measured(1, fits=False), Answered(1, CHOSEN)),
        Stage.LOADING,
        [Do.SEND],
    ),
    "also to a no": (
        (*LOADED, opened(2), Looked(2, is_sure=False), Measured(2, fits=False), Answered(2)),
        Stage.LOADED,
        [Do.END],
    ),
    "an answer about an older wish is none": ((opened(1), UNSURE, opened(2), Answered(1, CHOSEN)), Stage.WANTED, []),
    "of two wishes the newer one counts": ((opened(1), opened(2)), Stage.WANTED, [Do.END, Do.LOOK]),
    "a choice that comes after the deadline is none": (
        (opened(1), Looked(1, header=HEADER), Chosen(1, CHOSEN, fits=False), Chosen(1)),
        Stage.PLANNED,
        [],
    ),
    "a load under way goes on until the next one is known to be one": (
        (opened(1), SURE, Sent(1, 11), opened(2)),
        Stage.WANTED,
        [Do.LOOK],
    ),
    "and comes back where it is not": (
        (opened(1), SURE, Sent(1, 11), opened(2), Looked(2, NO_MODEL)),
        Stage.LOADING,
        [Do.TELL, Do.END],
    ),
    "else it is stopped first": (
        (opened(1), SURE, Sent(1, 11), opened(2), Looked(2)),
        Stage.LOADING,
        [Do.CANCEL, Do.SEND],
    ),
    "and has ended then": (
        (opened(1), SURE, Sent(1, 11), opened(2), Looked(2), Sent(2, 12), LoadCancelled(11)),
        Stage.LOADING,
        [Do.END],
    ),
    "a model is loaded": (LOADED, Stage.LOADED, [Do.END]),
    "one that fails is told": ((opened(1), SURE, Sent(1, 11), begun(11), failed(11)), None, [Do.TELL, Do.END]),
    "one that is given up is not": (
        (opened(1), SURE, Sent(1, 11), begun(11), GivenUp(), LoadCancelled(11)),
        None,
        [Do.END],
    ),
    "not even if it fails by then": ((opened(1), SURE, Sent(1, 11), begun(11), GivenUp(), failed(11)), None, [Do.END]),
    "who is too late with that has the model": (
        (opened(1), SURE, Sent(1, 11), begun(11), GivenUp(), loaded(11)),
        Stage.LOADED,
        [Do.END],
    ),
    "a choice is given up": ((*LOADED, opened(2), Looked(2, header=HEADER), GivenUp()), Stage.LOADED, [Do.END]),
    "other settings are loaded": ((*RELOADING, begun(12), loaded(12)), Stage.LOADED, [Do.END]),
    "those that fail bring back what was": ((*RELOADING, begun(12), failed(12)), Stage.LOADING, [Do.TELL, Do.SEND]),
    "those given up, too": ((*RELOADING, begun(12), GivenUp(), LoadCancelled(12)), Stage.LOADING, [Do.SEND]),
    "and those that end the engine": ((*RELOADING, begun(12), lost(12)), Stage.LOADING, [Do.SEND]),
    "which is there again then": (
        (*RELOADING, begun(12), failed(12), Sent(2, 13), begun(13), loaded(13)),
        Stage.ROLLED_BACK,
        [Do.END],
    ),
    "or not": ((*RELOADING, begun(12), failed(12), Sent(2, 13), begun(13), failed(13)), None, [Do.TELL, Do.END]),
    "those that are refused leave what is there": ((*RELOADING, failed(12)), Stage.LOADED, [Do.TELL, Do.END]),
    "those that newer ones replace bring nothing back": (
        (*RELOADING, begun(12), applied(3), Looked(3), Sent(3, 13), LoadCancelled(12)),
        Stage.LOADING,
        [Do.END],
    ),
    "what the engine loses it loads again": ((*LOADED, lost(reload_id=12)), Stage.LOADING, []),
    "and has": ((*LOADED, lost(reload_id=12), begun(12), loaded(12)), Stage.LOADED, [Do.END]),
    "or tells why not": ((*LOADED, lost(reload_id=12), begun(12), failed(12)), None, [Do.TELL, Do.END]),
    "that is given up like any load": ((*LOADED, lost(reload_id=12), GivenUp()), Stage.LOADING, [Do.CANCEL]),
    "an engine that can't start is not started for a choice": (
        (opened(1), Looked(1, header=HEADER), lost(outcome=GAVE_UP)),
        None,
        [Do.END],
    ),
    "but for whoever was asked": (
        (opened(1), UNSURE, Measured(1, fits=False), lost(outcome=GAVE_UP)),
        Stage.PLANNED,
        [],
    ),
    "it brings nothing back": ((*RELOADING, begun(12), lost(12, outcome=GAVE_UP)), None, [Do.END]),
    "unloading ends everything": ((*RELOADING, begun(12), UnloadWanted()), None, [Do.END]),
    "but not what is wanted after it": ((*LOADED, UnloadWanted(), opened(2), ModelUnloaded()), Stage.WANTED, []),
    "what was loaded is gone with the engine": ((*LOADED, opened(2), ModelUnloaded()), Stage.WANTED, []),
    "what nobody asked for changes nothing": ((*LOADED, failed(99), LoadCancelled(98)), Stage.LOADED, []),
}


@pytest.mark.parametrize(("events", "stage", "todo"), ROADS.values(), ids=ROADS.keys())
def test_a_road(events: tuple, stage: Stage | None, todo: list[Do]) -> None:
    load: Load | None = None
    effects: tuple[Effect, ...] = ()
    for event in events:
        load, effects = step(load, event)
    assert (load.stage if load is not None else None) == stage
    assert [effect.do for effect in effects] == todo


def test_what_is_brought_back_is_what_was_in_force_and_why_is_still_known() -> None:
    load: Load | None = None
    effects: tuple[Effect, ...] = ()
    for event in (*RELOADING, begun(12), failed(12)):
        load, effects = step(load, event)
    assert (effects[-1].do, effects[-1].load.settings) == (Do.SEND, BEFORE)
    for event in (Sent(2, 13), begun(13), loaded(13)):
        load, effects = step(load, event)
    assert (effects[0].load.error, effects[0].load.settings) == (failed(12), BEFORE)


# At random


@dataclass
class Engine:
    """The client and its process: one command after the other; ``heard`` are events on their way to the window."""

    heard: list[Event] = field(default_factory=lambda: [READY])
    inbox: list[tuple[int, str, LoadSettings]] = field(default_factory=list)
    cancelled: set[int] = field(default_factory=set)
    running: tuple[int, str, LoadSettings] | None = None
    held: tuple[str, LoadSettings] | None = None
    confirmed: dict[int, tuple[str, LoadSettings]] = field(default_factory=dict)
    has_given_up: bool = False
    ids: itertools.count = field(default_factory=lambda: itertools.count(100))

    def load(self, path: str, settings: LoadSettings) -> int:
        request_id = next(self.ids)
        if self.has_given_up:
            self.heard.append(lost(request_id, outcome=GAVE_UP))
        else:
            self.inbox.append((request_id, path, settings))
        return request_id

    def start(self) -> None:
        if self.has_given_up:
            self.has_given_up = False
            self.heard.append(READY)

    def work(self, chance: random.Random) -> None:
        if self.running is not None:
            request_id, path, settings = self.running
            self.running = None
            if request_id in self.cancelled:
                self.heard.append(LoadCancelled(request_id))
            elif chance.random() < 0.3:
                self.heard.append(failed(request_id))
            else:
                self.held = self.confirmed[request_id] = (path, settings)
                self.heard.append(ModelLoaded(request_id, replace(model_facts(path), settings=settings)))
        elif self.inbox:
            request_id, path, settings = self.inbox.pop(0)
            if chance.random() < 0.1 and request_id not in self.cancelled:
                # Refused before anything is unloaded.
                self.heard.append(failed(request_id))
                return
            self.held = None
            if request_id in self.cancelled:
                self.heard.append(LoadCancelled(request_id))
                return
            self.running = (request_id, path, settings)
            self.heard.append(begun(request_id))

    def die(self, outcome: LossOutcome) -> None:
        if self.has_given_up:
            return
        under_way = [*([self.running] if self.running else []), *self.inbox]
        model, self.held, self.running, self.inbox = self.held, None, None, []
        reload_id = None
        if model is not None and not under_way and outcome is LossOutcome.RESTARTED:
            reload_id = next(self.ids)
            self.inbox.append((reload_id, *model))
        self.has_given_up = outcome is GAVE_UP
        self.heard.append(lost(*(one[0] for one in under_way), reload_id=reload_id, outcome=outcome))
        if not self.has_given_up:
            self.heard.append(READY)

    def unload(self) -> None:
        if self.has_given_up:
            return
        under_way = [*([self.running] if self.running else []), *self.inbox]
        self.held, self.running, self.inbox = None, None, []
        if under_way:
            self.heard.append(lost(*(one[0] for one in under_way)))
        self.heard += [ModelUnloaded(), READY]


@dataclass
class Window:
    """What the loader does, without Qt: it carries effects out, and shows a status."""

    engine: Engine
    load: Load | None = None
    status: EngineStatus = EngineStatus()
    open: list[tuple[Do, Load]] = field(default_factory=list)
    ended: Counter = field(default_factory=Counter)
    n_wishes: int = 0

    def take(self, event: object) -> None:
        if isinstance(event, Event):
            self.status = self.status.after(event)
        self.load, effects = step(self.load, event)  # type: ignore[arg-type]
        for effect in effects:
            self.carry_out(effect)

    def carry_out(self, effect: Effect) -> None:
        load = effect.load
        if effect.do is Do.SEND:
            if self.status.state is EngineState.STOPPED:
                self.engine.start()
                self.status = EngineStatus()
            request_id = self.engine.load(load.wish.path, load.settings)
            self.status = self.status.when_loading(request_id, load.wish.path)
            self.take(Sent(load.wish.number, request_id))
        elif effect.do is Do.CANCEL:
            assert load.request_id is not None
            self.engine.cancelled.add(load.request_id)
        elif effect.do is Do.END:
            if load.wish.why is not Why.RECOVERED:
                self.ended[load.wish.number] += 1
            if load.stage is Stage.LOADED:
                assert self.engine.confirmed[load.request_id or 0] == (load.wish.path, load.settings)
        elif effect.do is not Do.TELL:
            self.open.append((effect.do, load))

    def want(self, chance: random.Random) -> None:
        self.n_wishes += 1
        settings = LoadSettings(n_ctx=chance.choice((256, 512, 1024)))
        path = self.status.model_path
        if path is not None and chance.random() < 0.6:
            before = Setup(self.status.facts.settings if self.status.facts is not None else BEFORE)
            self.take(Wanted(Wish(self.n_wishes, path, Setup(settings), Why.APPLIED, before=before)))
        else:
            self.take(Wanted(Wish(self.n_wishes, chance.choice(("/a.gguf", "/b.gguf")), Setup(settings))))

    def answer(self, chance: random.Random) -> None:
        """Somebody else is done: the thread that looks, the planner, the person; in any order."""
        if not self.open:
            return
        do, load = self.open.pop(chance.randrange(len(self.open)))
        number, luck = load.wish.number, chance.random()
        if do is Do.LOOK:
            is_opened = load.wish.why is Why.OPENED
            error = NO_MODEL if is_opened and luck < 0.2 else None
            self.take(
                Looked(
                    number, error, is_sure=luck < 0.6, header=HEADER if is_opened and chance.random() < 0.5 else None
                )
            )
        elif do is Do.CHOOSE:
            self.take(Chosen(number, None if luck < 0.2 else CHOSEN, fits=luck < 0.7))
        elif do is Do.MEASURE:
            self.take(Measured(number, fits=luck < 0.4))
        else:
            self.take(Answered(number, None if luck < 0.4 else CHOSEN))


@pytest.mark.parametrize("n_steps", [25, 60, 120])
def test_whatever_happens_in_whatever_order_the_window_ends_up_with_what_the_engine_has(n_steps: int) -> None:
    for seed in range(150):
        chance = random.Random(seed)
        engine = Engine()
        window = Window(engine)

        def hear(window: Window = window, engine: Engine = engine) -> None:
            if engine.heard:
                window.take(engine.heard.pop(0))

        def unload(window: Window = window, engine: Engine = engine) -> None:
            window.take(UnloadWanted())
            engine.unload()

        for _ in range(n_steps):
            luck = chance.random()
            if luck < 0.15:
                window.want(chance)
            elif luck < 0.4:
                window.answer(chance)
            elif luck < 0.65:
                engine.work(chance)
            elif luck < 0.92:
                hear()
            elif luck < 0.95:
                window.take(GivenUp())
            elif luck < 0.97:
                unload()
            else:
                engine.die(LossOutcome.RESTARTED if luck < 0.99 else GAVE_UP)
        while window.open or engine.heard or engine.running or engine.inbox:
            window.answer(chance)
            engine.work(chance)
            hear()
        shown = window.status.facts
        assert (None if shown is None else (shown.path, shown.settings)) == engine.held, seed
        assert window.load is None or not window.load.is_under_way
        in_force = None if window.load is None else (window.load.wish.path, window.load.settings)
        assert in_force == engine.held, seed
        assert window.ended == Counter(range(1, window.n_wishes + 1)), f"each wish ends once: {seed}"
        assert not window.status.can_cancel_load
