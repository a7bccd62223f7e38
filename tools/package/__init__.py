"""Makes what people install: a program that needs no Python, in each system's own package."""
