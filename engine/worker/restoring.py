"""A chat that is opened: what is kept of it is brought into the context, and nothing is evaluated."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.api.messages import CacheChanged, ChatRestored, Event, RestoreChat
from engine.api.settings import checked
from engine.text.look import Interrupted, looking

if TYPE_CHECKING:
    from engine.worker.loaded_model import LoadedModel


def restore(
    loaded: LoadedModel, command: RestoreChat, emit: Callable[[Event], None], is_cancelled: Callable[[], bool]
) -> None:
    """Have in the context what is kept of a chat; raises EngineError."""
    look = looking(is_cancelled)
    with contextlib.suppress(Interrupted):
        look()
        prompt = loaded.prompt(command.messages, continue_last=command.continue_last, look=look)
        if loaded.active.open(command.chat_id, prompt, checked(command.policy), is_cancelled):
            # No prompt has reused any of it yet.
            emit(CacheChanged(loaded.usage(command.chat_id, n_reused=0)))
    emit(ChatRestored(command.request_id))
