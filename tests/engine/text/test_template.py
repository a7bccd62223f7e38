"""Chat templates are someone else's code: what they may do, and how they end."""

from __future__ import annotations

from datetime import datetime

import pytest

from engine.api.errors import EngineError, ErrorCode
from engine.text.sandbox import MAX_RENDERED
from engine.text.template import MAX_SOURCE, ChatTemplate
from tests.engine.text.fake_vocabulary import FakeVocabulary

NESTED = "{% set ns = namespace(x=[1]) %}{% for n in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
VOCABULARY = FakeVocabulary(("<s>", "</s>"), bos="<s>", eos="</s>")


def render(source: str, *, content: str = "hello") -> str:
    template = ChatTemplate(source, VOCABULARY)
    return template.render([{"role": "user", "content": content}], add_generation_prompt=True)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}", "<s>hello</s>"),
        ("{% if add_generation_prompt %}yes{% endif %}", "yes"),
        ("{% if tools is none and documents is none %}yes{% endif %}", "yes"),
        ("{% if enable_thinking is defined %}no{% else %}yes{% endif %}", "yes"),
        ("  {% if true %}\nyes\n  {% endif %}\n", "yes\n"),
        ("{% for n in range(9) %}{% if n == 2 %}{% break %}{% endif %}{{ n }}{% endfor %}", "01"),
        ("{{ {'a': ['<é>', 1]} | tojson }}", '{"a": ["<é>", 1]}'),
        ("{% set ns = namespace(n=1) %}{% set ns.n = ns.n + 1 %}{{ ns.n ~ '/' ~ 3 }}", "2/3"),
        ("{% generation %}{{ messages[0].content }}{% endgeneration %}", "hello"),
        (
            "{{ ['a', 'b'] | join(', ') }}{{ 'xay' | replace('a', 'b') }}{{ 'In 2024: %s' | format(1) }}",
            "a, bxbyIn 2024: 1",
        ),
        ("{{ 'a-b'.split('-') | map('upper') | list }}", "['A', 'B']"),
        ("{{ '%05d' % 42 }}{{ '{:>4}'.format('x') }}{{ 'ab' * 2 }}{{ [1] + [2] }}", "00042   xabab[1, 2]"),
        ("{{ 'a\nb' | indent(2) }}{{ messages[0].content.replace('l', '') }}", "a\n  bheo"),
    ],
)
def test_templates_have_what_they_were_written_for(source: str, text: str) -> None:
    assert render(source) == text


@pytest.mark.parametrize(
    ("written", "text"), [("\\ud835", "a\ufffdb"), ("\\ud835\\udc00", "a\U0001d400b"), ("\\udc00", "a\ufffdb")]
)
def test_half_a_character_that_a_template_writes_is_made_valid(written: str, text: str) -> None:
    assert render("a{{ '" + written + "' }}b") == text


def test_the_date_is_todays() -> None:
    before = datetime.now().astimezone()
    shown = render("{{ strftime_now('%Y-%m-%d') }}")
    assert shown in {moment.strftime("%Y-%m-%d") for moment in (before, datetime.now().astimezone())}


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('System role not supported') }}",
        "{{ messages[9].content.nothing }}",
        "{{ 1 / 0 }}",
        "{% include 'x' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        # Ways out of the sandbox.
        "{{ ''.__class__.__mro__ }}{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ raise_exception.__globals__['jinja2'] }}",
        "{{ messages.append(1) }}",
        "{{ strftime_now.__globals__.os.system('true') }}",
        "{{ '{0.__class__.__init__.__globals__}'.format(strftime_now).x.y }}",
    ],
)
def test_whatever_a_template_raises_is_one_sentence(source: str) -> None:
    with pytest.raises(EngineError) as caught:
        render(source)
    assert caught.value.code is ErrorCode.TEMPLATE_FAILED
    assert caught.value.message.endswith("choose another model.")
    assert caught.value.detail


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x' * 10**9 }}",
        "{{ 10**9 * 'x' }}",
        "{{ [0] * 10**9 }}",
        "{{ 9 ** (9 ** 9) }}",
        "{% set ns = namespace(x=9) %}{% for n in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x='xy') %}{% for n in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='xy') %}{% for n in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x=['xy']) %}{% for n in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for n in range(99) %}{% set ns.x = ns.x.replace('x', 'xx') %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for n in range(99) %}{% set ns.x = ns.x | replace('x', 'xx') %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for n in range(99) %}{% set ns.x = ns.x.join([ns.x] * 9) %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for n in range(99) %}{% set ns.x = [ns.x, ns.x] | join %}{% endfor %}",
        NESTED + "{{ ns.x }}",
        NESTED + "{{ ns.x ~ '' }}",
        NESTED + "{{ ns.x | tojson }}",
        NESTED + "{{ ns.x | string }}",
        NESTED + "{{ '%s' % ns.x }}",
        NESTED + "{{ '{}'.format(ns.x) }}",
        "{{ 'x'.ljust(10**9) }}",
        "{{ 'x'.center(width=10**9) }}",
        "{{ '\t'.expandtabs(10**9) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '%*d' % (10**9, 1) }}",
        "{{ '%999999999d' | format(1) }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ '{:>{}}'.format(1, 10**9) }}",
        "{{ 'x' | indent(10**9, true) }}",
        "{{ range(10**9) | list }}",
        "{{ strftime_now('%999999999Y') }}",
        "{% for n in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
        "{{ lipsum(n=10**6) }}",
        "{{ 'x' | center(10**9) }}",
        "{{ [1] | batch(10**9, 1) | list }}",
    ],
)
def test_a_little_template_can_not_take_much_memory(source: str) -> None:
    with pytest.raises(EngineError) as caught:
        render(source)
    assert caught.value.code is ErrorCode.TEMPLATE_FAILED
    assert "MemoryError" not in caught.value.detail


def test_long_messages_are_not_much_memory() -> None:
    content = "x" * (MAX_RENDERED // 4)
    assert len(render("{{ '<' + messages[0].content | trim + '>' }}", content=content)) == len(content) + 2


@pytest.mark.parametrize(
    "source",
    [
        "{% if %}",
        "{{ 'a' | no_such_filter }}",
        "{% no_such_tag %}",
        "x" * (MAX_SOURCE + 1),
        "{{ " + "(" * 5000 + ")" * 5000 + " }}",
        "{{ " + "-" * 5000 + "1 }}",
        "{{ 1" + "+1" * 20_000 + " }}",
        "{{ a" + ".b" * 20_000 + " }}",
        "{% if a %}" * 20_000,
    ],
)
def test_what_is_no_template_is_refused(source: str) -> None:
    with pytest.raises(EngineError) as caught:
        ChatTemplate(source, VOCABULARY)
    assert caught.value.code is ErrorCode.TEMPLATE_FAILED
