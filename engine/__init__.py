"""The headless engine: a llama.cpp process whose KV cache is planned, watched and steered."""

# The version of all of Kvasir, and the only place that says it.
__version__ = "0.1.0"
