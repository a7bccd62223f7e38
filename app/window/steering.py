"""Sees and steers the cache: keeps both panels true, puts settings in force, and asks how to go on when it is full."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.cache.cells_section import excerpt
from app.cache.full_dialog import FullDialog
from app.cache.memory_sampler import MemorySampler
from app.cache.panel import CachePanel
from app.cache.way_pricer import WayPricer
from app.chats.chat_session import ChatSession
from app.composer.composer import Composer
from app.link.bridge import EngineBridge
from app.link.model_setups import ModelSetups
from app.link.opener import ModelOpener
from app.link.session import EngineSession
from app.link.status import EngineStatus
from app.link.what_if import Planner, WhatIf
from app.look.theme import Theme
from app.settings.command_line import server_command
from app.settings.setup_panel import SetupPanel
from app.store.setup import Setup
from app.transcript.transcript import Transcript
from app.widgets.notices import Level, Notices
from engine.api.errors import ErrorCode
from engine.api.messages import (
    CacheChanged,
    CacheUsage,
    EngineReady,
    Event,
    Failed,
    Finished,
    FinishReason,
    LoadCancelled,
    ModelFacts,
    ModelLoaded,
    Span,
)
from engine.api.plan import MemoryPlan
from engine.api.sentences import Sentence
from engine.api.settings import LoadSettings, Policy
from engine.plan.full_cache import Way, WayOn, ways_on


@dataclass(frozen=True)
class _Reload:
    """A load with other settings: what was in force, and what shall be; ``then`` is done once it is.

    ``has_chat``: the open chat is in the cache, and is to be there again.
    """

    path: str
    before: Setup
    after: Setup
    then: Callable[[], object] | None = None
    has_chat: bool = False


class Steering(QObject):
    """``make_planner`` is given the function that takes the planner's answers.

    A reload that fails or is cancelled brings the settings back that were in force. ``policy_changed`` tells that the
    open chat has another policy of its own now.
    """

    policy_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        session: EngineSession,
        setups: ModelSetups,
        make_planner: Callable[[Callable[[Event], None]], Planner],
        sampler: MemorySampler,
    ) -> None:
        super().__init__()
        self._theme = theme
        self._session = session
        self._setups, self._store = setups, setups.store
        self._sampler = sampler
        self._chat: ChatSession | None = None
        self._transcript: Transcript | None = None
        self._composer: Composer | None = None
        self._notices: Notices | None = None
        self._opener: ModelOpener | None = None
        self._go_on_with: Callable[[], object] | None = None
        self._path: str | None = None
        self._read_tps: float | None = None
        self._reload: _Reload | None = None
        self._dialog: FullDialog | None = None
        bridge, ids = EngineBridge(self), itertools.count(1)
        self._planner = make_planner(bridge.post)
        self._pricer = WayPricer(self._planner, bridge, ids, self)
        self.cache_panel = CachePanel(theme)
        self.settings_panel = SetupPanel(theme, WhatIf(self._planner, bridge, ids, self))
        self.settings_panel.presets_from(self._store.current.presets)
        self._connect()

    def _connect(self) -> None:
        session, panel = self._session, self.settings_panel
        session.event_received.connect(self._show_event)
        session.event_received.connect(self._on_event)
        session.status_changed.connect(self._on_status)
        session.load_failed.connect(lambda path, _failed: self._take_back_reload(path))
        self._sampler.sampled.connect(self.cache_panel.show_samples)
        self.cache_panel.looked_at.connect(self._sampler.set_active)
        self.cache_panel.span_pressed.connect(self._on_span_pressed)
        self.cache_panel.set_text_of(self._text_of)
        self._pricer.priced.connect(self._on_priced)
        panel.apply_requested.connect(self.apply)
        panel.command_wanted.connect(self._copy_command)
        panel.defaults_wanted.connect(self._find_defaults)
        self._setups.defaults_found.connect(self._on_defaults_found)
        panel.presets.saved.connect(lambda name: self._set_presets(name, panel.setup))
        panel.presets.removed.connect(lambda name: self._set_presets(name, None))

    def attach(
        self, chat: ChatSession, transcript: Transcript, composer: Composer, notices: Notices, opener: ModelOpener
    ) -> None:
        """The open chat, where it is shown and typed, where news is told, and what loads."""
        self._chat, self._transcript, self._composer, self._notices = chat, transcript, composer, notices
        self._opener = opener
        chat.opened.connect(lambda: self.cache_panel.show_chat(chat.open_chat.head.id))
        self.cache_panel.show_chat(chat.open_chat.head.id)

    def close(self) -> None:
        """End the planner's process and the sampling."""
        self._sampler.close()
        self._planner.close()

    # Settings

    def apply(self, setup: Setup) -> None:
        """Put a setup in force, with a reload where it needs one; the chat stays."""
        self._put_in_force(setup, None)

    def _put_in_force(self, setup: Setup, then: Callable[[], object] | None) -> None:
        path = self._session.status.model_path
        if path is None:
            return
        before = self._setups.setup(path)
        if before.needs_reload(setup) and self._opener is not None:
            self._opener.reload(path, setup.load, partial(self._reload_with, _Reload(path, before, setup, then)))
            return
        self._keep(path, setup)
        if then is not None:
            then()

    def _reload_with(self, reload: _Reload, load: LoadSettings) -> None:
        if self._session.status.model_path == reload.path:
            usage = self.cache_panel.facts.usage
            has_chat = usage is not None and self._chat is not None and usage.chat_id == self._chat.open_chat.head.id
            self._reload = replace(reload, after=replace(reload.after, load=load), has_chat=has_chat)
            self._session.load(reload.path, load)

    def _keep(self, path: str, setup: Setup) -> None:
        self._setups.keep(path, setup)
        self._show_setup(path)

    def _show_setup(self, path: str | None) -> None:
        self.settings_panel.show_model(path, self._setups.setup(path), self._setups.defaults(path))

    def _take_back_reload(self, path: str) -> None:
        """What was in force is loaded again, unless it was never unloaded; if that fails too, that is the end of it."""
        reload, self._reload = self._reload, None
        if reload is None or reload.path != path:
            return
        if self._session.status.facts is None:
            self._session.load(path, reload.before.load)
        self._show_setup(path)

    def _set_presets(self, name: str, setup: Setup | None) -> None:
        current = self._store.current
        self._store.set(current.with_preset(name, setup) if setup is not None else current.without_preset(name))
        self.settings_panel.presets_from(self._store.current.presets)

    def _copy_command(self) -> None:
        path = self._session.status.model_path
        if path is not None and self._notices is not None:
            command = server_command(path, self.settings_panel.setup, self._store.current.sampling)
            QGuiApplication.clipboard().setText(command)
            self._notices.tell(Level.INFO, self.tr("The llama-server command is in the clipboard."), command)

    def _find_defaults(self, path: str) -> None:
        # Those of a model that nobody has set are found when it is opened.
        if self._opener is not None and self._setups.is_own(path):
            self._opener.find_defaults(path)

    def _on_defaults_found(self, path: str) -> None:
        if path == self._path:
            self.settings_panel.show_defaults(self._setups.defaults(path))

    # What happens

    def _on_status(self, status: EngineStatus) -> None:
        if status.model_path != self._path:
            self._path = status.model_path
            self._read_tps = None
            if self._reload is not None and self._path is not None and self._path != self._reload.path:
                self._reload = None
            self._show_setup(self._path)
        self.settings_panel.show_facts(status.facts)

    def _show_event(self, event: Event) -> None:
        if isinstance(event, Finished) and self._is_reading(event.request_id):
            # Nobody asked for the token that it sampled.
            event = replace(event, stats=replace(event.stats, n_generated=0, decode_tps=0.0, ttft_ms=None))
        self.cache_panel.take(event)

    def _is_reading(self, request_id: int | None) -> bool:
        return self._chat is not None and self._chat.requests.is_reading(request_id)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, EngineReady):
            self._sampler.watch(event.devices, event.process_id)
            self.settings_panel.form.set_gpus(sum(device.kind in ("gpu", "igpu") for device in event.devices))
        elif isinstance(event, ModelLoaded):
            self._on_loaded(event.facts)
        elif isinstance(event, LoadCancelled):
            self._on_load_cancelled(event)
        elif isinstance(event, CacheChanged):
            self.settings_panel.show_costs(event.usage, self._read_tps)
        elif isinstance(event, Finished):
            self._read_tps = event.stats.read_tps or self._read_tps
            self.settings_panel.show_costs(self.cache_panel.facts.usage, self._read_tps)
            if event.reason is FinishReason.CACHE_FULL and self._is_of_open_chat(event) and self._chat is not None:
                self._ask_how_to_go_on(self._chat.continue_answer)
        elif isinstance(event, Failed) and self._is_of_open_chat(event):
            self._on_failed(event)

    def _is_of_open_chat(self, event: Finished | Failed) -> bool:
        """Whether an answer in the open chat ended, and not one that was left, or a reading."""
        # The chat hears of it after this: its request is still under way.
        return self._chat is not None and event.request_id == self._chat.conversation.request_id

    def _on_load_cancelled(self, event: LoadCancelled) -> None:
        # A load that gave way to a newer one was not cancelled by the person.
        if self._reload is not None and event.request_id == self._session.status.load_request:
            self._take_back_reload(self._reload.path)

    def _on_failed(self, event: Failed) -> None:
        # A message that is too long is back where it was typed.
        is_too_long = event.code is ErrorCode.PROMPT_TOO_LONG
        if is_too_long and self._composer is not None and self._policy() is Policy.STOP:
            self._ask_how_to_go_on(self._composer.send, is_too_long=True)

    def _on_loaded(self, facts: ModelFacts) -> None:
        self.settings_panel.show_costs(None, self._read_tps)
        reload, self._reload = self._reload, None
        if reload is None or reload.path != facts.path:
            if self._setups.setup(facts.path) != self.settings_panel.applied:
                # Somebody else had it loaded with other settings.
                self._show_setup(facts.path)
            return
        self._keep(reload.path, reload.after)
        if reload.then is not None:
            reload.then()
        elif reload.has_chat and self._chat is not None:
            self._chat.read_again()

    def _policy(self) -> Policy | None:
        """What holds for the open chat."""
        own = self._chat.settings.policy if self._chat is not None else None
        return (own or self._setups.setup(self._path).policy).policy

    # A full cache

    def _ask_how_to_go_on(self, go_on: Callable[[], object], *, is_too_long: bool = False) -> None:
        facts = self._facts_as_set()
        if facts is None or self._dialog is not None or self._chat is None:
            return
        self._go_on_with = partial(self._go_on_in, self._chat, self._chat.open_chat.head.id, go_on)
        window = self._notices.window() if self._notices is not None else None
        self._dialog = dialog = FullDialog(self._theme, window, is_too_long=is_too_long)
        dialog.way_chosen.connect(self._go_on)
        dialog.finished.connect(self._on_dialog_finished)
        self._show_ways(facts, {})
        self._pricer.price(facts)
        dialog.open()

    def _facts_as_set(self) -> ModelFacts | None:
        """The loaded model with what it is set to, from which a way on starts; the engine fitted that to the cells."""
        facts = self._session.status.facts
        return None if facts is None else replace(facts, settings=self._setups.setup(facts.path).load)

    def _show_ways(self, facts: ModelFacts, plans: dict[Way, MemoryPlan | Sentence]) -> None:
        if self._dialog is not None:
            usage: CacheUsage | None = self.cache_panel.facts.usage
            self._dialog.show_ways(ways_on(facts, usage, self._read_tps, plans), facts.n_ctx)

    def _on_priced(self, plans: dict[Way, MemoryPlan | Sentence]) -> None:
        facts = self._facts_as_set()
        if facts is not None:
            self._show_ways(facts, plans)

    def _on_dialog_finished(self) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
            self._dialog = None

    def _go_on(self, way: WayOn) -> None:
        setup = self._setups.setup(self._path)
        own = self._chat.settings.policy if self._chat is not None else None
        if way.policy is not None and own is not None and self._chat is not None:
            self._chat.set_settings(replace(self._chat.settings, policy=replace(own, policy=way.policy)))
            self.policy_changed.emit()
        elif way.policy is not None:
            setup = replace(setup, policy=replace(setup.policy, policy=way.policy))
        if way.load is not None:
            load = way.load
            setup = replace(
                setup,
                load=replace(
                    setup.load, n_ctx=load.n_ctx, type_k=load.type_k, type_v=load.type_v, flash_attn=load.flash_attn
                ),
            )
        self._put_in_force(setup, self._go_on_with)

    def _go_on_in(self, chat: ChatSession, chat_id: str, go_on: Callable[[], object]) -> None:
        """Unless another chat was opened while the model was loaded again."""
        if chat.open_chat.head.id == chat_id:
            go_on()

    # Cells and messages

    def _on_span_pressed(self, span: Span) -> None:
        if self._chat is not None and self._transcript is not None:
            turn_id = self._turn_id(span)
            if turn_id is not None:
                self._transcript.scroll_to_turn(turn_id)

    def _turn_id(self, span: Span) -> str | None:
        """The turn of a span; what belongs to no message, such as marks of the template, has none."""
        is_answer = span.message_index is None and span.role == "assistant"
        if self._chat is None or (span.message_index is None and not is_answer):
            return None
        return self._chat.turn_id_of(span.message_index)

    def _text_of(self, span: Span, index: int) -> str:
        """Words of the message near a token: where it stands among the message's tokens says about where they are."""
        usage = self.cache_panel.facts.usage
        if self._transcript is None or usage is None:
            return ""
        turn_id = self._turn_id(span)
        turn = next((turn for turn in self._transcript.turns if turn.id == turn_id), None)
        if turn_id is None or turn is None:
            return excerpt(self._store.current.system_prompt, 0.0) if span.role == "system" else ""
        parts = [one for one in usage.spans if one.message_index == span.message_index and one.role == span.role]
        start, end = min(one.start for one in parts), max(one.end for one in parts)
        return excerpt(turn.reasoning + turn.text, (index - start) / max(1, end - start))
