"""What `make` does: `run` opens the window, `lint` and `test` run the checks, `package` makes what people install."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from tools.machine import Machine
from tools.prerequisites import SetupError, require_qt_libraries
from tools.stamp import Wish, read_stamp, venv_python
from tools.translations import build, is_stale

ROOT = Path(__file__).resolve().parent.parent
USAGE = "usage: bootstrap.py run [arguments of the window] | test [arguments of pytest] | lint | package | licences"
INTERRUPTED = 130
LINT = {
    "ruff": ("-m", "ruff", "check", "--quiet"),
    "ruff format": ("-m", "ruff", "format", "--check", "--quiet"),
    "mypy": ("-m", "mypy"),
    "import-linter": ("-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"),
    "rooms": ("-m", "tools.rooms"),
}
# On all cores; a worker that has nothing left takes tests from another.
PYTEST = ("-m", "pytest", "--numprocesses", "logical", "--dist", "worksteal")


def main(arguments: Sequence[str]) -> int:
    """Carry out a command; the exit status. Nothing that is known to go wrong ends in a traceback."""
    if not arguments or arguments[0] not in {"run", "test", "lint", "package", "licences"}:
        print(USAGE, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _on_sigterm)
    machine = Machine()
    command, rest = arguments[0], arguments[1:]
    try:
        if command in {"package", "licences"}:
            from tools.package.build import make_packages, write_notices

            (make_packages if command == "package" else write_notices)(ROOT, machine)
            return 0
        wish = Wish.of(machine.environ, dev=command != "run")
        require_qt_libraries(machine, windowed=command == "run")
        stamp = read_stamp(ROOT)
        if stamp is None or not stamp.satisfies(wish, ROOT):
            from tools.environment import Environment

            Environment(ROOT, machine).set_up(wish)
        if is_stale():
            build()
        if command == "run":
            return _open_window(rest)
        return _carry_out(LINT if command == "lint" else {**LINT, "pytest": (*PYTEST, *rest)})
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The set-up can't go on: {error.strerror} ({error.filename}).", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; the next run goes on from here.", file=sys.stderr)
        return INTERRUPTED


def _on_sigterm(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)  # an exception, so that child processes are ended and half-made files removed


def _open_window(arguments: Sequence[str]) -> int:
    command = [str(venv_python(ROOT)), "-m", "app", *arguments]
    os.chdir(ROOT)
    if sys.platform != "win32":  # exec there would give the prompt back while the window is open
        sys.stdout.flush()
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


def _carry_out(checks: Mapping[str, Sequence[str]]) -> int:
    failed = []
    for name, arguments in checks.items():
        print(f"== {name}", flush=True)
        if subprocess.run([str(venv_python(ROOT)), *arguments], cwd=ROOT, check=False).returncode != 0:
            failed.append(name)
    if failed:
        print(f"Not in order: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0
