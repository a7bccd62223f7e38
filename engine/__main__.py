"""The headless command line, ``python -m engine``: inspect, plan, chat and measure without a window."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from engine import __version__
from engine.api.errors import EngineError, ErrorCode
from engine.api.sentences import say
from engine.disk.streams import fill_closed_streams

COMMANDS = {
    "inspect": "what a model's header says, and what its cache costs",
    "plan": "exact bytes before the load",
    "chat": "one user turn for each line of input",
    "perplexity": "how well a model predicts a text under a cache policy",
    "bench": "speeds beside the bare llama.cpp loop",
    "rpc-worker": "lend this machine's CPU to another Kvasir",
}


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a bad option as an EngineError, like every other error."""

    def error(self, message: str) -> NoReturn:
        """Raise EngineError(SETTING_INVALID)."""
        raise EngineError(ErrorCode.SETTING_INVALID, say("{0}: {1}; --help shows what there is.", self.prog, message))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0, or 1 with one sentence on standard error."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Answers can be in any language, so output is UTF-8 whatever encoding the terminal declares.
            stream.reconfigure(encoding="utf-8", errors="replace")
    parser = Parser(prog="kvasir-engine", description=__doc__)
    parser.add_argument("--version", action="version", version=f"Kvasir {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((argument for argument in arguments if argument in COMMANDS), None)
    for name, words in COMMANDS.items():
        command = commands.add_parser(name, help=words, description=words)
        if name == wanted:
            # Only the command that runs is imported: llama.cpp is not loaded to print a help page.
            module = importlib.import_module(f"engine.commands.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    try:
        args = parser.parse_args(arguments)
        code = int(args.run(args))
        if sys.stdout is not None:
            # Flush here, where a full disk can still be reported.
            sys.stdout.flush()
        return code
    except EngineError as error:
        # The text can quote file names and templates: keep it on one line and free of terminal control sequences.
        print("".join(c if c.isprintable() else " " for c in error.message), file=sys.stderr)
        if os.environ.get("KVASIR_DEBUG"):
            print(error.detail, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output closed the pipe.
        _silence_output()
        return 1
    except OSError as error:
        _silence_output()
        where = error.filename or say("the output")
        print(
            say("Reading or writing {0} failed: {1}. Check the disk.", where, error.strerror or str(error)),
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130


def _silence_output() -> None:
    """Redirect standard output to the null device, so that the flush at exit doesn't fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
