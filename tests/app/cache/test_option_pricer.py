"""Every way on gets its price, also while other questions come between."""

from __future__ import annotations

from dataclasses import replace

from app.cache.option_pricer import OptionPricer
from app.link.plan_service import PlanService
from engine.api.messages import PlanMemory
from engine.api.settings import LoadSettings
from engine.plan.full_cache import FullCacheOption, loads_to_plan
from tests.app.fake_engine import model_facts
from tests.app.fake_planner import FakePlanner

FACTS = replace(model_facts(), n_ctx_train=32_768)


def test_every_way_has_its_price_whatever_others_ask_meanwhile(qapp, qtbot):
    planner = FakePlanner(answers_by_hand=True)
    plans = PlanService(planner)
    pricer = OptionPricer(plans)
    known = []
    pricer.priced.connect(known.append)
    pricer.price(FACTS)
    # The slider of the settings panel is moved.
    plans.ask("what-if", PlanMemory(FACTS.path, LoadSettings(n_ctx=256)), lambda _answer: None, is_urgent=True)
    planner.answer_all()
    loads = loads_to_plan(FACTS)
    qtbot.waitUntil(lambda: len(known) == len(loads))
    assert [set(plans) for plans in known] == [set(list(loads)[: i + 1]) for i in range(len(loads))]
    assert known[-1][FullCacheOption.LARGER].n_ctx == loads[FullCacheOption.LARGER].n_ctx


def test_prices_of_another_model_are_forgotten(qapp, qtbot):
    planner = FakePlanner(answers_by_hand=True)
    pricer = OptionPricer(PlanService(planner))
    known = []
    pricer.priced.connect(known.append)
    pricer.price(FACTS)
    planner.answer()
    other = replace(FACTS, path="other.gguf")
    pricer.price(other)
    planner.answer_all()
    qtbot.waitUntil(lambda: len(known) == len(loads_to_plan(other)))
    assert {question.path for question in planner.asked[2:]} == {"other.gguf"}
