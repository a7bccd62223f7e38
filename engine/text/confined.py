"""Runs untrusted chat templates in a worker process with limits on time and memory."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

import psutil

from engine.api.chat import Message, PromptNotice, Role
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.disk.parent import end_with_parent
from engine.text.layout import Layout
from engine.text.look import Look, look_nowhere
from engine.text.template import TemplateCode, TemplateTerms, template_failure
from engine.text.vocabulary import Vocabulary

CHARACTERS_PER_S = 200_000
MESSAGES_PER_S = 1_000
"""What a slow machine writes with any template; a long chat takes its time."""
MEMORY_BYTES = 512 << 20
"""What the process may take beside what it starts with: many times what a chat of millions of characters needs."""
START_TIMEOUT_S = 10.0
_PATIENCE = 6  # times as long as a template may compute it may take, on a machine that has other things to do
_LOOK_S = 0.02
_GRACE_S = 1.0  # after which the process ends itself, should nobody be left to end it

_Messages = list[tuple[Role, str, str]]
_Answer = tuple[Layout, tuple[PromptNotice, ...]] | EngineError | None


@dataclass(frozen=True)
class _Opening:
    """The template that a worker process must have compiled before it renders chats."""

    source: str
    terms: TemplateTerms


class TemplateProcess:
    """At most one worker process, started on demand and restarted after it was killed.

    ``timeout_s``: the CPU time after which compiling a template, or rendering a short chat, counts as endless.
    ``memory_bytes`` is also checked from outside, for systems without a memory limit per process.
    """

    def __init__(self, *, timeout_s: float, memory_bytes: int = MEMORY_BYTES) -> None:
        self.timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._is_ready = False
        self._opened: _Opening | None = None

    def start(self) -> None:
        """Start the process without waiting until it is ready. Raises OSError if it can't be started."""
        if self._process is not None:
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        try:
            process = context.Process(
                target=_serve, args=(theirs, self._memory_bytes), name="kvasir-template", daemon=True
            )
            process.start()
        except BaseException:
            self._pipe.close()
            raise
        finally:
            theirs.close()
        self._process = process

    def ask(self, opening: _Opening, messages: _Messages | None, seconds: float, look: Look) -> _Answer:
        """Render a chat with the template; None if it was only to be compiled.

        Raises EngineError if the process had to be killed; an exception of ``look`` ends the wait and the process.
        """
        try:
            self._get_ready(look)
            answer: _Answer = None
            if self._opened is not opening:
                self._opened = None
                answer = self._exchange(opening, seconds, look)
                if not isinstance(answer, EngineError):
                    self._opened = opening
            if messages is not None and self._opened is opening:
                answer = self._exchange(messages, seconds, look)
        except (EOFError, OSError) as error:
            self._start_again()
            raise template_failure(f"the process of the template ended: {error!r}") from error
        except BaseException:
            self._start_again()
            raise
        if isinstance(answer, EngineError) and self._use()[0] > self._memory_bytes // 2:
            # Memory that is still in use would reduce the limit of the next chat.
            self._start_again()
        return answer

    def _start_again(self) -> None:
        self.end()
        # Restart for the next chat; if that fails, the next chat reports the error.
        with contextlib.suppress(OSError):
            self.start()

    def end(self) -> None:
        """Kill the process, whatever it is doing."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = self._opened = None
        self._is_ready = False
        if process is not None and pipe is not None:
            process.kill()
            process.join()
            pipe.close()
            # Another waiter may have collected its exit code already.
            with contextlib.suppress(ValueError):
                process.close()

    def _get_ready(self, look: Look) -> None:
        self.start()
        if not self._is_ready:
            try:
                self._receive(START_TIMEOUT_S, look)
            except EngineError as error:
                raise template_failure("the process of the template does not get ready") from error
            self._is_ready = True

    def _exchange(self, request: _Opening | _Messages, seconds: float, look: Look) -> _Answer:
        assert self._pipe is not None
        self._pipe.send((seconds, request))
        return self._receive(seconds, look)

    def _receive(self, seconds: float, look: Look) -> _Answer:
        assert self._pipe is not None
        latest = time.monotonic() + _PATIENCE * seconds
        computed_s: float | None = None
        while not self._pipe.poll(_LOOK_S):
            look()
            n_bytes, now_s = self._use()
            computed_s = now_s if computed_s is None else computed_s
            if now_s - computed_s > seconds or time.monotonic() > latest:
                raise EngineError(
                    ErrorCode.TEMPLATE_TIMEOUT,
                    say(
                        "This model's chat template did not come to an end with this chat, so it was stopped: start a "
                        "new chat, or choose another model."
                    ),
                )
            if n_bytes > self._memory_bytes:
                raise template_failure(f"more than {self._memory_bytes} bytes of memory")
        answer: _Answer = self._pipe.recv()
        return answer

    def _use(self) -> tuple[int, float]:
        """Memory in bytes and CPU time in seconds used by the process."""
        assert self._process is not None
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self._process.pid)
            times = process.cpu_times()
            return process.memory_info().rss, times.user + times.system
        return 0, 0.0


class ConfinedTemplate:
    """A model's own template, run in a process of its own; see `engine.text.template.Template`."""

    stop_strings: tuple[str, ...] = ()
    notices: tuple[PromptNotice, ...] = ()

    def __init__(
        self, source: str, vocabulary: Vocabulary, process: TemplateProcess, look: Look = look_nowhere
    ) -> None:
        """`look` is called while the template is compiled and tried out."""
        self.source = source
        self._opening = _Opening(source, TemplateTerms.of(vocabulary, source))
        self.control = self._opening.terms.control
        self._process = process
        self._look = look

    def try_out(self) -> None:
        """Raises EngineError if the template can't be compiled, or renders no chat at all."""
        self._ask(None, self._process.timeout_s, self._look)

    def lay_out(
        self, messages: Sequence[Message], look: Look = look_nowhere
    ) -> tuple[Layout, tuple[PromptNotice, ...]]:
        """Render the chat, with notices of adaptations; raises EngineError for any failure of the template."""
        n_characters = sum(len(message.text) + len(message.reasoning) for message in messages)
        seconds = self._process.timeout_s + n_characters / CHARACTERS_PER_S + len(messages) / MESSAGES_PER_S
        plain = [(message.role, message.text, message.reasoning) for message in messages]
        laid_out = self._ask(plain, seconds, look)
        assert laid_out is not None, "only an opening is answered by nothing"
        return laid_out

    def _ask(
        self, messages: _Messages | None, seconds: float, look: Look
    ) -> tuple[Layout, tuple[PromptNotice, ...]] | None:
        answer = self._process.ask(self._opening, messages, seconds, look)
        if isinstance(answer, EngineError):
            raise answer
        return answer


# In the process


def _serve(pipe: Connection, memory_bytes: int) -> None:
    """Answer requests until the engine process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    _limit_memory(memory_bytes)
    code: TemplateCode | None = None
    with contextlib.suppress(EOFError, OSError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        pipe.send(None)
        while True:
            seconds, request = pipe.recv()
            # Native code, so it works even if the template never releases the GIL to the parent-watching thread.
            faulthandler.dump_traceback_later(_PATIENCE * seconds + _GRACE_S, exit=True, file=nowhere)
            answer: _Answer = None
            try:
                if isinstance(request, _Opening):
                    code = TemplateCode(request.source, request.terms)
                    code.try_out()
                elif code is not None:
                    answer = code.lay_out([Message(*fields) for fields in request])
            except EngineError as error:
                answer = error
            except Exception as error:  # noqa: BLE001 - a template's output can make the layout fail, too
                answer = template_failure(f"{type(error).__name__}: {error}")
            faulthandler.cancel_dump_traceback_later()
            pipe.send(answer)


def _limit_memory(n_bytes: int) -> None:
    """Set the system's memory limit where it is supported; elsewhere the engine process checks the use."""
    if sys.platform == "linux":
        import resource

        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            n_now = int(file.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = n_now + n_bytes
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
