"""Measurements of speed and quality on the person's own machine and text."""
