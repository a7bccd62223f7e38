"""The loader is tested with everything that it works with, except for llama.cpp."""

from __future__ import annotations

from tests.app.models.conftest import make_room, room

__all__ = ["make_room", "room"]
