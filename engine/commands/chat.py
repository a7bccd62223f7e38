"""``chat``: one user turn for each line of input, events as JSON lines or the answer as text."""

from __future__ import annotations

import argparse
import queue
import signal
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.api.chat import Message
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import (
    Cancel,
    EngineLost,
    Event,
    Failed,
    Finished,
    Generate,
    LoadCancelled,
    LoadModel,
    LossOutcome,
    ModelLoaded,
    Notice,
    TextGenerated,
    TextKind,
)
from engine.api.options import EngineOptions
from engine.api.sentences import say
from engine.api.settings import SamplingSettings
from engine.client.client import EngineClient
from engine.commands import options
from engine.commands.output import json_line
from engine.commands.scratch import scratch_folder

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
    options.require_chat(path, load, policy)
    with scratch_folder() as folder:
        options_ = EngineOptions(log_path=str(folder / "engine.log"), rpc_servers=tuple(args.rpc))
        chat = CommandLineChat(options_, as_json=args.json)
        before = signal.signal(signal.SIGINT, chat.on_interrupt)
        try:
            chat.load(LoadModel(chat.client.next_request_id(), str(path), load))
            if args.system:
                chat.messages.append(Message("system", args.system))
            for text in typed_lines(() if sys.stdin is None else sys.stdin.buffer):
                chat.ask(text, Generate(0, CHAT_ID, (), sampling, policy))
        finally:
            chat.client.close()
            signal.signal(signal.SIGINT, before)
    return 0


def typed_lines(stream: Iterable[bytes]) -> Iterator[str]:
    """The lines that are not blank; raises EngineError(SETTING_INVALID) for bytes that are not text."""
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            message = say("Line {0} of the input is not UTF-8 text: convert it, for example with iconv.", number)
            raise EngineError(ErrorCode.SETTING_INVALID, message, str(error)) from error
        if text.strip():
            yield text


class CommandLineChat:
    """An engine with the messages of one chat."""

    def __init__(self, engine_options: EngineOptions, *, as_json: bool) -> None:
        self.messages: list[Message] = []
        self._as_json = as_json
        # Holds ids of requests to be cancelled by Ctrl+C.
        self._events: queue.SimpleQueue[Event | int] = queue.SimpleQueue()
        self._notices: list[Notice] = []
        self._under_way: int | None = None
        self.client = EngineClient(self._events.put, engine_options)
        self.client.start()

    def on_interrupt(self, _signal: int, _frame: object) -> None:
        """Ctrl+C cancels the running request; pressed again, or with none running, it ends the program."""
        if self._under_way is None:
            raise KeyboardInterrupt
        self._events.put(self._under_way)
        self._under_way = None

    def load(self, command: LoadModel) -> None:
        """Load a model; raises EngineError, and KeyboardInterrupt if Ctrl+C stopped it."""
        self.client.send(command)
        for event in self._shown(command.request_id):
            if isinstance(event, LoadCancelled):
                raise KeyboardInterrupt
            if isinstance(event, ModelLoaded):
                self._tell_notices()
                return

    def ask(self, text: str, template: Generate) -> None:
        """Send a message, print the answer, and add both to the chat; raises EngineError. Ctrl+C cancels only it."""
        self.messages.append(Message("user", text))
        request_id = self.client.next_request_id()
        self.client.send(replace(template, request_id=request_id, messages=tuple(self.messages)))
        for event in self._shown(request_id):
            if isinstance(event, Finished):
                answer = Message("assistant", event.text, event.reasoning, event.token_ids or None)
                self.messages.append(answer)
                self._tell_notices()
                return

    def _shown(self, request_id: int) -> Iterator[Event]:
        """Events as they come, printed; raises EngineError when one says that the request failed."""
        self._under_way = request_id
        try:
            while True:
                event = self._events.get()
                if isinstance(event, int):
                    self.client.send(Cancel(event))
                    continue
                self._show(event)
                if isinstance(event, Failed) and event.request_id in (None, request_id):
                    raise EngineError(event.code, event.sentence, event.detail)
                if isinstance(event, EngineLost) and (
                    request_id in event.request_ids or event.outcome is LossOutcome.GAVE_UP
                ):
                    raise EngineError(event.code, event.sentence, event.log_tail)
                yield event
        finally:
            self._under_way = None

    def _tell_notices(self) -> None:
        """Print the notices, only after a request has succeeded: a failed one prints one sentence and nothing else."""
        for notice in self._notices:
            print(notice.message, file=sys.stderr)
        self._notices.clear()

    def _show(self, event: Event) -> None:
        if self._as_json:
            print(json_line(event.to_json()), flush=True)
        elif isinstance(event, TextGenerated) and event.kind is TextKind.ANSWER:
            print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            print(flush=True)
            print(_summary(event), file=sys.stderr)
        elif isinstance(event, Notice):
            self._notices.append(event)


def _summary(event: Finished) -> str:
    stats = event.stats
    first = f"first after {stats.ttft_ms:.0f} ms · " if stats.ttft_ms is not None else ""
    return (
        f"[{event.reason} · reused {stats.n_reused} of {stats.n_prompt}, fed {stats.n_fed} · "
        f"{stats.n_generated} tokens · {stats.prefill_tps:.0f} and {stats.decode_tps:.1f} tokens/s · "
        f"{first}evicted {stats.n_evicted} · seed {stats.seed}]"
    )
