"""The client side of the engine: starts, supervises and restarts its processes."""
