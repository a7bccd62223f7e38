"""The one program that is installed under two names: `kvasir` is the window, `kvasir-engine` the engine without it."""

import multiprocessing
import sys
from pathlib import Path


def main() -> int:
    """Run what the program's name says; the exit status."""
    # The engine's process is this same program, started again with arguments that only this call understands.
    multiprocessing.freeze_support()
    if Path(sys.argv[0]).stem == "kvasir-engine":
        from engine.__main__ import main as run
    else:
        from app.__main__ import main as run
    return run()


if __name__ == "__main__":
    sys.exit(main())
