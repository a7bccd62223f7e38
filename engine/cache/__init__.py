"""What is in the KV cache, what it costs, and what leaves it when it is full."""
