"""The command line without an engine: what is refused before a process is started, and where output can't go."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from engine.__main__ import main
from engine.api.errors import EngineError
from engine.client import deadlines
from engine.client.client import EngineClient
from engine.commands import perplexity
from engine.commands.output import json_line


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """`refused(*arguments)`: the one sentence that the command ends with."""

    def run(*arguments: str) -> str:
        assert main(list(arguments)) == 1
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("\n") == 1
        return shown.err

    return run


@pytest.mark.parametrize(
    ("arch", "policy", "words"),
    [
        ("mamba", ("--policy", "sinks"), "recurrent"),
        ("lfm2", ("--policy", "window"), "hybrid"),
        ("llama", ("--n-ctx", "300", "--n-window", "600"), "there are 512"),
        ("llama", ("--n-window", "16", "--n-evict", "16"), "at most 15"),
    ],
)
def test_an_impossible_policy_is_refused_by_the_header_alone(
    tiny_model: Callable[..., Path],
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    arch: str,
    policy: tuple[str, ...],
    words: str,
) -> None:
    model = tiny_model(arch=arch, n_head_kv=(0, 2) if arch == "lfm2" else 2)
    monkeypatch.setattr(EngineClient, "start", lambda _: pytest.fail("an engine was started to find out"))
    assert words in refused("chat", str(model), *policy)


@pytest.mark.skipif(psutil.virtual_memory().available > 128 << 30, reason="this machine could")
@pytest.mark.parametrize("command", ["chat", "plan", "bench", "perplexity"])
def test_a_context_beyond_this_machine_is_refused_by_every_command(
    tiny_model: Callable[..., Path], refused: Callable[..., str], command: str
) -> None:
    model = str(tiny_model())
    said = refused(command, model, *([model] if command == "perplexity" else []), "--n-ctx", "134217728")
    assert "make it smaller" in said


@pytest.mark.parametrize(
    ("model", "words"), [("", "MODEL is empty"), (".", "“.” is a folder"), ("/", "“/” is a folder")]
)
def test_a_model_without_a_name_is_called_by_what_it_is(refused: Callable[..., str], model: str, words: str) -> None:
    assert words in refused("inspect", model)


def test_a_dense_measurement_keeps_to_the_context_that_was_asked_for(
    tiny_model: Callable[..., Path], refused: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("abc " * 1500)
    asked = ("perplexity", str(tiny_model(n_ctx_train=16_384)), str(text), "--json")
    assert "and 4,096 can be kept" in refused(*asked, "--n-ctx", "4096")
    assert main(list(asked)) == 0
    assert json.loads(capsys.readouterr().out)["n_tokens"] > 4096


def test_a_driver_that_hangs_is_not_waited_for_for_ever(
    tiny_model: Callable[..., Path], refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "START_TIMEOUT_S", 0.0)
    assert "a driver may hang" in refused("plan", str(tiny_model()))


def test_what_the_text_can_not_be_is_said(
    tiny_model: Callable[..., Path], refused: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(b"a text\r\nof two lines")
    assert perplexity.read_text(text) == "a text\nof two lines"
    for tokens in ("-1", "0", "1"):
        assert "at least 2 tokens" in refused("perplexity", str(tiny_model()), str(text), "--tokens", tokens)
    monkeypatch.setattr(perplexity, "TEXT_BYTES_MAX", 1000)
    text.write_bytes(b"a" * 1001)
    assert "larger than" in refused("perplexity", str(tiny_model()), str(text))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device without an end here")
def test_a_device_without_an_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perplexity, "TEXT_BYTES_MAX", 1000)
    with pytest.raises(EngineError, match="larger than"):
        perplexity.read_text(Path("/dev/zero"))


def test_an_rpc_worker_that_can_not_listen_is_an_error(refused: Callable[..., str]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        assert f"can't listen at 127.0.0.1:{port}" in refused("rpc-worker", "--port", port)
    for host in ("::1", "a" * 70 + ".b"):
        assert "as --host" in refused("rpc-worker", "--host", host)


def run_closed(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = f'exec "$0" -m engine "$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments], capture_output=True, text=True, input="abc\n", check=False
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_is_a_sentence(tiny_model: Callable[..., Path]) -> None:
    done = run_closed(">/dev/full", "inspect", str(tiny_model()), "--json")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="streams are closed by a shell")
@pytest.mark.parametrize(("redirection", "answers"), [("2>&-", True), (">&-", False), ("<&-", False)])
def test_a_closed_stream_costs_the_engine_nothing(
    tiny_model: Callable[..., Path], redirection: str, answers: bool
) -> None:
    done = run_closed(redirection, "chat", str(tiny_model()), "--json", "--max-tokens", "2", "--n-ctx", "256")
    assert (done.returncode, '"Finished"' in done.stdout) == (0, answers)
    assert "Traceback" not in done.stderr


def test_json_is_one_line_for_every_reader() -> None:
    text = {"text": "".join(map(chr, range(0x300))) + "\u2028\u2029\ufeff\U0001f600"}
    assert len(json_line(text).splitlines()) == 1
    assert json.loads(json_line(text)) == text
    assert "\U0001f600" in json_line(text)


def test_what_a_file_name_holds_does_not_reach_the_terminal(refused: Callable[..., str]) -> None:
    said = refused("inspect", "two\nlines\x1b[31m 模型.gguf")
    assert "“two lines [31m 模型.gguf”" in said


@pytest.mark.parametrize("command", ["plan", "chat", "perplexity", "bench", "rpc-worker"])
def test_without_llama_cpp_every_command_says_so(tiny_model: Callable[..., Path], tmp_path: Path, command: str) -> None:
    broken = tmp_path / "broken" / "llama_cpp"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('libllama.so is not there')")
    text = tmp_path / "text.txt"
    text.write_text("A text.")
    model = str(tiny_model())
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    arguments = {"perplexity": (model, str(text)), "rpc-worker": ("--port", port)}.get(command, (model,))
    ended = subprocess.run(
        [sys.executable, "-m", "engine", command, *arguments],
        env={**os.environ, "PYTHONPATH": str(broken.parent)},
        cwd=Path(__file__).parents[3],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "llama.cpp can't be loaded: install Kvasir again.\n"
