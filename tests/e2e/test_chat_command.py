"""`chat` on the command line: turns as JSON, what is typed wrong, what is interrupted, and its exit codes."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engine.__main__ import main
from tests.engine.text.templates import SMOLLM

pytestmark = pytest.mark.e2e

SMALL = ("--n-ctx", "512", "--threads", "1", "--temperature", "0", "--max-tokens", "4")
DEADLINE_S = 60


@pytest.fixture
def chat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """`chat(typed, *arguments)` runs the command in this process: exit code, output, errors."""

    def run(typed: bytes, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed)))
        code = main(["chat", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def events(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_two_turns_of_the_starter_model(chat: Callable[..., tuple[int, str, str]]) -> None:
    typed = "Name three colours.\r\n\n   \nAnd the sea’s?\n".encode()
    code, out, err = chat(typed, "starter", "--json", "--system", "Be brief.", *SMALL)
    assert (code, err) == (0, "")
    said = events(out)
    assert {"EngineReady", "LoadProgress", "ModelLoaded", "PrefillProgress", "TextGenerated", "CacheChanged"} <= {
        event["event"] for event in said
    }
    first, second = (event for event in said if event["event"] == "Finished")
    for finished in (first, second):
        assert finished["n_prompt"] == finished["n_reused"] + finished["n_fed"]
        assert finished["n_generated"] == 4
        assert {"n_evicted", "prefill_tps", "decode_tps", "ttft_ms", "seed"} <= finished.keys()
    assert first["n_reused"] == 0
    # The next turn costs its own tokens, and the last one sampled.
    assert second["n_reused"] == first["n_prompt"] + first["n_generated"] - 1


def test_plain_output_is_the_answer_and_its_costs_are_beside_it(
    chat: Callable[..., tuple[int, str, str]], tiny_model: Callable[..., Path]
) -> None:
    code, out, err = chat(b"abc\nabc", str(tiny_model(chat_template=None)), "--ignore-eos", "--seed", "7", *SMALL)
    assert code == 0
    assert len(out.splitlines()) >= 2
    assert err.count("seed 7]") == 2
    assert err.count("chat template") == 1, "a notice is told once"


def test_nothing_typed_is_no_error(chat: Callable[..., tuple[int, str, str]], tiny_model: Callable[..., Path]) -> None:
    code, out, _ = chat(b"", str(tiny_model()), *SMALL)
    assert (code, out) == (0, "")


@pytest.mark.parametrize(
    ("typed", "arguments", "words"),
    [
        (b"\xff\xfe\n", (), "UTF-8"),
        (b"a", ("--n-ctx", "4294967296"), "134217728"),
        (b"a", ("--n-batch", "-5"), "from 1 to"),
        (b"a", ("--temperature", "hot"), "from 0 to 5"),
        (b"a", ("--type-k", "q9"), "q8_0"),
        (b"a", ("--swa-full", "maybe"), "on or off"),
        (b"a", ("--no-such-option",), "--help"),
        (b"x" * 5000, (), "too long"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    chat: Callable[..., tuple[int, str, str]],
    tiny_model: Callable[..., Path],
    typed: bytes,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    code, out, err = chat(typed, str(tiny_model()), *SMALL, *arguments)
    assert (code, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1 or typed.startswith((b"\xff", b"x"))
    assert "Traceback" not in err


def start(*arguments: str, **streams: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "engine", "chat", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **streams)


def test_a_system_prompt_that_the_template_writes_by_itself_is_never_evicted(
    chat: Callable[..., tuple[int, str, str]], tiny_model: Callable[..., Path]
) -> None:
    path = str(tiny_model(chat_template=SMOLLM))
    small = ("--policy", "window", "--n-window", "100", "--n-ctx", "256", "--threads", "1", "--temperature", "0")
    code, out, _ = chat(b"abc\n" * 3, path, "--json", "--ignore-eos", "--max-tokens", "60", *small)
    assert code == 0
    said = events(out)
    finished = [event for event in said if event["event"] == "Finished"]
    assert finished[-1]["n_evicted"] > 0
    for before, after in pairwise(finished):
        assert after["n_reused"] == before["n_prompt"] + before["n_generated"] - 1
    *_, usage = (event["usage"] for event in said if event["event"] == "CacheChanged")
    system = [span for span in usage["spans"] if span["role"] == "system"]
    assert [(span["start"], span["state"], span["is_sink"]) for span in system] == [(0, "cached", True)]
    assert [span["role"] for span in usage["spans"]][1] == "user"
    assert {span["message_index"] for span in system} == {None}


@pytest.mark.skipif(os.name != "posix", reason="Ctrl+C is a signal to a process group here")
def test_ctrl_c_stops_the_answer_and_then_the_chat(tiny_model: Callable[..., Path]) -> None:
    # In a terminal everyone in the foreground gets it, the engine process too.
    arguments = (str(tiny_model(n_ctx_train=100_000)), "--json", "--n-ctx", "65536", "--threads", "1", "--ignore-eos")
    with start(*arguments, stderr=subprocess.PIPE, start_new_session=True) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdin.write("abc\n")
        chat.stdin.flush()
        finished = None
        for line in chat.stdout:
            event = json.loads(line)
            if event["event"] == "TextGenerated" and finished is None:
                os.killpg(chat.pid, signal.SIGINT)
                finished = False
            if event["event"] == "Finished":
                finished = event
                break
        assert finished
        assert finished["reason"] == "cancelled"
        # Nothing is under way any more.
        os.killpg(chat.pid, signal.SIGINT)
        chat.wait(DEADLINE_S)
        assert chat.returncode == 130
        assert chat.stderr is not None
        assert "Traceback" not in chat.stderr.read()


@pytest.mark.skipif(os.name != "posix", reason="Ctrl+C is a signal to a process group here")
def test_ctrl_c_in_a_load_ends_the_program() -> None:
    with start("starter", "--json", "--threads", "1", stderr=subprocess.PIPE, start_new_session=True) as chat:
        assert chat.stdout is not None
        for line in chat.stdout:
            if json.loads(line)["event"] == "LoadProgress":
                os.killpg(chat.pid, signal.SIGINT)
                break
        out, err = chat.communicate(timeout=DEADLINE_S)
        assert chat.returncode == 130
        assert events(out)[-1]["event"] == "LoadCancelled"
        assert "Traceback" not in err


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal here")
def test_an_engine_that_is_lost_ends_the_chat_with_one_sentence(tiny_model: Callable[..., Path]) -> None:
    arguments = (str(tiny_model(n_ctx_train=100_000)), "--json", "--n-ctx", "65536", "--threads", "1", "--ignore-eos")
    with start(*arguments, stderr=subprocess.PIPE) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdin.write("abc\n")
        chat.stdin.flush()
        process_id = None
        for line in chat.stdout:
            event = json.loads(line)
            if event["event"] == "EngineReady":
                process_id = event["process_id"]
            if event["event"] == "TextGenerated" and process_id is not None:
                os.kill(process_id, signal.SIGKILL)
                process_id = None
        assert event["event"] == "EngineLost"
        assert chat.wait(DEADLINE_S) == 1
        assert chat.stderr is not None
        said = chat.stderr.read()
        assert "ended by the system" in said
        assert said.count("\n") == 1


def test_a_reader_that_went_away_is_no_traceback(tiny_model: Callable[..., Path]) -> None:
    with start(str(tiny_model()), "--json", "--ignore-eos", *SMALL, stderr=subprocess.PIPE) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdout.readline()
        chat.stdout.close()
        chat.stdin.write("abc\n" * 5)
        chat.stdin.close()
        assert chat.wait(DEADLINE_S) == 1
        assert chat.stderr is not None
        assert "Traceback" not in chat.stderr.read()


@pytest.mark.parametrize("command", ["", "inspect", "plan", "chat", "perplexity", "bench", "rpc-worker"])
def test_help_is_readable(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "usage: kvasir-engine" in shown
    assert "%(" not in shown
    assert "None" not in shown
