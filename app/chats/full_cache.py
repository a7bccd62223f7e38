"""Asks how an answer, or a message, goes on that has no room in the cache, and has it go on so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.cache.facts import CacheFacts
from app.cache.full_dialog import FullDialog
from app.cache.option_pricer import OptionPricer
from app.chats.chat_session import ChatSession
from app.composer.composer import Composer
from app.link.model_loader import ModelLoader
from engine.api.messages import ModelFacts
from engine.api.plan import MemoryPlan
from engine.api.sentences import Sentence
from engine.api.settings import Policy
from engine.plan.full_cache import FullCacheOption, PricedOption, priced_options


class FullCache(QObject):
    """``facts`` gives the latest state of the cache; ``make_dialog(is_too_long=…)`` makes the dialog.

    ``policy_changed`` tells that the open chat has another policy of its own now. What is chosen for one chat does
    nothing in another.
    """

    policy_changed = Signal()

    def __init__(
        self,
        chat: ChatSession,
        composer: Composer,
        loader: ModelLoader,
        pricer: OptionPricer,
        facts: Callable[[], CacheFacts],
        make_dialog: Callable[..., FullDialog],
    ) -> None:
        super().__init__(chat)
        self._chat, self._composer = chat, composer
        self._loader, self._pricer = loader, pricer
        self._facts, self._make_dialog = facts, make_dialog
        self._dialog: FullDialog | None = None
        self._go_on_with: Callable[[], object] | None = None
        pricer.priced.connect(self._show_options)
        chat.had_no_room.connect(self._on_no_room)

    def _on_no_room(self, is_too_long: bool) -> None:
        if not is_too_long:
            self._ask(self._chat.continue_answer, is_too_long=False)
        elif self._chat.policy.policy is Policy.STOP:
            # The message is back where it was typed.
            self._ask(self._composer.send, is_too_long=True)

    def _ask(self, go_on: Callable[[], object], *, is_too_long: bool) -> None:
        model = self._model_as_set()
        if model is None or self._dialog is not None:
            return
        self._go_on_with = partial(self._go_on_in, self._chat.open_chat.head.id, go_on)
        self._dialog = dialog = self._make_dialog(is_too_long=is_too_long)
        dialog.option_chosen.connect(self._go_on)
        dialog.finished.connect(self._on_finished)
        self._show_options({})
        self._pricer.price(model)
        dialog.open()

    def _model_as_set(self) -> ModelFacts | None:
        """The loaded model with what it is set to, that each option changes; the engine fitted that to the cells."""
        model = self._facts().model
        return None if model is None else replace(model, settings=self._loader.setups.setup(model.path).load)

    def _show_options(self, plans: dict[FullCacheOption, MemoryPlan | Sentence]) -> None:
        model, facts = self._model_as_set(), self._facts()
        if self._dialog is not None and model is not None:
            self._dialog.show_options(priced_options(model, facts.usage, facts.read_tps, plans), model.n_ctx)

    def _on_finished(self) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
            self._dialog = None

    def _go_on(self, option: PricedOption) -> None:
        model = self._model_as_set()
        if model is None:
            return
        setup, own = self._loader.setups.setup(model.path), self._chat.settings.policy
        if option.policy is not None and own is not None:
            self._chat.set_settings(replace(self._chat.settings, policy=replace(own, policy=option.policy)))
            self.policy_changed.emit()
        elif option.policy is not None:
            setup = replace(setup, policy=replace(setup.policy, policy=option.policy))
        if option.load is not None:
            names = ("n_ctx", "type_k", "type_v", "flash_attn")
            setup = replace(setup, load=replace(setup.load, **{name: getattr(option.load, name) for name in names}))
        self._loader.apply(setup, self._go_on_with)

    def _go_on_in(self, chat_id: str, go_on: Callable[[], object]) -> None:
        """Unless another chat was opened while the model was loaded again."""
        if self._chat.open_chat.head.id == chat_id:
            go_on()
