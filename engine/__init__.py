"""The headless engine: a llama.cpp process whose KV cache is planned, watched and steered."""
