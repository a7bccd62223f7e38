"""The way in: reads the command line and opens the window."""

# The engine process imports this module again when it is spawned: nothing heavy may be imported up here.
from __future__ import annotations

import multiprocessing
import signal
import sys


def main() -> int:
    """Open the window, or have the one that is open on the data folder do what was asked for; the exit code."""
    multiprocessing.freeze_support()
    from engine.disk.streams import fill_closed_streams

    fill_closed_streams()
    from app.process.options import folders, parse

    options = parse(sys.argv[1:])
    data = folders(options.data_dir).data
    if options.export is not None:
        from app.store.files import export_folder

        return export_folder(data, options.export)
    from app.process.one_window import Answer, claim_or_hand_over

    try:
        # Before Qt is imported, for which most starts after the first would wait in vain.
        first = claim_or_hand_over(data, options.request())
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    if isinstance(first, Answer):
        from app.process import terminal

        if first.sentence:
            terminal.say(f"kvasir: {first.sentence}")
        return first.code
    from app.run import run

    return run(options, first)


if __name__ == "__main__":
    sys.exit(main())
