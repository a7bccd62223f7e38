"""Fixtures of the engine's tests."""

from tests.engine.client.client_desk import desk
from tests.tiny_fixtures import tiny_model

__all__ = ["desk", "tiny_model"]
