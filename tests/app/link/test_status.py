"""The engine's state in a word, worked out from what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.link.status import EngineState, EngineStatus
from engine.api.errors import ErrorCode
from engine.api.messages import (
    EngineLost,
    Event,
    Failed,
    Finished,
    FinishReason,
    LoadCancelled,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    ModelUnloaded,
    PrefillProgress,
    TextGenerated,
    TextKind,
)
from engine.api.sentences import say
from tests.app.fake_engine import READY, model_facts, stats


def after(status: EngineStatus, *events: Event) -> EngineStatus:
    for event in events:
        status = status.after(event)
    return status


def lost(outcome: LossOutcome, *request_ids: int) -> EngineLost:
    return EngineLost(-9, outcome, ErrorCode.ENGINE_CRASHED, say("It died."), "log", request_ids)


LOADED = after(EngineStatus().when_loading(1, "/a.gguf"), READY, ModelLoaded(1, model_facts("/a.gguf")))
ANSWERING = LOADED.when_answering(2)


def test_a_start_a_load_and_an_answer():
    status = EngineStatus()
    assert status.state is EngineState.STARTING
    assert after(status, READY).state is EngineState.NO_MODEL
    status = status.when_loading(1, "/a.gguf")
    assert status.state is EngineState.STARTING, "there is no process yet"
    status = after(status, READY)
    assert status.state is EngineState.LOADING
    status = after(status, LoadProgress(1, LoadStage.WEIGHTS, 0.5))
    assert 0.3 < status.fraction < 0.6
    status = after(status, ModelLoaded(1, model_facts()))
    assert status.can_answer
    status = after(status.when_answering(2), PrefillProgress(2, 30, 120, 0))
    assert (status.state, status.fraction) == (EngineState.READING, 0.25)
    status = after(status, TextGenerated(2, TextKind.ANSWER, "Hi"))
    assert status.state is EngineState.ANSWERING
    assert after(status, Finished(2, FinishReason.END_OF_TURN, stats(), "Hi", "", (1,))).can_answer


def test_progress_never_goes_back_or_beyond():
    status = after(EngineStatus().when_loading(1, "/a.gguf"), READY)
    seen = []
    for stage in LoadStage:
        for fraction in (-1.0, 0.0, 0.5, 1.0, 7.0):
            status = after(status, LoadProgress(1, stage, fraction))
            seen.append(status.fraction)
    for fraction in (0.9, 0.2):
        begun = after(EngineStatus().when_loading(1, "/a.gguf"), READY, LoadProgress(1, LoadStage.WEIGHTS, 0.9))
        assert after(begun, LoadProgress(1, LoadStage.WEIGHTS, fraction)).fraction == begun.fraction
    assert seen == sorted(seen)
    assert seen[0] >= 0
    assert seen[-1] == 1.0


def test_events_of_an_old_request_change_nothing():
    for event in (
        PrefillProgress(1, 1, 2, 0),
        TextGenerated(1, TextKind.ANSWER, "old"),
        Finished(1, FinishReason.CANCELLED, stats(), "", "", ()),
        Failed(1, ErrorCode.DECODE_FAILED, say("Old.")),
        Failed(None, ErrorCode.INTERNAL, say("Nobody's.")),
    ):
        assert after(ANSWERING, event) == ANSWERING
    newer = after(EngineStatus().when_loading(1, "/a.gguf"), READY).when_loading(5, "/b.gguf")
    assert after(newer, LoadProgress(1, LoadStage.WEIGHTS, 0.9)) == newer


def test_an_old_load_that_could_not_be_stopped_in_time_is_there_until_the_newest_one_begins():
    newer = after(EngineStatus().when_loading(1, "/a.gguf"), READY).when_loading(5, "/b.gguf")
    older = after(newer, LoadProgress(1, LoadStage.WEIGHTS, 0.9), ModelLoaded(1, model_facts("/a.gguf")))
    assert older == replace(newer, replaced=model_facts("/a.gguf")), "but it is not shown"
    refused = after(older, Failed(5, ErrorCode.SETTING_INVALID, say("No.")))
    assert (refused.state, refused.model_path) == (EngineState.READY, "/a.gguf")
    gone = after(older, LoadProgress(5, LoadStage.READING, 0.0), Failed(5, ErrorCode.SETTING_INVALID, say("No.")))
    assert gone.facts is None


def test_a_load_that_was_stopped_took_away_what_was_there():
    newer = LOADED.when_loading(3, "/b.gguf").when_loading(5, "/c.gguf")
    refused = after(newer, LoadCancelled(3), Failed(5, ErrorCode.SETTING_INVALID, say("No.")))
    assert (refused.state, refused.facts) == (EngineState.NO_MODEL, None)


def test_that_an_engine_gave_up_is_no_news_once_it_was_started_again():
    again = EngineStatus().when_loading(5, "/b.gguf")
    assert after(again, lost(LossOutcome.GAVE_UP, 3)).state is not EngineState.STOPPED
    assert after(again, lost(LossOutcome.GAVE_UP, 5)).state is EngineState.STOPPED


def test_after_a_crash_the_model_is_loaded_again_under_an_id_of_the_client():
    status = after(ANSWERING, replace(lost(LossOutcome.RESTARTED, 2), reload_id=9))
    assert (status.state, status.answer_request, status.facts) == (EngineState.STARTING, None, None)
    status = after(status, READY, LoadProgress(9, LoadStage.WEIGHTS, 0.1), ModelLoaded(9, model_facts("/a.gguf")))
    assert status.can_answer


def test_a_crash_while_loading_leaves_no_model():
    status = after(EngineStatus().when_loading(1, "/a.gguf"), READY, lost(LossOutcome.RESTARTED, 1), READY)
    assert (status.state, status.model_path) == (EngineState.NO_MODEL, None)


def test_an_engine_that_is_given_up_has_stopped():
    assert after(ANSWERING, lost(LossOutcome.GAVE_UP, 2)).state is EngineState.STOPPED


def test_a_load_that_waits_for_an_engine_that_is_starting_can_be_cancelled():
    waiting = EngineStatus().when_loading(1, "/a.gguf")
    assert (waiting.state, waiting.can_cancel_load) == (EngineState.STARTING, True)
    cancelled = after(waiting, LoadCancelled(1))
    assert (cancelled.state, cancelled.can_cancel_load) == (EngineState.STARTING, False)
    assert after(cancelled, READY).state is EngineState.NO_MODEL
    assert not LOADED.can_cancel_load


def test_what_is_loaded_again_after_a_crash_can_be_cancelled():
    again = after(LOADED, replace(lost(LossOutcome.RESTARTED), reload_id=9))
    assert (again.can_cancel_load, again.load_request) == (True, 9)
    assert after(again, LoadCancelled(9), READY).state is EngineState.NO_MODEL


def test_a_load_that_is_refused_before_it_begins_leaves_the_model_there():
    status = after(LOADED.when_loading(3, "/b.gguf"), Failed(3, ErrorCode.SETTING_INVALID, say("No.")))
    assert status.can_answer
    assert status.facts.path == status.model_path == "/a.gguf"


def test_a_load_that_fails_later_leaves_none():
    begun = after(LOADED.when_loading(3, "/b.gguf"), LoadProgress(3, LoadStage.READING, 0.1))
    for end in (Failed(3, ErrorCode.MODEL_TRUNCATED, say("No.")), LoadCancelled(3)):
        assert after(begun, end).state is EngineState.NO_MODEL


def test_unloading():
    assert after(LOADED, ModelUnloaded(), READY).state is EngineState.NO_MODEL


@pytest.mark.parametrize("end", [ModelUnloaded(), lost(LossOutcome.RESTARTED, 2)])
def test_a_load_that_the_process_which_ended_has_not_seen_goes_on_in_the_next(end):
    status = after(ANSWERING.when_loading(5, "/b.gguf"), end)
    assert (status.state, status.model_path, status.can_cancel_load) == (EngineState.STARTING, "/b.gguf", True)
    status = after(status, READY)
    assert status.state is EngineState.LOADING
    status = after(status, LoadProgress(5, LoadStage.WEIGHTS, 0.1), ModelLoaded(5, model_facts("/b.gguf")))
    assert status.can_answer


def test_what_is_not_loaded_again_after_a_crash_is_gone():
    assert after(LOADED, lost(LossOutcome.RESTARTED), READY).state is EngineState.NO_MODEL
