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

from engine.api.chat import Message
from engine.api.errors import ErrorCode
from engine.api.messages import (
    CountTokens,
    EngineLost,
    Event,
    Failed,
    Finished,
    FinishReason,
    Generate,
    LoadCancelled,
    LoadModel,
    LoadProgress,
    LoadStage,
    LossOutcome,
    ModelLoaded,
    ModelUnloaded,
    Notice,
    NoticeCode,
    PrefillProgress,
    TextGenerated,
    TokensCounted,
)
from engine.api.settings import LoadSettings, SamplingSettings
from tests.e2e.conftest import SMALL
from tests.e2e.desk import GREEDY, Desk
from tests.engine.client.listener import answered_by

pytestmark = pytest.mark.e2e

ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
LATER_ENDLESS = (
    "{% if messages[0].content == 'Hello' %}"
    + ENDLESS
    + "{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}"
)
FOLDED = "{{ '{" + ":" * 200_000 + "' | format }}"
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


def test_an_endless_template_costs_neither_the_model_nor_the_next_chat(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path]
) -> None:
    one = desk(template_timeout_s=0.3)
    one.load(tiny_model(chat_template=ENDLESS), SMALL)
    assert any("does not come to an end" in notice.message for notice in one.heard.of(Notice))
    assert one.answer("Hello").stats.n_generated == 8
    one.load(tiny_model(chat_template=LATER_ENDLESS), SMALL)
    failed = one.heard.wait_for_answer(one.ask("Hello"))
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.TEMPLATE_TIMEOUT
    stopped = one.ask("Hello")
    one.stop(stopped)
    assert one.heard.wait_for_answer(stopped).reason is FinishReason.CANCELLED
    draft = one.send(lambda count_id: CountTokens(count_id, (), "Hello"))
    counted = one.heard.wait(TokensCounted)
    assert (counted.request_id, counted.is_estimate) == (draft, True)
    assert one.answer("Hi").stats.n_generated == 8
    assert one.heard.of(EngineLost) == []


def test_a_load_can_be_stopped_while_its_template_is_read(
    desk: Callable[..., Desk], tiny_model: Callable[..., Path]
) -> None:
    one = desk(template_timeout_s=600.0)
    load = one.send(lambda request_id: LoadModel(request_id, str(tiny_model(chat_template=FOLDED)), SMALL))
    one.heard.wait(LoadProgress, lambda event: event.stage is LoadStage.CONTEXT)
    one.stop(load)
    assert one.heard.wait(LoadCancelled).request_id == load
    one.load(tiny_model(), SMALL)


def test_a_draft_of_millions_of_characters_costs_nobody_anything(desk: Callable[..., Desk], starter: Path) -> None:
    one = desk()
    one.load(starter, STARTER)
    draft = "字" * 1_990_000
    one.send(lambda count_id: CountTokens(count_id, (), draft))
    newer = one.send(lambda count_id: CountTokens(count_id, (), "Hello"))
    counted = one.heard.wait(TokensCounted)
    assert counted.is_estimate
    assert counted.n_draft > 100 * counted.n_room
    after = one.heard.wait(TokensCounted)
    assert (after.request_id, after.is_estimate) == (newer, False)
    refused = one.heard.wait_for_answer(one.ask(draft))
    assert isinstance(refused, Failed)
    assert refused.code is ErrorCode.PROMPT_TOO_LONG
    assert f"too long by about {counted.n_draft - 4096:,} tokens" in refused.message
    assert one.answer("Hello").stats.n_generated == 8
    assert one.heard.of(EngineLost) == []


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


WITHOUT_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% for message in messages %}{{ message.role ~ ': ' ~ message.content ~ '\\n' }}{% endfor %}"
)


def test_what_a_template_can_not_do_is_told_once_with_each_load(
    shared_desk: Desk, tiny_model: Callable[..., Path]
) -> None:
    messages = (Message("system", "Be kind."), Message("user", "Hello"))
    n_before = len(shared_desk.heard.of(Notice))
    for _load in range(2):
        shared_desk.load(tiny_model(chat_template=WITHOUT_SYSTEM), SMALL)
        for chat_id in ("a", "a", "b"):
            asked = shared_desk.client.next_request_id()
            shared_desk.client.send(Generate(asked, chat_id, messages, GREEDY))
            assert isinstance(shared_desk.heard.wait_for_answer(asked), Finished)
    notices = shared_desk.heard.of(Notice)[n_before:]
    assert [notice.code for notice in notices] == [NoticeCode.TEMPLATE] * 2


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
from engine.client.client import EngineClient, EngineOptions
from engine.api.messages import EngineReady, Generate, LoadModel, Message, ModelLoaded
from engine.api.settings import LoadSettings
def hear(event):
    if isinstance(event, EngineReady):
        print(event.process_id, flush=True)
    if isinstance(event, ModelLoaded):
        print("loaded", flush=True)
client = EngineClient(hear, EngineOptions(sys.argv[1]))
client.start()
client.send(LoadModel(1, sys.argv[2], LoadSettings(n_ctx=256, n_threads=1)))
client.send(Generate(2, "chat", (Message("user", "Hello"),)))
sys.stdin.read()
"""


def test_without_its_client_the_engine_ends(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    model = tiny_model(chat_template=LATER_ENDLESS)
    command = [sys.executable, "-c", CLIENT, str(tmp_path / "log"), str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        worker = psutil.Process(int(client.stdout.readline()))
        # In the middle of what nothing but a kill ends, and nobody left to kill.
        assert client.stdout.readline() == "loaded\n"
        left = [worker, *worker.children(recursive=True)]
        client.kill()
        client.wait()
        assert psutil.wait_procs(left, timeout=10)[1] == []
