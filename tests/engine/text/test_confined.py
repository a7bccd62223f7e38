"""Templates run where they can be ended: whatever one does, its end is a sentence, and the next chat is written."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api.chat import Message, PromptNoticeCode
from engine.api.errors import EngineError, ErrorCode
from engine.text.confined import ConfinedTemplate, TemplateProcess
from engine.text.look import Interrupted, looking
from engine.text.prompt import build_prompt
from engine.text.template import ChatTemplate, load_template
from tests.engine.text.fake_vocabulary import FakeVocabulary
from tests.engine.text.templates import MODELS, model

TIMEOUT_S = 0.5
MEMORY_BYTES = 96 << 20
VOCABULARY = FakeVocabulary(("<s>", "</s>"), bos="<s>", eos="</s>")
CHAT = (Message("user", "hello"), Message("assistant", "Hi", reasoning="he"), Message("user", "there"))

FOLDED = "{{ '{" + ":" * 200_000 + "' | format }}"
"""Constants are folded while a template is read: Python takes hours for this one, and nothing interrupts it."""
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
LATER_ENDLESS = "{% if messages[0].content == 'hello' %}" + ENDLESS + "{% endif %}{{ messages[0].content }}"
GREEDY = "'a' * 9999999" + " | replace('a', 'aa')" * 40
GROWING = (
    "{% set ns = namespace(x=[]) %}{% for a in range(99999) %}{% for b in range(999) %}"
    "{% set ns.x = [ns.x, a ~ '-' ~ b ~ 'x' * 50000] %}{% endfor %}{% endfor %}"
)


@pytest.fixture(scope="module")
def process() -> Iterator[TemplateProcess]:
    one = TemplateProcess(timeout_s=TIMEOUT_S, memory_bytes=MEMORY_BYTES)
    yield one
    one.end()


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "resource_tracker" not in " ".join(child.cmdline())]


def confined(source: str, process: TemplateProcess) -> ConfinedTemplate:
    return ConfinedTemplate(source, VOCABULARY, process)


@pytest.mark.parametrize("name", MODELS)
def test_a_template_writes_elsewhere_what_it_writes_here(name: str, process: TemplateProcess) -> None:
    one = model(name)
    there = ConfinedTemplate(one.template.source, one.vocabulary, process)
    there.try_out()
    assert build_prompt(one.vocabulary, there, CHAT) == build_prompt(one.vocabulary, one.template, CHAT)


@pytest.mark.parametrize("source", [FOLDED, ENDLESS], ids=["read", "run"])
def test_an_endless_template_is_replaced_and_told(source: str, process: TemplateProcess) -> None:
    template = load_template(VOCABULARY, source, partial(ConfinedTemplate, process=process))
    assert [notice.code for notice in template.notices] == [PromptNoticeCode.TEMPLATE_UNUSABLE]
    assert "does not come to an end" in template.notices[0].message
    assert "hello" in template.lay_out(CHAT)[0].text


def test_one_that_ends_with_some_chats_only_stays_and_says_so(process: TemplateProcess) -> None:
    template = load_template(VOCABULARY, LATER_ENDLESS, partial(ConfinedTemplate, process=process))
    assert template.notices == ()
    with pytest.raises(EngineError) as caught:
        template.lay_out(CHAT)
    assert caught.value.code is ErrorCode.TEMPLATE_TIMEOUT
    assert "start a new chat" in caught.value.message
    assert template.lay_out((Message("user", "Hi"),))[0].text == "Hi"


@pytest.mark.parametrize("source", ["{{ " + GREEDY + " }}", GROWING], ids=["read", "run"])
def test_a_greedy_template_meets_its_ceiling(source: str, process: TemplateProcess) -> None:
    with pytest.raises(EngineError) as caught:
        confined(source, process).try_out()
    assert caught.value.code is ErrorCode.TEMPLATE_FAILED
    assert all(child.memory_info().rss < 2 * MEMORY_BYTES for child in children())


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('never') }}",
        "{{ messages[7].content }}",
        "{{ 1 / 0 }}",
        "{{ tools[0] }}",
        "{# nothing #}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ 'x' * 10**9 }}",
        "{% if %}",
    ],
)
def test_one_that_takes_no_chat_is_replaced_and_told(source: str, process: TemplateProcess) -> None:
    for open_template in (ChatTemplate, partial(ConfinedTemplate, process=process)):
        template = load_template(VOCABULARY, source, open_template)
        assert [notice.code for notice in template.notices] == [PromptNoticeCode.TEMPLATE_UNUSABLE]
        assert "hello" in template.lay_out(CHAT)[0].text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ '\\ud835' }}{{ messages[0].content }}", "�hello"),
        ("{{ messages[0].content | forceescape }}", "hello"),
        ("{{ 7 }}{{ none }}{{ [messages[0].content] }}", "7None['hello']"),
    ],
)
def test_what_is_written_is_text(source: str, text: str, process: TemplateProcess) -> None:
    template = load_template(VOCABULARY, source, partial(ConfinedTemplate, process=process))
    laid_out, _ = template.lay_out(CHAT[:1])
    assert laid_out.text == text
    assert build_prompt(VOCABULARY, template, CHAT[:1]).tokens


def test_who_no_longer_wants_a_chat_does_not_wait_for_it(process: TemplateProcess) -> None:
    template = confined(LATER_ENDLESS, process)
    template.try_out()
    looks = iter([False, False, True])
    with pytest.raises(Interrupted):
        template.lay_out(CHAT, looking(lambda: next(looks)))
    assert template.lay_out((Message("user", "Hi"),))[0].text == "Hi"


def test_a_load_can_be_stopped_while_its_template_is_read(process: TemplateProcess) -> None:
    looks = iter([False, False, True])
    with pytest.raises(Interrupted):
        ConfinedTemplate(FOLDED, VOCABULARY, process, looking(lambda: next(looks))).try_out()


def test_a_process_that_dies_fails_one_chat(process: TemplateProcess) -> None:
    template = confined("{{ messages[0].content }}", process)
    template.try_out()
    for child in children():
        child.kill()
    with pytest.raises(EngineError) as caught:
        template.lay_out(CHAT)
    assert caught.value.code is ErrorCode.TEMPLATE_FAILED
    assert template.lay_out(CHAT[:1])[0].text == "hello"


def test_a_long_chat_gets_more_time_than_a_short_one() -> None:
    # In a tenth of the time for a short chat no template writes this one.
    patient = TemplateProcess(timeout_s=0.01)
    try:
        template = ConfinedTemplate(model("smollm").template.source, model("smollm").vocabulary, patient)
        long = tuple(Message("user", "hello there " * 400) for _ in range(500))
        assert template.lay_out(long)[0].is_exact
    finally:
        patient.end()


LONELY = """
import sys, threading
from engine.api.chat import Message
from engine.text.confined import ConfinedTemplate, TemplateProcess
from tests.engine.text.test_confined import LATER_ENDLESS, VOCABULARY
if __name__ == "__main__":
    process = TemplateProcess(timeout_s=0.5)
    template = ConfinedTemplate(LATER_ENDLESS, VOCABULARY, process)
    template.try_out()
    print("ready", flush=True)
    if sys.argv[1] == "busy":
        template.lay_out((Message("user", "hello"),), lambda: print("at work", flush=True))
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("state", ["idle", "busy"])
def test_without_its_engine_the_process_ends(state: str) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", LONELY, state]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, **pipes) as engine:
        assert engine.stdout.readline() == "ready\n"
        if state == "busy":
            assert engine.stdout.readline() == "at work\n"
        left = psutil.Process(engine.pid).children(recursive=True)
        engine.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(left, timeout=20)
    assert alive == []


