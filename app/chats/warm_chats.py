"""Where the caches of chats are kept: shown in the list of chats, and settled by the person."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QObject

from app.chats.chat_list import Badge
from app.chats.sidebar import Sidebar
from app.link.session import EngineSession
from app.look import language
from app.settings.preferences_dialog import PreferencesDialog
from app.store.preferences_store import PreferencesStore
from engine.api.messages import ChatTier, ChatTiersChanged, EngineLost, Event, ModelUnloaded, Tier
from engine.api.settings import TierSettings

_COLORS = {Tier.ACTIVE: "success", Tier.RAM: "accent", Tier.DISK: "text_3"}


class WarmChats(QObject):
    """Takes what the engine says of its tiers to the sidebar, and what the person says of them to the engine."""

    def __init__(self, session: EngineSession, sidebar: Sidebar, store: PreferencesStore) -> None:
        super().__init__()
        self._session = session
        self._sidebar = sidebar
        self._store = store
        self._tiers: tuple[ChatTier, ...] = ()
        session.event_received.connect(self._on_event)
        sidebar.retranslated.connect(self._show)

    def attach(self, dialog: PreferencesDialog) -> None:
        """Have a dialog show and change the budgets."""
        dialog.budgets.set_settings(self._store.current.tiers)
        dialog.budgets.edited.connect(self._on_budgets_edited)
        dialog.forget_all_requested.connect(self._session.forget_all_chats)

    def _on_budgets_edited(self, budgets: TierSettings) -> None:
        self._store.update(tiers=budgets)
        self._session.set_tier_budgets(budgets)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ChatTiersChanged):
            self._tiers = event.tiers
        elif isinstance(event, EngineLost | ModelUnloaded):
            # The next process begins with none, and says nothing of that.
            self._tiers = ()
        else:
            return
        self._show()

    def _show(self) -> None:
        self._sidebar.model.set_badges({one.chat_id: badge_of(one) for one in self._tiers})


def badge_of(chat: ChatTier) -> Badge:
    """How the list of chats says where a chat is."""
    translate = QCoreApplication.translate
    size = language.bytes_text(chat.n_bytes)
    word, meaning = {
        Tier.ACTIVE: (
            translate("WarmChats", "active"),
            translate("WarmChats", "In the model's cache ({0})"),
        ),
        Tier.RAM: (
            translate("WarmChats", "RAM"),
            translate("WarmChats", "Its cache is kept in RAM ({0}): nothing is read again when it goes on"),
        ),
        Tier.DISK: (
            translate("WarmChats", "disk"),
            translate("WarmChats", "Its cache is kept on disk ({0}): little time is lost when it goes on"),
        ),
    }[chat.tier]
    return Badge(word, _short(chat.n_bytes), meaning.format(size), _COLORS[chat.tier], chat.tier is Tier.DISK)


def _short(n_bytes: int) -> str:
    """An amount for a narrow place: below a GiB nobody needs the tenths."""
    return language.bytes_text(n_bytes, 1 if n_bytes >= 1 << 30 else 0)
