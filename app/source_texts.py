"""The engine's words that the window translates; written by `python tools/translations.py update`."""

from __future__ import annotations

ENGINE_SENTENCES: tuple[str, ...] = ()
