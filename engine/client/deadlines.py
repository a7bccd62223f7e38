"""Timeouts after which an engine process counts as hung."""

from __future__ import annotations

START_TIMEOUT_S = 120.0
"""A process that is not ready by then never will be: a driver hangs. The first start of a GPU takes tens of seconds."""
PLAN_TIMEOUT_S = 120.0
"""The same for an answer of the planner, whose process may have to start for it; most come within a second."""
CLOSE_TIMEOUT_S = 3.0
"""How long a process may take to end after Shutdown before it is killed, and after that before it is left alone."""
