"""The KV cache manager: prefix reuse, eviction, renumbering, checkpoints."""
