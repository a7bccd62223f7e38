"""Fixtures of the engine's tests."""

from tests.tiny_fixtures import tiny_model

__all__ = ["tiny_model"]
