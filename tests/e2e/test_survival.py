"""A real engine that is killed, hung or left alone: everything typed is answered once, and the next message works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from engine.api.errors import ErrorCode
from engine.api.messages import (
    CountTokens,
    EngineLost,
    Event,
    Failed,
    FinishReason,
    LoadModel,
    LoadProgress,
    LoadStage,
    LossOutcome,
    Message,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    NoticeCode,
    PrefillProgress,
    TextGenerated,
)
from engine.api.settings import LoadSettings, SamplingSettings
from engine.client import deadlines
from tests.e2e.conftest import SMALL
from tests.e2e.desk import Desk
from tests.engine.client.listener import answered_by

pytestmark = pytest.mark.e2e

ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
LONG = SamplingSettings(temperature=0.0, ignore_eos=True)
STARTER = LoadSettings(n_ctx=4096, n_threads=1, n_gpu_layers=0)


@pytest.mark.parametrize(
    ("n_words", "moment", "number"), [(3000, PrefillProgress, signal.SIGSEGV), (3, TextGenerated, signal.SIGABRT)]
)
def test_a_death_in_mid_answer(
    desk: Callable[..., Desk], starter: Path, n_words: int, moment: type[Event], number: signal.Signals
) -> None:
    one = desk()
    one.load(starter, STARTER)
    request_id = one.ask("sea " * n_words, LONG)
    one.heard.wait(moment)
    os.kill(one.process_id, number)
    lost = one.heard.wait(EngineLost)
    assert lost.request_ids == (request_id,)
    assert (lost.code, lost.outcome) == (ErrorCode.ENGINE_CRASHED, LossOutcome.RESTARTED)
    assert number.name in lost.message
    assert lost.log_tail
    # The model comes back unasked, and with it the next answer.
    again = one.ask("Hello")
    assert one.heard.wait(ModelLoaded).facts.path == str(starter)
    assert one.heard.wait_for_answer(again).reason is FinishReason.MAX_TOKENS
    assert [event for event in one.heard.events if request_id in answered_by(event)] == [lost]


def test_a_death_in_mid_load(desk: Callable[..., Desk], starter: Path) -> None:
    one = desk()
    request_id = one.send(lambda request_id: LoadModel(request_id, str(starter), STARTER))
    one.heard.wait(LoadProgress, lambda event: event.stage is LoadStage.WEIGHTS)
    os.kill(one.process_id, signal.SIGKILL)
    lost = one.heard.wait(EngineLost)
    assert lost.request_ids == (request_id,)
    assert "memory" in lost.message
    one.load(starter, STARTER)
    assert one.answer("Hello").stats.n_generated == 8


def test_an_endless_template_ends_with_a_sentence_and_only_once(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "RENDER_TIMEOUT_S", 0.5)
    one = desk()
    model = tiny_model(chat_template=ENDLESS)
    one.load(model, SMALL)
    for make in (
        lambda: one.ask("Hello"),
        lambda: one.send(lambda count_id: CountTokens(count_id, (Message("user", "a"),), "draft")),
    ):
        request_id = make()
        lost = one.heard.wait(EngineLost)
        assert (lost.request_ids, lost.code) == ((request_id,), ErrorCode.TEMPLATE_TIMEOUT)
        one.heard.wait(ModelUnloaded)
        answer = one.heard.wait_for_answer(make())
        assert isinstance(answer, Failed)
        assert answer.code is ErrorCode.NO_MODEL
        one.load(model, SMALL)


@pytest.mark.parametrize("template", ["{{ 9**99999 }}", "{{ 'x' * 999999999 }}", "{% set a = [1] %}{{ a * 10**9 }}"])
def test_a_greedy_template_is_a_sentence_at_the_latest_when_it_is_used(
    shared_desk: Desk, tiny_model: Callable[..., Path], template: str
) -> None:
    n_notices = len(shared_desk.heard.of(Notice))
    shared_desk.load(tiny_model(chat_template=template), SMALL)
    notices = shared_desk.heard.of(Notice)[n_notices:]
    answer = shared_desk.heard.wait_for_answer(shared_desk.ask("Hello"))
    if isinstance(answer, Failed):
        assert answer.code is ErrorCode.TEMPLATE_FAILED
    else:
        # It could not even be read: another form stands in for it, and the person knows.
        assert NoticeCode.TEMPLATE in [notice.code for notice in notices]


def test_unload_ends_the_process_and_a_new_load_works(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path]
) -> None:
    one = desk()
    one.load(tiny_model(), SMALL)
    process_id = one.process_id
    one.client.unload()
    one.heard.wait(ModelUnloaded)
    assert not psutil.pid_exists(process_id)
    answer = one.heard.wait_for_answer(one.ask("Hello"))
    assert isinstance(answer, Failed)
    assert answer.code is ErrorCode.NO_MODEL
    one.load(tiny_model(), SMALL)
    assert one.answer("Hello").stats.n_generated == 8


CLIENT = """
import sys
from engine.client import EngineClient, EngineOptions
from engine.messages import EngineReady, Generate, LoadModel, Message, RenderStarted
from engine.settings import LoadSettings
def hear(event):
    if isinstance(event, EngineReady):
        print(event.process_id, flush=True)
    if isinstance(event, RenderStarted):
        print("rendering", flush=True)
client = EngineClient(hear, EngineOptions(sys.argv[1]))
client.start()
client.send(LoadModel(1, sys.argv[2], LoadSettings(n_ctx=256, n_threads=1)))
client.send(Generate(2, "chat", (Message("user", "hello"),)))
sys.stdin.read()
"""


def test_without_its_client_the_engine_ends(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    model = tiny_model(chat_template=ENDLESS)
    command = [sys.executable, "-c", CLIENT, str(tmp_path / "log"), str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        worker = psutil.Process(int(client.stdout.readline()))
        # In the middle of what nothing but a kill ends, and nobody left to kill.
        assert client.stdout.readline() == "rendering\n"
        client.kill()
        client.wait()
        psutil.wait_procs([worker], timeout=10)
        assert not worker.is_running()
