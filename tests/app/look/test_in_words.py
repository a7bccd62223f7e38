"""What the engine says, in Chinese: none of its English is left, and what stands in it stands where it belongs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from app.look.foreign_text import visible
from app.look.language import Languages, in_words
from engine.api.declarations import declarations
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import Device, DeviceMemory, EngineReady, LoadStage
from engine.api.plan import DevicePlan, MemoryPlan
from engine.api.sentences import MAX_NAME, Bytes, Sentence, either, listed, say
from engine.api.settings import (
    CacheType,
    FlashAttention,
    LoadSettings,
    Policy,
    PolicySettings,
    SamplingSettings,
    TierSettings,
)
from engine.cache import window
from engine.cache.memory import MemoryKind
from engine.client import machine, recovery
from engine.disk.errors import disk_error
from engine.models.file_formats import refuse_other_formats
from engine.models.gguf import ModelInfo, read_model_info
from engine.models.hub.errors import hub_errors
from engine.native import plan_warnings
from engine.native.report import ContextReport
from engine.plan import autofit, check
from engine.plan.refusals import refusals
from tests.tiny import TinySpec, write_tiny_model
from tools import translations

NAME = "NAME"
"""Stands for whatever comes from outside."""


@pytest.fixture
def chinese(languages: Languages) -> None:
    languages.choose("zh_CN")


@pytest.fixture
def tiny(tmp_path: Path) -> ModelInfo:
    return read_model_info(write_tiny_model(tmp_path / "NAME.gguf", TinySpec()))


def english_left(sentence: Sentence) -> set[str]:
    """Words of the key, or of one within it, that a Chinese reader still sees, beyond those its translator kept."""
    kept = set(re.findall(r"[A-Za-z]+", in_words(Sentence(sentence.text))))
    left = (set(re.findall(r"[A-Za-z]+", sentence.text)) & set(re.findall(r"[A-Za-z]+", in_words(sentence)))) - kept
    return left.union(*(english_left(one) for one in sentence.arguments if isinstance(one, Sentence)))


def require_chinese(sentence: Sentence) -> None:
    """Its own words and those within it are translated, and the whole is made of nothing but the translations."""
    for one in parts(sentence):
        is_word = re.search(r"[A-Za-z]{3}", re.sub(r"\{\d\}", "", one.text)) and not is_value(one.text)
        assert not is_word or re.search(r"[\u4e00-\u9fff]", in_words(Sentence(one.text))), one.text
    assert english_left(sentence) == set(), in_words(sentence)


def is_value(word: str) -> bool:
    """A type such as q8_0 and a name of a setting as Top-k are the same in every language."""
    return word in list(CacheType) or word in ("Top-k", "Top-p", "Min-p", "yarn", "Flash attention")


def parts(sentence: Sentence) -> Iterator[Sentence]:
    yield sentence
    for one in sentence.arguments:
        if isinstance(one, Sentence):
            yield from parts(one)


def said_by(call: Callable[[], object]) -> Sentence:
    with pytest.raises(EngineError) as raised:
        call()
    return raised.value.sentence


def ready() -> EngineReady:
    return EngineReady({"llama_cpp": "1"}, ("CPU",), (Device("CPU", "P", "cpu", "CPU", 1, 1),), "", ())


@pytest.mark.parametrize("variants", [("haswell",), ("haswell", "sse42")])
def test_other_processor_code_is_named_in_chinese(chinese: None, variants: tuple[str, ...]) -> None:
    known = machine.Machine()
    assert known.try_other_code(known.code, -11, variants[0], variants)
    sentence = known.note_loaded(known.code, ready())
    assert sentence is not None
    require_chinese(sentence)
    assert ("sse42" in in_words(sentence)) == ("sse42" in variants)
    assert "weights" not in in_words(sentence)
    assert "instead" not in in_words(sentence)


@pytest.mark.parametrize("stage", [None, LoadStage.WEIGHTS])
@pytest.mark.parametrize("exit_code", [None, 1, -9, -11, -200])
def test_a_loss_is_told_in_chinese(chinese: None, exit_code: int | None, stage: LoadStage | None) -> None:
    sentence = recovery.describe_exit(exit_code, stage)
    require_chinese(sentence)
    assert "while" not in in_words(sentence)
    assert "signal 2" not in in_words(sentence)


@pytest.mark.parametrize("kind", list(MemoryKind))
@pytest.mark.parametrize("policy", list(Policy))
def test_a_policy_is_refused_in_the_words_of_its_panel(chinese: None, policy: Policy, kind: MemoryKind) -> None:
    sentence = window.unfit_policy(policy, kind).sentence
    require_chinese(sentence)
    assert policy not in in_words(sentence)
    assert kind not in in_words(sentence)


@pytest.mark.parametrize("settings_class", [LoadSettings, PolicySettings, SamplingSettings, TierSettings])
def test_a_setting_that_can_not_be_names_its_bounds_in_chinese(chinese: None, settings_class: type) -> None:
    for declaration in declarations(settings_class):
        with pytest.raises(EngineError) as raised:
            declaration.check({"no": "value"})
        require_chinese(raised.value.sentence)


def test_refusals_and_reasons_of_a_model_are_chinese(chinese: None, tiny: ModelInfo) -> None:
    settings = LoadSettings(n_ctx=512, type_v=CacheType.Q8_0, flash_attn=FlashAttention.OFF, n_batch=1024)
    found = [refusal.sentence for refusal in refusals(tiny, settings, MemoryKind.RECURRENT)]
    adjusted, notices = check.check_load(tiny, replace(settings, flash_attn=FlashAttention.AUTO))
    assert adjusted.n_batch == 512
    found += [notice.sentence for notice in notices]
    assert len(found) > 5
    for sentence in found:
        require_chinese(sentence)


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("n_layers_fit", [0, 1, 99])
@pytest.mark.parametrize("fits", [True, False])
def test_why_settings_were_chosen_is_told_in_chinese(
    chinese: None, tiny: ModelInfo, kind: str, n_layers_fit: int, fits: bool
) -> None:
    def measure(settings: LoadSettings) -> MemoryPlan:
        needed = 1 << 20 if fits else 3 << 30
        device = DevicePlan("CPU" if kind == "cpu" else "GPU0", needed, 0, 0, 0, 0, 2 << 30, 2 << 30)
        return MemoryPlan(settings.n_ctx or 512, n_layers_fit, 0, 0, True, True, (device,), ())

    chosen = autofit.choose_settings(tiny, LoadSettings(), measure)
    assert chosen.fits is fits
    for sentence in chosen.reasons:
        require_chinese(sentence)


@pytest.mark.parametrize("flash_attn", [True, False])
@pytest.mark.parametrize("mismatch", [True, False])
def test_warnings_of_a_plan_are_chinese(chinese: None, tiny: ModelInfo, flash_attn: bool, mismatch: bool) -> None:
    report = ContextReport(1024, 512, 512, flash_attn, False, False, False, (), (), (), (), (), (), mismatch)
    settings = LoadSettings(n_ctx=1024, type_k=CacheType.Q8_0, type_v=CacheType.Q4_0)
    device = Device("CUDA0", "", "gpu", "CUDA", 1 << 30, 1 << 30)
    memory = [(device, DeviceMemory("CUDA0", 0, 1 << 20, 0, 3 << 19, 0))]
    found = [one.sentence for one in plan_warnings.of_plan(tiny, settings, report, memory, lambda _name: frozenset())]
    assert len(found) == 3
    for sentence in found:
        require_chinese(sentence)
    assert flash_attn or any("1.5 MiB" in in_words(sentence) for sentence in found)


@pytest.mark.parametrize(
    "error",
    [
        httpx2.ProxyError("no"),
        httpx2.ConnectError("no"),
        httpx2.InvalidURL("no"),
        httpx2.LocalProtocolError("no"),
        LookupError("no"),
        OSError("no"),
    ],
)
def test_a_hub_that_fails_is_told_in_chinese(chinese: None, error: Exception) -> None:
    def fail() -> None:
        with hub_errors(NAME, "hub.example"):
            raise error

    require_chinese(said_by(fail))


@pytest.mark.parametrize("errno", [28, 13])
def test_a_disk_that_fails_is_told_in_chinese(chinese: None, errno: int) -> None:
    require_chinese(disk_error(OSError(errno, NAME), NAME).sentence)


@pytest.mark.parametrize(
    "start",
    [
        b"<html>",
        b"version https://git-lfs",
        b"{}",
        b"\x08" + bytes(7) + b"{",
        b"PK",
        b"\x80\x02",
        b"BZh",
        bytes(9),
        b"any",
    ],
)
def test_what_a_wrong_file_is_is_said_in_chinese(chinese: None, start: bytes) -> None:
    sentence = said_by(lambda: refuse_other_formats("m.gguf", start))
    require_chinese(sentence)
    assert in_words(sentence).startswith("“m.gguf”不是 GGUF 模型：")


def test_numbers_and_bytes_are_written_as_the_language_does(languages: Languages) -> None:
    sentence = say("A context window of {0} tokens needs {1} for K and V: make it smaller.", 131_072, Bytes(3 << 29))
    assert str(sentence) == "A context window of 131,072 tokens needs 1.5 GiB for K and V: make it smaller."
    languages.choose("zh_CN")
    QLocale.setDefault(QLocale("de"))
    assert in_words(sentence) == "131.072 个词元的上下文窗口需要 1,5 GiB 存放 K 和 V：请缩小窗口。"


def test_a_list_is_joined_as_the_language_does(languages: Languages) -> None:
    assert str(listed(["a"])) == "a"
    assert str(listed(["a", "b", "c"])) == "a, b and c"
    languages.choose("zh_CN")
    some = either(["a", "b", Sentence("recompute")])
    assert isinstance(some, Sentence)
    assert in_words(some) == "a、b 或 重新计算"


def test_what_no_translation_knows_is_shown_as_it_is(chinese: None) -> None:
    assert in_words(Sentence("Never heard of {0}.", ("{0}",))) == "Never heard of {0}."


@given(st.lists(st.text(max_size=50) | st.integers() | st.builds(Bytes, st.integers(0, 2**80)), max_size=4))
def test_values_of_any_size_are_shown(values: list[str | int | Bytes]) -> None:
    sentence = Sentence("".join(f"<{{{index}}}>" for index in range(len(values))), tuple(values))
    for text, shown in ((str(sentence), str), (in_words(sentence), visible)):
        assert all(f"<{shown(value)}>" in text for value in values if isinstance(value, str))
    assert all(f"<{value:,}>" in str(sentence) for value in values if isinstance(value, int))


def test_a_name_of_any_length_is_shown_short() -> None:
    sentence = say("“{0}” is empty: its download never began. Download it again.", "a" + "x" * 100_000 + "z.gguf")
    for text in (str(sentence), in_words(sentence)):
        assert len(text) < MAX_NAME + 100
        assert text.startswith("“ax")
        assert "z.gguf”" in text


def test_text_that_could_not_be_translated_is_no_error() -> None:
    with pytest.raises(TypeError, match="say"):
        EngineError(ErrorCode.INTERNAL, "Just text.")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("say(text)", "written out"),
        ('say(f"{x}")', "written out"),
        ('say("One {0}.")', "places"),
        ('say("One.", 1)', "places"),
        ('say("One {0} {2}.", 1, 2)', "places"),
        ('say("One {0}.", *rest)', "written out"),
        ("map(say, texts)", "called"),
        ("sentences.say(text)", "written out"),
        ('Sentence("One.")', "say"),
        ('Sentence(f"{x}")', "say"),
    ],
)
def test_a_sentence_that_can_not_be_collected_is_told(code: str, problem: str) -> None:
    with pytest.raises(Exception, match=problem):
        list(translations.texts_said(code, "engine/some.py"))
    assert list(translations.texts_said('say("{1} of {0}.", 1, 2)', "engine/some.py")) == ["{1} of {0}."]


def test_every_sentence_of_the_engine_is_collected() -> None:
    texts = translations.said()
    assert len(texts) > 100
    assert "weights as they are in the file" in texts