# What nobody thought of

LITERALS = st.sampled_from(
    ["'a'", "'\\ud835'", "''", "'{:>9999}'", "'%999999d'", "[1, 'b']", "99999", "messages", "ns.x"]
)
FILTERS = st.sampled_from(
    [
        "replace('a', 'aaaaaaaaaaaaaaaa')", "format", "format(9**9)", "indent(999)", "center(10**9)", "tojson",
        "join('ab')", "batch(9) | list", "sum", "upper", "list", "string", "map('upper') | list", "groupby('role')",
        "wordwrap(1)", "truncate(10**9)", "urlize", "sort", "unique | list", "reverse", "length", "escape", "first",
    ]
)  # fmt: skip
VALUES = st.recursive(
    LITERALS,
    lambda inner: st.one_of(
        st.tuples(inner, FILTERS).map(lambda pair: f"({pair[0]} | {pair[1]})"),
        st.tuples(inner, st.sampled_from(["+", "*", "~", "**", "%", "<", "in"]), inner).map(
            lambda three: f"({three[0]} {three[1]} {three[2]})"
        ),
        inner.map(lambda value: f"{value}[::-1]"),
        inner.map(lambda value: f"(range(10**9) | list if {value} else {value})"),
        inner.map(lambda value: f"{value}.join([{value}] * 9999)"),
    ),
    max_leaves=6,
)
TEXTS = st.recursive(
    VALUES.map(lambda value: "{{ " + value + " }}"),
    lambda inner: st.one_of(
        inner.map(lambda text: "{% for n in range(99999) %}" + text + "{% endfor %}"),
        inner.map(lambda text: "{% set x %}" + text + "{% endset %}{{ x * 99 }}"),
        inner.map(lambda text: "{% macro m(n) %}" + text + "{{ m(n + 1) }}{% endmacro %}{{ m(0) }}"),
        inner.map(lambda text: "{% for n in messages recursive %}" + text + "{{ loop([n]) }}{% endfor %}"),
        VALUES.map(lambda value: "{% for n in range(9999) %}{% set ns.x = [ns.x, " + value + "] %}{% endfor %}"),
    ),
    max_leaves=3,
)


@settings(max_examples=int(os.environ.get("KVASIR_TEMPLATES", "12")))
@given(TEXTS)
def test_any_template_ends_in_time_and_within_its_memory(process: TemplateProcess, text: str) -> None:
    source = "{% set ns = namespace(x='x') %}{{ messages[0].content }}" + text
    template = load_template(VOCABULARY, source, partial(ConfinedTemplate, process=process))
    # It failed with a sentence where it failed at all, and took no more than it may have.
    with contextlib.suppress(EngineError):
        assert template.lay_out(CHAT)[0].text
    assert all(child.memory_info().rss < 2 * MEMORY_BYTES for child in children())
    assert confined("{{ messages[0].content }}", process).lay_out(CHAT[:1])[0].text == "hello"
