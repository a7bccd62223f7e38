"""The way in: reads the command line and opens the window."""

# The engine process imports this module again when it is spawned: nothing heavy may be imported up here.
from __future__ import annotations

import multiprocessing
import sys


def main() -> int:
    """Open the window; the exit code of the process."""
    multiprocessing.freeze_support()
    from engine.disk.streams import fill_closed_streams

    fill_closed_streams()
    from app.process.options import folders, parse

    options = parse(sys.argv[1:])
    if options.export is not None:
        from app.store.files import export_folder

        return export_folder(folders(options.data_dir).data, options.export)
    from app.run import run

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
