"""The start on whatever Python there is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.build.conftest import Computer

ROOT = Path(__file__).parents[2]
BOOTSTRAP = ROOT / "tools" / "bootstrap.py"
PRETEND_TO_BE_OLD = (
    "import runpy, sys\n"
    "sys.version_info = (3, 8, 10, 'final', 0)\n"
    f"sys.argv = [{str(BOOTSTRAP)!r}, 'run', '--model', 'a b']\n"
    f"runpy.run_path({str(BOOTSTRAP)!r}, run_name='__main__')\n"
)


def start_on_old_python(computer: Computer) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PRETEND_TO_BE_OLD],
        env=computer.environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_old_python_says_what_is_needed(computer: Computer) -> None:
    done = start_on_old_python(computer)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Kvasir needs Python 3.11 or newer and this is 3.8: ")
    assert len(done.stderr.splitlines()) == 1
    assert all(system in done.stderr for system in ("Debian", "Fedora", "macOS", "Windows"))


def test_a_newer_python_beside_it_takes_over(computer: Computer) -> None:
    computer.add_program("python3.13", "exit 127")  # as a version manager's placeholder does
    computer.add_program("python3.12", '[ "$1" = -c ] && exit 0; printf "%s|" "$@"; exit 7')
    done = start_on_old_python(computer)
    assert done.returncode == 7
    assert done.stdout == f"{BOOTSTRAP}|run|--model|a b|"
    assert done.stderr == ""


def test_it_is_written_for_any_python() -> None:
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Starred, ast.AsyncFunctionDef, ast.Match)
    tree = ast.parse(BOOTSTRAP.read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert not [function.name for function in functions if function.returns]


def test_an_unknown_command_is_explained() -> None:
    done = subprocess.run([sys.executable, BOOTSTRAP, "dance"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage:")
