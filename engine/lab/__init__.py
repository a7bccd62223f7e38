"""Measurements on the person's own machine and text."""
