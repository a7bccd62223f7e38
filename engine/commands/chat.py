"""``chat``: one user turn for each line of input, events as JSON lines or the answer as text."""

from __future__ import annotations

import argparse
import json
import queue
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.client import EngineClient
from engine.commands import options
from engine.errors import EngineError, ErrorCode
from engine.messages import (
    Cancel,
    EngineLost,
    EngineReady,
    Event,
    Failed,
    Finished,
    Generate,
    LoadModel,
    LoadProgress,
    LossOutcome,
    ModelLoaded,
    Notice,
    TextGenerated,
    TextKind,
)
from engine.options import EngineOptions
from engine.settings import SamplingSettings
from engine.text.chat import Message

CHAT_ID = "command-line"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``chat``."""
    options.add_model(parser)
    parser.add_argument("--system", metavar="TEXT", default="", help="the system prompt")
    parser.add_argument(
        "--rpc", metavar="HOST:PORT", action="append", default=[], help="use an RPC worker's device too"
    )
    options.add_cache_options(parser)
    options.add_settings(parser, SamplingSettings, title="sampling")


def run(args: argparse.Namespace) -> int:
    """Chat until the input ends; raises EngineError for what can't be done."""
    path = options.model_path(args)
    load, policy, sampling = options.load_settings(args), options.policy_settings(args), options.sampling_settings(args)
    with tempfile.TemporaryDirectory(prefix="kvasir-") as folder:
        options_ = EngineOptions(log_path=str(Path(folder) / "engine.log"), rpc_servers=tuple(args.rpc))
        chat = CommandLineChat(options_, as_json=args.json)
        try:
            chat.load(LoadModel(chat.client.next_request_id(), str(path), load))
            if args.system:
                chat.messages.append(Message("system", args.system))
            for line in sys.stdin:
                text = line.rstrip("\n")
                if text.strip():
                    chat.ask(text, Generate(0, CHAT_ID, (), sampling, policy))
        finally:
            chat.client.close()
    return 0


class CommandLineChat:
    """An engine, and the messages of one chat with it."""

    def __init__(self, engine_options: EngineOptions, *, as_json: bool) -> None:
        self.messages: list[Message] = []
        self._as_json = as_json
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.client = EngineClient(self._events.put, engine_options)
        self.client.start()

    def load(self, command: LoadModel) -> None:
        """Load a model; raises EngineError."""
        self.client.send(command)
        for event in self._shown(command.request_id):
            if isinstance(event, ModelLoaded):
                return

    def ask(self, text: str, template: Generate) -> None:
        """Ask, show the answer, and keep both; raises EngineError. Ctrl+C stops the answer, not the chat."""
        self.messages.append(Message("user", text))
        request_id = self.client.next_request_id()
        command = Generate(
            request_id, template.chat_id, tuple(self.messages), template.sampling, template.policy, template.stop
        )
        self.client.send(command)
        for event in self._shown(request_id):
            if isinstance(event, Finished):
                answer = Message("assistant", event.text, event.reasoning, event.token_ids or None)
                self.messages.append(answer)
                return

    def _shown(self, request_id: int) -> Iterator[Event]:
        """Events as they come, printed; raises EngineError when one says that the request failed."""
        while True:
            try:
                event = self._events.get()
            except KeyboardInterrupt:
                self.client.send(Cancel(request_id))
                continue
            self._show(event)
            if isinstance(event, Failed) and event.request_id in (None, request_id):
                raise EngineError(event.code, event.message, event.detail)
            if isinstance(event, EngineLost) and (
                request_id in event.request_ids or event.outcome is LossOutcome.GAVE_UP
            ):
                raise EngineError(event.code, event.message, event.log_tail)
            yield event

    def _show(self, event: Event) -> None:
        if self._as_json:
            print(json.dumps(event.to_json(), ensure_ascii=False), flush=True)
        elif isinstance(event, TextGenerated) and event.kind is TextKind.ANSWER:
            print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            print(flush=True)
            print(_summary(event), file=sys.stderr)
        elif isinstance(event, Notice):
            print(event.message, file=sys.stderr)
        elif isinstance(event, LoadProgress | EngineReady):
            return


def _summary(event: Finished) -> str:
    stats = event.stats
    return (
        f"[{event.reason} · reused {stats.n_reused} of {stats.n_prompt}, fed {stats.n_fed} · "
        f"{stats.n_generated} tokens · {stats.prefill_tps:.0f} and {stats.decode_tps:.1f} tokens/s · "
        f"first after {stats.ttft_ms:.0f} ms · evicted {stats.n_evicted} · seed {stats.seed}]"
    )


def reading_failed(error: UnicodeDecodeError) -> EngineError:
    """Input that is not text."""
    return EngineError(ErrorCode.SETTING_INVALID, "The input is not UTF-8 text.", str(error))
