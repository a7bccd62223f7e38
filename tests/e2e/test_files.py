"""Files that are no model: one plain sentence each, through the client and on the command line; the engine lives on."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.api.errors import ErrorCode
from engine.api.messages import EngineLost, EngineReady, Failed
from tests.e2e.bad_models import BAD_MODELS, write_bad_model
from tests.e2e.conftest import SMALL
from tests.e2e.desk import Desk

pytestmark = pytest.mark.e2e


def is_one_plain_sentence(text: str) -> bool:
    return "\n" not in text and text.endswith(".") and "Error" not in text and "Traceback" not in text


def test_the_engine_says_what_is_wrong_with_a_file_and_loads_the_next(
    shared_desk: Desk, tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    shared_desk.load(tiny_model(), SMALL)
    for kind, (code, word) in BAD_MODELS.items():
        answer = shared_desk.try_load(write_bad_model(kind, tmp_path, tiny_model), SMALL)
        assert isinstance(answer, Failed), kind
        assert (kind, answer.code) == (kind, code)
        assert word in answer.message, kind
        assert is_one_plain_sentence(answer.message), answer.message
    # The model before went when another was asked for.
    answer = shared_desk.heard.wait_for_answer(shared_desk.ask("hello"))
    assert isinstance(answer, Failed)
    assert answer.code is ErrorCode.NO_MODEL
    shared_desk.load(tiny_model(), SMALL)
    assert shared_desk.answer("hello").stats.n_generated == 8
    assert shared_desk.heard.of(EngineLost) == []
    assert len(shared_desk.heard.of(EngineReady)) == 1


@pytest.mark.parametrize("kind", BAD_MODELS)
def test_the_command_line_says_it_in_one_sentence(
    kind: str,
    tiny_model: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hello\n")))
    path = write_bad_model(kind, tmp_path, tiny_model)
    assert main(["chat", str(path)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert BAD_MODELS[kind][1] in shown.err
    assert is_one_plain_sentence(shown.err.removesuffix("\n"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the system's administrator may read all")
def test_a_file_that_may_not_be_read_is_named(
    tiny_model: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "secret.gguf"
    path.write_bytes(tiny_model().read_bytes())
    path.chmod(0)
    assert main(["chat", str(path)]) == 1
    assert "secret.gguf" in capsys.readouterr().err


def test_settings_that_can_not_be_are_refused_before_the_load(
    shared_desk: Desk, tiny_model: Callable[..., Path]
) -> None:
    for settings, code, word in (
        (replace(SMALL, n_ctx=2**32), ErrorCode.SETTING_INVALID, "Context window"),
        (replace(SMALL, n_ctx=0), ErrorCode.SETTING_INVALID, "Context window"),
        (replace(SMALL, n_batch=-1), ErrorCode.SETTING_INVALID, "Batch"),
        (replace(SMALL, n_ctx=2**27), ErrorCode.OUT_OF_MEMORY, "make it smaller"),
    ):
        answer = shared_desk.try_load(tiny_model(n_layer=64, n_head_kv=4), settings)
        assert isinstance(answer, Failed), settings
        assert answer.code is code
        assert word in answer.message
        assert is_one_plain_sentence(answer.message)
