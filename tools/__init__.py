"""How a clone becomes a running program: what `make run` and `make test` do."""
