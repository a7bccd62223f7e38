"""GGUF files: what a header says before anything is loaded."""
