"""Tests of the set-up: what `make run` and `make test` do before anything of Kvasir runs."""
