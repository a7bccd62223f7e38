"""Every action of the window: declared here, shown in menus and in the palette."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.look.theme import Theme

MENU = (
    ("show_palette",),
    ("attach_files", "regenerate", "continue_answer", "edit_last", "copy_last", "copy_chat"),
    ("rename_chat", "pin_chat", "export_chat", "delete_chat"),
    ("choose_model", "open_model", "show_models", "find_models", "unload_model", "show_engine"),
    ("show_cache", "show_settings", "show_sampling", "move_panel", "float_panel"),
    ("next_theme", "show_preferences", "show_about", "full_screen", "quit"),
)
"""The window's menu: names of actions, a line between each two groups."""

SIDEBAR_MENU = (("search_chats", "import_chats", "export_chats"), ("finish_when_left",))
"""The menu of the list of chats."""


class Declared(NamedTuple):
    """An action: ``keys`` have spaces between them, the first is shown; ``icon`` may be empty. The words are those of
    the language in force."""

    name: str
    keys: str
    icon: str
    text: str
    tip: str


class Actions(QObject):
    """All actions by name, in the order in which the palette lists them."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        self._conditions: dict[str, Callable[[], bool]] = {}
        for declared in self._declared():
            action = QAction(window)
            action.setObjectName(declared.name)
            action.setShortcuts([QKeySequence(key) for key in declared.keys.split()])
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            if declared.icon:
                action.setIcon(theme.icon(declared.icon))
            self._actions[declared.name] = action
            window.addAction(action)
        self._actions["quit"].setMenuRole(QAction.MenuRole.QuitRole)
        self._actions["show_preferences"].setMenuRole(QAction.MenuRole.PreferencesRole)
        window.installEventFilter(self)
        self.retranslate()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def all(self) -> tuple[QAction, ...]:
        """In the order in which the palette lists them."""
        return tuple(self._actions.values())

    def bind(self, does: Mapping[str, Callable[[], object]], conditions: Mapping[str, Callable[[], bool]]) -> None:
        """What each action does, and when those are enabled that are not always."""
        for name, do in does.items():
            self._actions[name].triggered.connect(lambda _is_checked=False, do=do: do())
        self._conditions.update(conditions)
        self.refresh()

    def refresh(self) -> None:
        """Enable what can be done now."""
        for name, is_possible in self._conditions.items():
            self._actions[name].setEnabled(is_possible())

    def fill(self, menu: QMenu, groups: Iterable[Iterable[str]]) -> None:
        """Put actions into a menu, with a line after each group but the last."""
        for group in groups:
            if not menu.isEmpty():
                menu.addSeparator()
            menu.addActions([self._actions[name] for name in group])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the language of the window."""
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        return super().eventFilter(watched, event)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        for declared in self._declared():
            action = self._actions[declared.name]
            action.setText(declared.text)
            key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(f"{declared.tip} ({key})")
            action.setStatusTip(declared.tip)

    def _declared(self) -> tuple[Declared, ...]:
        # fmt: off
        return (
            Declared("new_chat", "Ctrl+N", "new-chat", self.tr("New chat"),
                self.tr("Start with an empty chat; this one stays in the list")),
            Declared("attach_files", "Ctrl+Shift+A", "attach", self.tr("Attach files…"),
                self.tr("Put the text of files into the message; their tokens are counted before it is sent")),
            Declared("send", "Ctrl+Return", "send", self.tr("Send"),
                self.tr("Send what is typed; only its own tokens are read")),
            Declared("stop", "Esc", "stop", self.tr("Stop"), self.tr("Stop the answer; its text stays")),
            Declared("regenerate", "Ctrl+R", "regenerate", self.tr("Answer again"),
                self.tr("Another version of the last answer; the prompt stays in the cache, so it starts at once")),
            Declared("continue_answer", "Ctrl+E", "continue", self.tr("Continue the answer"),
                self.tr("Let the last answer go on where it ended; nothing is read again")),
            Declared("edit_last", "Ctrl+Up", "edit", self.tr("Edit your last message"),
                self.tr("Put your last message back into the composer; what follows the change is read again")),
            Declared("copy_last", "Ctrl+Shift+C", "copy", self.tr("Copy the last answer"),
                self.tr("Copy the last answer as Markdown")),
            Declared("copy_chat", "Ctrl+Alt+C", "copy", self.tr("Copy the whole chat"),
                self.tr("Copy all messages as Markdown")),
            Declared("focus_composer", "Ctrl+L", "", self.tr("Go to the composer"),
                self.tr("Move the keyboard to the composer")),
            Declared("focus_transcript", "Ctrl+T", "", self.tr("Go to the messages"),
                self.tr("Move the keyboard to the messages")),
            Declared("jump_to_end", "Ctrl+End", "arrow-down", self.tr("Jump to the end"),
                self.tr("Show the newest message and follow it")),
            Declared("toggle_sidebar", "Ctrl+B", "panel-left", self.tr("Show or hide the chats"),
                self.tr("Show or hide the list of chats")),
            Declared("search_chats", "Ctrl+F Ctrl+Shift+F", "search", self.tr("Search in all chats"),
                self.tr("Find words in titles, messages and files")),
            Declared("previous_chat", "Ctrl+PgUp", "", self.tr("Chat above"),
                self.tr("Open the chat above this one in the list")),
            Declared("next_chat", "Ctrl+PgDown", "", self.tr("Chat below"),
                self.tr("Open the chat below this one in the list")),
            Declared("rename_chat", "Ctrl+Shift+R", "edit", self.tr("Rename this chat"),
                self.tr("Type another title for this chat")),
            Declared("pin_chat", "Ctrl+Shift+B", "pin", self.tr("Pin or unpin this chat"),
                self.tr("Keep this chat at the top of the list, or not")),
            Declared("delete_chat", "Ctrl+Shift+Backspace", "trash", self.tr("Delete this chat"),
                self.tr("Delete this chat; it can be undone for a while")),
            Declared("export_chat", "Ctrl+S", "save", self.tr("Export this chat…"),
                self.tr("Write this chat to a Markdown or JSON file")),
            Declared("export_chats", "Ctrl+Shift+S", "save", self.tr("Export all chats…"),
                self.tr("Write all chats to one file, losing nothing")),
            Declared("import_chats", "Ctrl+Shift+I", "download", self.tr("Import chats…"),
                self.tr("Read chats exported from Kvasir, ChatGPT or llama.cpp's web page")),
            Declared("finish_when_left", "Ctrl+Alt+F", "", self.tr("Finish an answer when another chat is opened"),
                self.tr("On: the answer goes on being written. Off: it is stopped, and its text stays")),
            Declared("choose_model", "Ctrl+M", "memory", self.tr("Choose a model…"),
                self.tr("Show the starter and the recent models")),
            Declared("open_model", "Ctrl+O", "folder", self.tr("Open a model file…"),
                self.tr("Load a GGUF file in place of the model; the chat is read again by the new one")),
            Declared("show_models", "Ctrl+Shift+M", "memory", self.tr("Models on this computer…"),
                self.tr("Show all models that are here, and which fit")),
            Declared("find_models", "Ctrl+Shift+D", "download", self.tr("Find and download models…"),
                self.tr("Search the model hub; what fits is known before anything is downloaded")),
            Declared("cancel_load", "Ctrl+Shift+O", "close", self.tr("Cancel loading"),
                self.tr("Give up loading the model")),
            Declared("unload_model", "Ctrl+Shift+U", "", self.tr("Unload the model"),
                self.tr("Give all of the model's memory back")),
            Declared("show_engine", "Ctrl+I", "info", self.tr("About the engine…"),
                self.tr("Show versions, back ends, devices and the log")),
            Declared("toggle_panel", "F9", "panel-right", self.tr("Show or hide the panel"),
                self.tr("Show or hide the panel at the side")),
            Declared("show_cache", "Ctrl+1", "memory", self.tr("Show the cache"),
                self.tr("Show what the KV cache holds")),
            Declared("show_settings", "Ctrl+2", "settings", self.tr("Model and cache settings"),
                self.tr("Show what the model is loaded with, and what other settings would take")),
            Declared("show_sampling", "Ctrl+3", "thinking", self.tr("Sampling and system prompt"),
                self.tr("Show how the next answer is sampled")),
            Declared("float_panel", "Ctrl+Shift+F9", "", self.tr("Detach or attach the panel"),
                self.tr("Give the panel a window of its own")),
            Declared("move_panel", "Shift+F9", "", self.tr("Move the panel to the other side"),
                self.tr("Move the panel left or right")),
            Declared("close_notices", "Ctrl+Shift+X", "close", self.tr("Close all notices"),
                self.tr("Close all notices")),
            Declared("show_preferences", "Ctrl+,", "settings", self.tr("Preferences…"),
                self.tr("Theme, text size, accent colour and language")),
            Declared("show_about", "Ctrl+Shift+F1", "", self.tr("About Kvasir…"),
                self.tr("Show the version and all licences")),
            Declared("next_theme", "Ctrl+Shift+L", "", self.tr("Next theme"),
                self.tr("Go from system to light to dark")),
            Declared("larger_text", "Ctrl+= Ctrl++", "", self.tr("Larger text"), self.tr("Make all text larger")),
            Declared("smaller_text", "Ctrl+-", "", self.tr("Smaller text"), self.tr("Make all text smaller")),
            Declared("normal_text", "Ctrl+0", "", self.tr("Normal text size"),
                self.tr("Take text back to its normal size")),
            Declared("next_language", "Ctrl+Shift+G", "", self.tr("Next language"),
                self.tr("Switch between English and Chinese")),
            Declared("full_screen", "F11", "", self.tr("Full screen"),
                self.tr("Fill the screen, or go back to a window")),
            Declared("show_palette", "Ctrl+K Ctrl+Shift+P", "command", self.tr("All commands…"),
                self.tr("Find a command by typing part of its name")),
            Declared("quit", "Ctrl+Q", "", self.tr("Quit"), self.tr("Close Kvasir; an answer under way is stopped")),
        )
        # fmt: on
