"""The one way to a loaded model: it is looked at, what fits is found out, the person is asked, the engine loads it."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.link import load as loads
from app.link.background import Background
from app.link.file_check import FreeMemory, check_model_file, held, read_header, surely_fits
from app.link.load import Do, Effect, Load, Stage, Why, Wish
from app.link.model_setups import ModelSetups
from app.link.plan_service import PlanService
from app.link.session import EngineSession
from app.link.status import EngineStatus
from app.store.setup import Setup
from engine.api.messages import ChooseSettings, FindFit, FitFound, PlanAnswer, SettingsChosen, Superseded
from engine.api.plan import Choice, Defaults, Proposal
from engine.api.settings import GpuLayers, LoadSettings

DEADLINE_MS = 8000
"""A person waits for the load meanwhile: a planner that takes longer is not waited for."""
ASKER = "load"

AskPerson = Callable[[str, LoadSettings, Proposal | None, Callable[[LoadSettings | None], object]], object]
"""Ask whether a file is loaded although it does not fit: with these settings, as proposed, or (None) not at all."""


class ModelLoader(QObject):
    """``failed`` carries the path and the EngineError of a file or the Failed of a load; what the person gave up does
    not fail. ``ended`` carries each Load once, at its end.

    Only the newest wish counts. A model that its person has set is loaded so, any other with what fits. Other settings
    that fail bring back those that were in force. Without ``ask`` whatever is wanted is loaded.
    """

    failed = Signal(str, object)
    ended = Signal(object)

    def __init__(
        self,
        session: EngineSession,
        setups: ModelSetups,
        plans: PlanService,
        ask: AskPerson | None = None,
        check: Callable[[Path], None] = check_model_file,
        *,
        deadline_ms: int = DEADLINE_MS,
    ) -> None:
        super().__init__()
        self.session, self.setups = session, setups
        self._plans = plans
        self._ask = ask
        self.check = check
        self._deadline_ms = deadline_ms
        self._load: Load | None = None
        self._numbers = itertools.count(1)
        self._effects: collections.deque[Effect] = collections.deque()
        self._is_busy = False
        self._memory = FreeMemory()
        self._memory.note(session.status.engine)
        # Whether a choice waits for the engine, which is starting.
        self._is_waiting = False
        self._background = Background("model-header", self)
        session.noted.connect(self._move)
        session.status_changed.connect(self._on_status)
        session.event_received.connect(lambda _event: self._work())

    @property
    def is_under_way(self) -> bool:
        """Whether a wish has not come to its end."""
        return self._load is not None and self._load.is_under_way

    # What is wanted

    def open(self, path: str) -> None:
        """Check a file, then load it; a wrong one costs nothing that is loaded."""
        self._take(loads.Wanted(Wish(next(self._numbers), path, self.setups.store.current.setup(path))))

    def apply(self, setup: Setup, then: Callable[[], object] | None = None) -> None:
        """Put a setup of the model in force, with a reload where it needs one; ``then`` is called once it is."""
        path = self.session.status.model_path
        if path is None:
            return
        before = self.setups.setup(path)
        is_changing = self._load is not None and self._load.is_under_way and self._load.wish.why is Why.APPLIED
        if is_changing or before.needs_reload(setup):
            self._take(loads.Wanted(Wish(next(self._numbers), path, setup, Why.APPLIED, then, before)))
        else:
            self.setups.keep(path, setup)
            if then is not None:
                then()

    def cancel(self) -> None:
        """Give up what is under way."""
        self._take(loads.GivenUp())

    def unload(self) -> None:
        """Give the model's memory back."""
        self._take(loads.UnloadWanted())
        self.session.unload()

    def find_defaults(self, path: str) -> None:
        """Find out what fits a model that its person has set otherwise."""
        question = ChooseSettings(path, LoadSettings(), held(self.session.status))
        self._plans.ask("defaults", question, partial(self._on_chosen, path, None))

    # How it moves

    def _take(self, event: loads.Happening) -> None:
        self._move(event)
        self._work()

    def _move(self, event: loads.Happening) -> None:
        self._load, effects = loads.step(self._load, event)
        self._effects.extend(effects)
        self.session.expect(self._load.wish.path if self._load is not None and self._load.is_expected else None)
        for effect in effects:
            if effect.do is Do.END:
                self._keep(effect.load)

    def _work(self) -> None:
        """Do what follows, in order, also what follows from that."""
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._effects:
                self._carry_out(self._effects.popleft())
        finally:
            self._is_busy = False

    def _carry_out(self, effect: Effect) -> None:
        load = effect.load
        match effect.do:
            case Do.LOOK:
                self._look(load)
            case Do.CHOOSE:
                self._choose(load)
            case Do.MEASURE:
                question = FindFit(load.wish.path, load.settings, held(self.session.status))
                self._plans.ask(ASKER, question, partial(self._on_measured, load.wish.number), is_urgent=True)
            case Do.ASK if self._ask is not None:
                answered = lambda settings: self._take(loads.Answered(load.wish.number, settings))  # noqa: E731
                self._ask(load.wish.path, load.settings, effect.proposal, answered)
            case Do.SEND:
                self._send(load)
            case Do.CANCEL if load.request_id is not None:
                self.session.cancel(load.request_id)
            case Do.TELL:
                self.failed.emit(load.wish.path, load.error)
            case Do.END:
                self.ended.emit(load)
                if load.stage is Stage.LOADED and load.wish.then is not None:
                    load.wish.then()

    # The file

    def _look(self, load: Load) -> None:
        if load.wish.why is Why.APPLIED and self._ask is None:
            self._take(loads.Looked(load.wish.number))
            return
        has_choice = load.wish.why is Why.OPENED and not self.setups.is_own(load.wish.path)
        look = partial(self._look_at_file, load, self.session.status, has_choice=has_choice)
        self._background.ask(look, self._take, lambda error: self._take(loads.Looked(load.wish.number, error)))

    def _look_at_file(self, load: Load, status: EngineStatus, *, has_choice: bool) -> loads.Looked:
        """In a thread."""
        wish, path = load.wish, Path(load.wish.path)
        if wish.why is Why.OPENED:
            self.check(path)
        header = read_header(path) if has_choice else None
        is_sure = self._ask is None or surely_fits(path, load.settings, status)
        return loads.Looked(wish.number, None, is_sure, header)

    # What fits

    def _choose(self, load: Load) -> None:
        header = load.header
        self._is_waiting = header is not None and self._memory.may_be_evident(header)
        if header is None or self._is_waiting:
            return
        defaults = self._memory.evident_defaults(header)
        if defaults is not None:
            self.setups.set_defaults(load.wish.path, defaults)
            self._take(loads.Chosen(load.wish.number, defaults.settings))
            return
        # What can't be told at a glance is measured, also while the engine starts.
        question = ChooseSettings(load.wish.path, LoadSettings(), held(self.session.status))
        self._plans.ask(ASKER, question, partial(self._on_chosen, load.wish.path, load.wish.number), is_urgent=True)
        QTimer.singleShot(self._deadline_ms, self, lambda: self._take(loads.Chosen(load.wish.number)))

    def _on_status(self, status: EngineStatus) -> None:
        self._memory.note(status.engine)
        if self._is_waiting and status.engine is not None and self._load is not None:
            self._is_waiting = False
            if self._load.stage is Stage.CHECKED:
                self._choose(self._load)

    def _on_chosen(self, path: str, number: int | None, answer: PlanAnswer) -> None:
        settings, fits = None, True
        if isinstance(answer, SettingsChosen):
            defaults = defaults_of(answer.choice)
            self.setups.set_defaults(path, defaults)
            settings, fits = defaults.settings, answer.choice.fits or self._ask is None
        if number is not None and not isinstance(answer, Superseded):
            self._take(loads.Chosen(number, settings, fits))

    def _on_measured(self, number: int, answer: PlanAnswer) -> None:
        fits, proposal = True, None
        if isinstance(answer, FitFound):
            proposal = next(iter(answer.fit.proposals), None)
            fits = proposal is None and answer.fit.largest_n_ctx is not None
        # What the planner refuses is loaded to hear why: the load says so where the person looks for it.
        if not isinstance(answer, Superseded):
            self._take(loads.Measured(number, fits, proposal))

    # The load

    def _send(self, load: Load) -> None:
        path = load.wish.path
        if load.wish.why is Why.OPENED and not self.setups.is_own(path):
            self.setups.use(path, load.settings)
        self._move(loads.Sent(load.wish.number, self.session.load(path, load.settings)))

    def _keep(self, load: Load) -> None:
        """What a person wants for a model is kept once it is known to load."""
        wish = load.wish
        if load.stage is not Stage.LOADED:
            return
        if wish.why is Why.APPLIED:
            self.setups.keep(wish.path, replace(wish.setup, load=load.settings))
        elif wish.why is Why.OPENED and self.setups.is_own(wish.path):
            self.setups.keep(wish.path, replace(self.setups.setup(wish.path), load=load.settings))


def defaults_of(choice: Choice) -> Defaults:
    """How many layers fit is counted again at each load: other programs come and go."""
    return Defaults(replace(choice.settings, n_gpu_layers=GpuLayers.AUTO), choice.reasons)
