"""A model that nobody has set is loaded with what fits this machine, at once where that is evident."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.link.model_loader import ModelLoader
from app.link.status import EngineState
from app.store.setup import Setup
from engine.api.messages import ChooseSettings, FindFit, LoadModel, LossOutcome, PlanAnswer
from engine.api.settings import CacheType, GpuLayers, LoadSettings, Policy, PolicySettings
from tests.app.fake_engine import model_facts
from tests.app.models.conftest import MakeRoom, ModelRoom

TRAINED = 512
"""What the files of these tests say."""


def set_free(monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=n_bytes))


@pytest.fixture
def tight(room: ModelRoom, monkeypatch: pytest.MonkeyPatch) -> ModelRoom:
    """A machine on which nothing fits evidently."""
    set_free(monkeypatch, 0)
    return room


def loads(room: ModelRoom) -> list[LoadSettings]:
    return [one.settings for one in room.engine.sent if isinstance(one, LoadModel)]


def test_what_evidently_fits_is_loaded_without_a_plan(
    room: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_free(monkeypatch, 1 << 40)
    room.session.start()
    path = str(room.write("small.gguf"))
    room.loader.open(path)
    qtbot.waitUntil(lambda: len(loads(room)) == 1)
    assert room.planner.asked == []
    assert loads(room) == [LoadSettings(n_ctx=TRAINED)]
    assert "there is no GPU" in str(room.setups.defaults(path).reasons[0])


def test_what_takes_a_plan_is_measured_while_the_engine_starts(tight: ModelRoom, qtbot: QtBot) -> None:
    path = str(tight.write("small.gguf"))
    tight.loader.open(path)
    qtbot.waitUntil(lambda: len(loads(tight)) == 1)
    assert not tight.engine.is_running
    chosen = LoadSettings(n_ctx=32_768, type_k=CacheType.Q8_0, type_v=CacheType.Q8_0, n_gpu_layers=GpuLayers.AUTO)
    assert loads(tight) == [chosen]
    assert tight.setups.setup(path) == Setup(chosen)
    assert tight.store.current.setups == {}
    assert isinstance(tight.planner.asked[0], ChooseSettings)


def test_what_fits_evidently_waits_for_the_engine_that_knows_the_devices(
    room: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_free(monkeypatch, 1 << 40)
    path = str(room.write("small.gguf"))
    room.loader.open(path)
    qtbot.waitUntil(lambda: room.session.status.model_path == path)
    assert loads(room) == []
    room.session.start()
    qtbot.waitUntil(lambda: loads(room) == [LoadSettings(n_ctx=TRAINED)])


def test_a_change_that_makes_it_fit_for_now_is_not_for_ever(
    make_room: MakeRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_free(monkeypatch, 0)
    asked = []

    def ask(path, settings, proposal, answer):
        asked.append((settings, proposal))
        answer(LoadSettings(n_ctx=1024))

    tight = make_room(ask=ask)
    tight.session.start()
    path = str(tight.write("huge.gguf"))
    tight.loader.open(path)
    qtbot.waitUntil(lambda: loads(tight) == [LoadSettings(n_ctx=1024)])
    assert tight.setups.setup(path).load.n_ctx == 1024
    assert not tight.setups.is_own(path)


def test_a_model_that_its_person_has_set_is_loaded_so(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    path = str(tight.write("small.gguf"))
    tight.setups.keep(path, Setup(LoadSettings(n_ctx=256)))
    tight.loader.open(path)
    qtbot.waitUntil(lambda: loads(tight) == [LoadSettings(n_ctx=256)])
    assert tight.planner.asked == []


def test_what_the_planner_refuses_is_loaded_to_hear_why(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    tight.loader.open(str(tight.write("refused.gguf")))
    qtbot.waitUntil(lambda: loads(tight) == [LoadSettings()])


def test_a_planner_that_says_nothing_is_not_waited_for(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    tight.planner.answers_by_hand = True
    loader = ModelLoader(tight.session, tight.setups, tight.plans, deadline_ms=1)
    path = str(tight.write("small.gguf"))
    loader.open(path)
    qtbot.waitUntil(lambda: loads(tight) == [LoadSettings()])
    assert tight.setups.defaults(path) is None, "nothing is claimed about this machine"
    tight.setups.keep(path, Setup(LoadSettings(), PolicySettings(n_sink=9)))
    assert not tight.setups.is_own(path), "its load is still nobody's"


def test_without_an_engine_the_load_starts_it_again(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    tight.engine.die(outcome=LossOutcome.GAVE_UP)
    qtbot.waitUntil(lambda: tight.session.status.engine is None)
    tight.loader.open(str(tight.write("small.gguf")))
    qtbot.waitUntil(lambda: len(loads(tight)) == 1)
    assert loads(tight)[0].n_ctx == 32_768


def test_an_engine_that_can_not_start_is_not_started_again_for_the_load(tight: ModelRoom, qtbot: QtBot) -> None:
    path = str(tight.write("small.gguf"))
    tight.planner.answers_by_hand = True
    tight.loader.open(path)
    qtbot.waitUntil(lambda: len(tight.planner.asked) == 1)
    tight.engine.die(outcome=LossOutcome.GAVE_UP)
    qtbot.waitUntil(lambda: tight.session.status.state is EngineState.STOPPED)
    answers: list[PlanAnswer] = []
    tight.plans.ask("somebody", ChooseSettings(path), answers.append)
    tight.planner.answer_all()
    qtbot.waitUntil(lambda: len(answers) == 1)
    assert (loads(tight), tight.engine.is_running) == ([], False)


def test_what_is_loaded_stays_until_it_is_known_what_follows_and_comes_back(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    first, second = str(tight.write("first.gguf")), str(tight.write("second.gguf"))
    tight.loader.open(first)
    qtbot.waitUntil(lambda: tight.session.status.can_answer)
    tight.planner.answers_by_hand = True
    tight.loader.open(second)
    qtbot.waitUntil(lambda: tight.session.status.model_path == second)
    assert tight.session.status.state is EngineState.LOADING
    assert len(loads(tight)) == 1
    given_back = tight.planner.asked[-1].given_back
    assert given_back == model_facts(first).devices, "what it holds is free for the next one"
    tight.loader.cancel()
    status = tight.session.status
    assert (status.can_answer, status.model_path) == (True, first)
    tight.planner.answer_all()
    qtbot.waitUntil(lambda: tight.setups.defaults(second) is not None)
    assert len(loads(tight)) == 1, "it was given up"


def test_what_is_to_be_replaced_answers_nobody_while_the_next_one_is_on_its_way(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    first, second = str(tight.write("first.gguf")), str(tight.write("second.gguf"))
    tight.loader.open(first)
    qtbot.waitUntil(lambda: tight.session.status.can_answer)
    tight.planner.answers_by_hand = True
    tight.loader.open(second)
    qtbot.waitUntil(lambda: tight.session.status.model_path == second)
    paths: list[str | None] = []
    tight.session.status_changed.connect(lambda status: paths.append(status.model_path))
    tight.planner.answer_all()
    qtbot.waitUntil(lambda: tight.session.status.can_answer)
    assert set(paths) == {second}, "what waits for it would be sent to the one before"


def test_a_model_that_is_given_up_while_its_settings_are_chosen_stays_away(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    first, second = str(tight.write("first.gguf")), str(tight.write("second.gguf"))
    tight.loader.open(first)
    qtbot.waitUntil(lambda: tight.session.status.can_answer)
    tight.planner.answers_by_hand = True
    tight.loader.open(second)
    qtbot.waitUntil(lambda: tight.session.status.model_path == second)
    tight.loader.unload()
    qtbot.waitUntil(lambda: tight.session.status.state is EngineState.NO_MODEL)
    assert not tight.session.status.can_cancel_load
    tight.planner.answer_all()
    qtbot.waitUntil(lambda: tight.setups.defaults(second) is not None)
    assert [one.path for one in tight.engine.sent if isinstance(one, LoadModel)] == [first]


def test_only_the_newest_of_two_wishes_is_loaded(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    tight.planner.answers_by_hand = True
    first, second = str(tight.write("first.gguf")), str(tight.write("second.gguf"))
    tight.loader.open(first)
    qtbot.waitUntil(lambda: tight.session.status.model_path == first)
    tight.loader.open(second)
    qtbot.waitUntil(lambda: tight.session.status.model_path == second)
    tight.planner.answers_by_hand = False
    tight.planner.answer_all()
    qtbot.waitUntil(lambda: tight.session.status.can_answer)
    assert [one.path for one in tight.engine.sent if isinstance(one, LoadModel)] == [second]


def test_other_memory_is_another_choice(room: ModelRoom, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    room.session.start()
    path = str(room.write("small.gguf"))
    for free, n_ctx in ((0, 32_768), (1 << 40, TRAINED)):
        set_free(monkeypatch, free)
        room.loader.open(path)
        qtbot.waitUntil(lambda n_ctx=n_ctx: bool(loads(room)) and loads(room)[-1].n_ctx == n_ctx)
        assert room.setups.setup(path).load.n_ctx == n_ctx


def test_what_is_left_to_the_machine_stays_so_when_the_policy_is_set(tight: ModelRoom, qtbot: QtBot) -> None:
    tight.session.start()
    path = str(tight.write("small.gguf"))
    tight.loader.open(path)
    qtbot.waitUntil(lambda: len(loads(tight)) == 1)
    policy = PolicySettings(policy=Policy.SINKS, n_sink=9)
    chosen = tight.setups.setup(path).load
    tight.setups.keep(path, Setup(chosen, policy))
    assert not tight.setups.is_own(path)
    assert tight.setups.setup(path) == Setup(chosen, policy)
    own = Setup(LoadSettings(n_ctx=1024), policy)
    tight.setups.keep(path, own)
    assert tight.setups.is_own(path)
    tight.setups.keep(path, Setup(chosen))
    assert not tight.setups.is_own(path), "back at the defaults"
    assert (tight.store.current.setups, tight.store.current.policies) == ({}, {})


def test_the_defaults_of_a_model_set_otherwise_are_found_on_demand(tight: ModelRoom, qtbot: QtBot) -> None:
    path = str(tight.write("large.gguf"))
    tight.setups.keep(path, Setup(LoadSettings(n_ctx=256)))
    with qtbot.waitSignal(tight.setups.defaults_found):
        tight.loader.find_defaults(path)
    assert tight.setups.defaults(path).settings.n_ctx == 32_768
    assert not any(isinstance(one, FindFit) for one in tight.planner.asked)
    assert loads(tight) == []
