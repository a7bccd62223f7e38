"""What a load would take before it is made: what is refused, what fits, and what can be done when the cache is full."""
