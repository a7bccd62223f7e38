"""Choosing a model: the picker, opening files, and what the engine says about itself."""
