"""Questions while a slider moves: every newer one counts more, and none of an older one comes after it."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QTimer

from app.link.bridge import EngineBridge
from app.link.what_if import WhatIf
from app.store.setup import Setup
from engine.api.messages import FindFit, PlanMemory
from engine.api.settings import LoadSettings
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
def made(qapp):
    bridge = EngineBridge()
    planner = FakePlanner(bridge.post, answers_by_hand=True)
    what_if = WhatIf(planner, bridge, itertools.count(1, 10), pause_ms=0)
    return what_if, planner, Heard(what_if)


def ask(what_if: WhatIf, *contexts: int) -> None:
    for n_ctx in contexts:
        what_if.ask("m.gguf", Setup(LoadSettings(n_ctx=n_ctx)), ())


def test_answers_in_order_follow_the_slider(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256, 512, 1024)
    planner.answer(planner.asked[0])
    qtbot.waitUntil(lambda: heard.plans == [256])
    assert what_if.is_waiting
    planner.answer(planner.asked[2])
    qtbot.waitUntil(lambda: heard.plans == [256, 1024])
    assert not what_if.is_waiting


def test_an_answer_to_an_older_question_never_replaces_a_newer_one(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256, 512)
    planner.answer(planner.asked[1])
    planner.answer(planner.asked[0])
    ask(what_if, 768)
    planner.answer(planner.asked[-1])
    qtbot.waitUntil(lambda: heard.plans[-1:] == [768])
    assert heard.plans == [512, 768]


def test_what_fits_is_looked_for_once_the_changes_pause(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256, 512, 1024)
    planner.answer(planner.asked[-1])
    qtbot.waitUntil(lambda: isinstance(planner.asked[-1], FindFit))
    assert planner.asked[-1].settings == LoadSettings(n_ctx=1024)
    assert sum(isinstance(question, FindFit) for question in planner.asked) == 1
    planner.answer(planner.asked[-1])
    qtbot.waitUntil(lambda: heard.fits == [LARGEST_F16])


def test_what_fits_waits_for_the_plan_which_it_would_push_aside(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256)
    with qtbot.waitSignal(what_if.findChild(QTimer).timeout):
        pass
    assert [type(question) for question in planner.asked] == [PlanMemory]
    planner.answer(planner.asked[0])
    qtbot.waitUntil(lambda: isinstance(planner.asked[-1], FindFit))
    assert heard.plans == [256]


def test_a_fit_for_older_settings_is_dropped(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256)
    planner.answer(planner.asked[0])
    qtbot.waitUntil(lambda: isinstance(planner.asked[-1], FindFit))
    old = planner.asked[-1]
    ask(what_if, 512)
    planner.answer(old)
    planner.answer(planner.asked[-1])
    qtbot.waitUntil(lambda: heard.plans == [256, 512])
    assert heard.fits == []


def test_forgotten_questions_have_no_answers(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256)
    what_if.forget()
    planner.answer(planner.asked[0])
    ask(what_if, 512)
    planner.answer(planner.asked[-1])
    qtbot.waitUntil(lambda: heard.plans == [512])


def test_answers_to_somebody_else_are_not_taken_and_what_gave_way_to_them_is_asked_again(made, qtbot):
    what_if, planner, heard = made
    ask(what_if, 256)
    planner.answer(PlanMemory(5, "m.gguf", LoadSettings(n_ctx=2048)))
    qtbot.waitUntil(lambda: len(planner.asked) == 2)
    assert planner.asked[1].settings.n_ctx == 256
    planner.answer(planner.asked[1])
    qtbot.waitUntil(lambda: isinstance(planner.asked[-1], FindFit))
    assert heard.plans == [256]
    n_asked = len(planner.asked)
    planner.answer(PlanMemory(planner.asked[-1].request_id + 5, "m.gguf", LoadSettings(n_ctx=2048)))
    qtbot.waitUntil(lambda: len(planner.asked) == n_asked + 1)
    planner.answer(planner.asked[-1])
    qtbot.waitUntil(lambda: heard.fits == [LARGEST_F16])
    assert heard.plans == [256]


def test_whoever_comes_to_change_something_finds_a_planner_at_work(qapp, qtbot):
    bridge = EngineBridge()
    planner = FakePlanner(bridge.post, answers_by_hand=True)
    what_if = WhatIf(planner, bridge, itertools.count(1), pause_ms=0, slow_ms=0)
    heard = Heard(what_if)
    what_if.prepare()
    assert planner.asked == []
    ask(what_if, 256)
    what_if.prepare()
    assert len(planner.asked) == 1
    planner.answer(planner.asked[0])
    qtbot.waitUntil(lambda: not what_if.is_waiting)
    with qtbot.assertNotEmitted(what_if.slow, wait=20):
        what_if.prepare()
    again = planner.asked[-1]
    assert (type(again), again.settings) == (PlanMemory, LoadSettings(n_ctx=256))
    planner.answer(again)
    qtbot.waitUntil(lambda: heard.plans == [256, 256])
