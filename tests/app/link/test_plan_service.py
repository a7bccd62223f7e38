"""Answers of one planner, on the window's thread: each once, and never before `ask` has returned."""

from __future__ import annotations

import threading

import pytest

from app.link.plan_service import PlanService
from engine.api.messages import MemoryPlanned, PlanAnswer, PlanMemory, Superseded
from engine.api.settings import LoadSettings
from tests.app.fake_planner import FakePlanner


class Talk:
    """A service on a planner that answers by hand, and what it said, in order."""

    def __init__(self, planner: FakePlanner) -> None:
        self.planner, self.service = planner, PlanService(planner)
        self.heard: list[tuple[int, PlanAnswer]] = []

    def ask(self, asker: str, n_ctx: int) -> None:
        question = PlanMemory("m.gguf", LoadSettings(n_ctx=n_ctx))
        self.service.ask(asker, question, lambda answer: self.heard.append((n_ctx, answer)))

    @property
    def planned(self) -> list[int]:
        return [n_ctx for n_ctx, answer in self.heard if isinstance(answer, MemoryPlanned)]

    @property
    def superseded(self) -> list[int]:
        return [n_ctx for n_ctx, answer in self.heard if isinstance(answer, Superseded)]


@pytest.fixture
def talk(qapp) -> Talk:
    return Talk(FakePlanner(answers_by_hand=True))


def test_an_answer_never_comes_before_ask_has_returned(talk, qtbot):
    talk.planner.answers_by_hand = False
    talk.ask("slider", 256)
    assert talk.heard == []
    qtbot.waitUntil(lambda: talk.planned == [256])


def test_answers_of_another_thread_come_on_the_windows(talk, qtbot):
    threads = []
    talk.service.ask("slider", PlanMemory("m.gguf"), lambda _answer: threads.append(threading.current_thread()))
    reader = threading.Thread(target=talk.planner.answer)
    reader.start()
    reader.join()
    qtbot.waitUntil(lambda: threads == [threading.main_thread()])


def test_the_newest_of_each_asker_is_answered_and_what_it_replaced_is_told(talk, qtbot):
    for asker, n_ctx in [("slider", 256), ("library", 512), ("slider", 768), ("slider", 1024)]:
        talk.ask(asker, n_ctx)
    talk.planner.answer_all()
    qtbot.waitUntil(lambda: len(talk.heard) == 4)
    assert (talk.superseded, talk.planned) == ([768], [256, 512, 1024])


def test_what_is_forgotten_is_not_answered_also_if_its_answer_was_on_its_way(talk, qtbot):
    talk.ask("slider", 256)
    talk.planner.answer()
    talk.ask("slider", 512)
    talk.service.forget("slider")
    talk.ask("slider", 768)
    talk.planner.answer_all()
    qtbot.waitUntil(lambda: len(talk.heard) == 3)
    assert (talk.superseded, talk.planned) == ([256, 512], [768])


def test_to_forget_is_for_one_asker(talk, qtbot):
    talk.ask("slider", 256)
    talk.ask("library", 512)
    talk.service.forget("slider")
    talk.planner.answer_all()
    qtbot.waitUntil(lambda: (talk.superseded, talk.planned) == ([256], [512]))


def test_nothing_is_heard_after_the_end(talk, qtbot, qapp):
    talk.ask("slider", 256)
    talk.planner.answer()
    talk.service.close()
    qapp.processEvents()
    assert talk.heard == []
    assert talk.planner.is_closed
