"""The engine process, which executes commands with one loaded model."""
