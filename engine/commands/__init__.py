"""The commands of the headless command line, one per module."""
