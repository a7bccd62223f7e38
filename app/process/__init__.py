"""The window's process: its command line, its logs, and how it ends."""
