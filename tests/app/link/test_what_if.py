"""Questions while a slider moves: every newer one counts more, and none of an older one comes after it."""

from __future__ import annotations

import pytest

from app.link.plan_service import PlanService
from app.link.what_if import FIT, WhatIf
from app.store.setup import Setup
from engine.api.messages import ChooseSettings, FindFit, PlanMemory
from engine.api.settings import CacheType, FlashAttention, LoadSettings
from tests.app.fake_planner import LARGEST_F16, FakePlanner


class Heard:
    def __init__(self, what_if: WhatIf) -> None:
        self.plans: list[int] = []
        self.refused: list[str] = []
        self.fits: list[int | None] = []
        what_if.planned.connect(lambda plan: self.plans.append(plan.n_ctx))
        what_if.refused.connect(lambda failed: self.refused.append(failed.message))
        what_if.fit_found.connect(lambda fit: self.fits.append(fit.largest_n_ctx))


@pytest.fixture
def planner(qapp):
    return FakePlanner(answers_by_hand=True)


@pytest.fixture
def made(planner):
    what_if = WhatIf(PlanService(planner), pause_ms=0)
    return what_if, planner, Heard(what_if)


def ask(what_if: WhatIf, *contexts: int) -> None:
    for n_ctx in contexts:
        what_if.ask("m.gguf", Setup(LoadSettings(n_ctx=n_ctx)), ())


def asked(planner: FakePlanner) -> list[tuple[type, int | None]]:
    return [(type(question), question.settings.n_ctx) for question in planner.asked]


def test_answers_in_order_follow_the_slider(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256, 512, 1024)
    planner.answer()
    qtbot.waitUntil(lambda: heard.plans == [256])
    assert what_if.is_waiting
    planner.answer()
    qtbot.waitUntil(lambda: heard.plans == [256, 1024])
    assert not what_if.is_waiting
    assert (PlanMemory, 512) not in asked(planner), "it was out of date before the planner came to it"


def test_what_fits_is_looked_for_once_the_changes_pause(made, qtbot):
    what_if, planner, heard = made
    planner.answers_by_hand = False
    ask(what_if, 256, 512, 1024)
    qtbot.waitUntil(lambda: heard.fits == [LARGEST_F16])
    assert asked(planner) == [(PlanMemory, 256), (PlanMemory, 512), (PlanMemory, 1024), (FindFit, 1024)]


def test_what_fits_comes_after_the_plan_however_long_that_takes(made, qtbot):
    what_if, planner, _heard = made
    told = []
    what_if.planned.connect(lambda plan: told.append("plan"))
    what_if.fit_found.connect(lambda fit: told.append("fit"))
    with qtbot.waitSignal(what_if.slow):
        ask(what_if, 256)
    assert asked(planner) == [(PlanMemory, 256)]
    planner.answer_all()
    qtbot.waitUntil(lambda: told == ["plan", "fit"])


def test_a_fit_for_older_settings_is_dropped(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256)
    planner.answer()
    qtbot.waitUntil(lambda: asked(planner)[-1] == (FindFit, 256))
    ask(what_if, 512)
    planner.answer_all()
    qtbot.waitUntil(lambda: heard.plans == [256, 512])
    assert heard.fits == []


def test_settings_that_can_not_be_loaded_are_told_with_what_would(made, qtbot):
    what_if, planner, heard = made
    planner.answers_by_hand = False
    what_if.ask("m.gguf", Setup(LoadSettings(type_v=CacheType.Q8_0, flash_attn=FlashAttention.OFF)), ())
    qtbot.waitUntil(lambda: len(heard.refused) == len(heard.fits) == 1)
    assert not what_if.is_waiting


def test_forgotten_questions_have_no_answers(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256)
    what_if.forget()
    ask(what_if, 512)
    planner.answer_all()
    qtbot.waitUntil(lambda: heard.plans == [512])


def test_a_slider_goes_before_a_whole_library_and_takes_nothing_from_it(qtbot, planner):
    plans = PlanService(planner)
    what_if = WhatIf(plans, pause_ms=0)
    heard, models = Heard(what_if), []
    for name in "abc":
        plans.ask(f"library {name}", ChooseSettings(name), lambda _answer, name=name: models.append(name))
    ask(what_if, 256, 512)
    planner.answer()
    planner.answer()
    qtbot.waitUntil(lambda: heard.plans == [512])
    qtbot.waitUntil(lambda: planner.askers[-1] == FIT)
    planner.answer()
    planner.answer()
    qtbot.waitUntil(lambda: heard.fits == [LARGEST_F16])
    assert models == ["a", "b"]
    planner.answer_all()
    qtbot.waitUntil(lambda: models == ["a", "b", "c"])


def test_whoever_comes_to_change_something_finds_a_planner_at_work(planner, qtbot):
    what_if = WhatIf(PlanService(planner), pause_ms=0, slow_ms=0)
    heard = Heard(what_if)
    what_if.prepare()
    assert planner.asked == []
    ask(what_if, 256)
    what_if.prepare()
    assert len(planner.asked) == 1
    planner.answer_all()
    qtbot.waitUntil(lambda: not what_if.is_waiting)
    with qtbot.assertNotEmitted(what_if.slow, wait=20):
        what_if.prepare()
    planner.answer_all()
    qtbot.waitUntil(lambda: heard.plans == [256, 256])
