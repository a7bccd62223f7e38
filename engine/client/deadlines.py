"""How long an engine process may take before something is wrong with it."""

from __future__ import annotations

from engine.api.messages import CountTokens, Generate, RestoreChat

START_TIMEOUT_S = 120.0
"""A process that is not ready by then never will be: a driver hangs. The first start of a GPU takes tens of seconds."""
PLAN_TIMEOUT_S = 120.0
"""The same for an answer of the planner, whose process may have to start for it; most come within a second."""
RENDER_TIMEOUT_S = 5.0
"""A chat template is untrusted code: a render that takes longer ends with its process."""
RENDER_CHARACTERS_PER_S = 50_000
"""What a slow machine makes tokens of; a chat of millions of characters takes its time with any template."""
CLOSE_TIMEOUT_S = 3.0
"""How long a process may take to end after Shutdown before it is killed, and after that before it is left alone."""


def render_timeout_s(request: Generate | RestoreChat | CountTokens | None) -> float:
    """Seconds that a chat may take to become tokens."""
    messages = request.messages if request is not None else ()
    n_characters = sum(len(message.text) + len(message.reasoning) for message in messages)
    return RENDER_TIMEOUT_S + n_characters / RENDER_CHARACTERS_PER_S
