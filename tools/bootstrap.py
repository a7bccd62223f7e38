"""Starts `make run` and `make test`, on whatever Python it is given.

This file holds to what any Python reads, so that one that is too old can still say so; the rest needs 3.11.
"""

import os
import subprocess
import sys

OLDEST = (3, 11)
NEWER_NAMES = ["python3.13", "python3.12", "python3.11", "python3.14"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHECK = "import sys; sys.exit(sys.version_info[:2] < %r)" % (OLDEST,)
TOO_OLD = (
    "Kvasir needs Python %d.%d or newer and this is %d.%d: install it with "
    "'sudo apt install python3.11 python3.11-venv' (Debian, Ubuntu), 'sudo dnf install python3.12' (Fedora), "
    "'brew install python@3.12' (macOS) or 'winget install Python.Python.3.12' (Windows); "
    "'make PYTHON=/path/to/python3 ...' names one that is not on the PATH.\n"
)


def newer_python():
    """The first Python on the PATH that is new enough, or None."""
    with open(os.devnull, "w") as nowhere:
        for name in NEWER_NAMES:
            try:
                if subprocess.call([name, "-c", CHECK], stdout=nowhere, stderr=nowhere) == 0:
                    return name
            except OSError:
                continue
    return None


def main():
    """Hand over to tools.commands on a new enough Python; the exit status."""
    if sys.version_info[:2] >= OLDEST:
        sys.path[0] = ROOT
        from tools.commands import main as carry_out

        return carry_out(sys.argv[1:])
    python = newer_python()
    if python is None:
        sys.stderr.write(TOO_OLD % (OLDEST + sys.version_info[:2]))
        return 1
    return subprocess.call([python, os.path.abspath(__file__)] + sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
