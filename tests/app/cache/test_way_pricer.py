"""Every way on gets its price, also while other questions come between."""

from __future__ import annotations

import itertools
from dataclasses import replace

from app.cache.way_pricer import WayPricer
from app.link.bridge import EngineBridge
from engine.api.messages import FindFit, PlanMemory
from engine.api.settings import LoadSettings
from engine.plan.full_cache import Way
from tests.app.fake_engine import model_facts
from tests.app.fake_planner import FakePlanner

FACTS = replace(model_facts(), n_ctx_train=32_768)


def test_a_question_that_gave_way_to_a_newer_one_is_asked_again(qapp, qtbot):
    bridge = EngineBridge()
    planner = FakePlanner(bridge.post, answers_by_hand=True)
    pricer = WayPricer(planner, bridge, itertools.count(1, 10))
    known = []
    pricer.priced.connect(known.append)
    pricer.price(FACTS)
    first = planner.asked[0].settings
    # The slider of the settings panel was moved: its questions took the place of the one that waited.
    planner.answer(PlanMemory(5, FACTS.path, LoadSettings(n_ctx=256)))
    qtbot.waitUntil(lambda: len(planner.asked) == 2)
    assert planner.asked[1].settings == first
    planner.answer(FindFit(15, FACTS.path, LoadSettings(n_ctx=256)))
    qtbot.waitUntil(lambda: len(planner.asked) == 3)
    assert known == []
    for n_known, way in enumerate((Way.LARGER, Way.SMALLER_TYPE), 1):
        planner.answer(planner.asked[-1])
        qtbot.waitUntil(lambda n_known=n_known: len(known) == n_known)
        assert way in known[-1]
    assert known[-1][Way.LARGER].n_ctx == first.n_ctx
