"""The engine's own process: it answers commands with one loaded model."""
