"""Applies the sampling panel to the open chat, and makes its values the first ones of new chats."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from app.chats.chat_saver import ChatSaver
from app.chats.chat_session import ChatSession
from app.settings.sampling_panel import SamplingPanel
from app.store.preferences_store import PreferencesStore
from engine.api.settings import PolicySettings, SamplingSettings


class SamplingController(QObject):
    """``panel`` shows the settings of the open chat; ``saver`` has the system prompts with names."""

    def __init__(self, panel: SamplingPanel, chat: ChatSession, saver: ChatSaver, store: PreferencesStore) -> None:
        super().__init__(panel)
        self._panel, self._chat, self._store = panel, chat, store
        panel.prompts.set_source(saver.presets)
        panel.prompt_kept.connect(saver.save_preset)
        panel.prompts.removed.connect(saver.delete_preset)
        panel.policy_edited.connect(self._set_policy)
        panel.sampling_edited.connect(self._set_sampling)
        panel.system_prompt_edited.connect(self._set_system_prompt)

    def show(self) -> None:
        """Show what holds for the open chat."""
        settings = self._chat.settings
        self._panel.show_settings(settings.system_prompt, settings.sampling, settings.policy)

    def flush(self) -> None:
        """Take over what was typed a moment ago."""
        self._panel.flush()

    def _set_policy(self, policy: PolicySettings | None) -> None:
        self._chat.set_settings(replace(self._chat.settings, policy=policy))

    def _set_sampling(self, sampling: SamplingSettings) -> None:
        self._chat.set_settings(replace(self._chat.settings, sampling=sampling))
        self._store.update(sampling=sampling)

    def _set_system_prompt(self, text: str) -> None:
        self._chat.set_settings(replace(self._chat.settings, system_prompt=text))
        self._store.update(system_prompt=text)
