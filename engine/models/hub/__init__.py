"""The model hub: searching it, reading headers there, and downloading from it."""
