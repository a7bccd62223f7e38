"""The headless command line: one module a command."""
