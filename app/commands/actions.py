"""Every action of the window with its key: made here, shown in menus and in the palette."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.look.theme import Theme

KEYS = {
    "new_chat": ("Ctrl+N",),
    "attach_files": ("Ctrl+Shift+A",),
    "send": ("Ctrl+Return",),
    "stop": ("Esc",),
    "regenerate": ("Ctrl+R",),
    "continue_answer": ("Ctrl+E",),
    "edit_last": ("Ctrl+Up",),
    "copy_last": ("Ctrl+Shift+C",),
    "copy_chat": ("Ctrl+Alt+C",),
    "focus_composer": ("Ctrl+L",),
    "focus_transcript": ("Ctrl+T",),
    "jump_to_end": ("Ctrl+End",),
    "toggle_sidebar": ("Ctrl+B",),
    "search_chats": ("Ctrl+F", "Ctrl+Shift+F"),
    "previous_chat": ("Ctrl+PgUp",),
    "next_chat": ("Ctrl+PgDown",),
    "rename_chat": ("Ctrl+Shift+R",),
    "pin_chat": ("Ctrl+Shift+B",),
    "delete_chat": ("Ctrl+Shift+Backspace",),
    "export_chat": ("Ctrl+S",),
    "export_chats": ("Ctrl+Shift+S",),
    "import_chats": ("Ctrl+Shift+I",),
    "finish_when_left": ("Ctrl+Alt+F",),
    "choose_model": ("Ctrl+M",),
    "open_model": ("Ctrl+O",),
    "show_models": ("Ctrl+Shift+M",),
    "find_models": ("Ctrl+Shift+D",),
    "cancel_load": ("Ctrl+Shift+O",),
    "unload_model": ("Ctrl+Shift+U",),
    "show_engine": ("Ctrl+I",),
    "toggle_panel": ("F9",),
    "show_cache": ("Ctrl+1",),
    "show_settings": ("Ctrl+2",),
    "show_sampling": ("Ctrl+3",),
    "float_panel": ("Ctrl+Shift+F9",),
    "move_panel": ("Shift+F9",),
    "close_notices": ("Ctrl+Shift+X",),
    "show_preferences": ("Ctrl+,",),
    "show_about": ("Ctrl+Shift+F1",),
    "next_theme": ("Ctrl+Shift+L",),
    "larger_text": ("Ctrl+=", "Ctrl++"),
    "smaller_text": ("Ctrl+-",),
    "normal_text": ("Ctrl+0",),
    "next_language": ("Ctrl+Shift+G",),
    "full_screen": ("F11",),
    "show_palette": ("Ctrl+K", "Ctrl+Shift+P"),
    "quit": ("Ctrl+Q",),
}
"""The keys of each action, the first one shown; none belongs to two."""

MENU = (
    ("show_palette",),
    ("attach_files", "regenerate", "continue_answer", "edit_last", "copy_last", "copy_chat"),
    ("rename_chat", "pin_chat", "export_chat", "delete_chat"),
    ("choose_model", "open_model", "show_models", "find_models", "unload_model", "show_engine"),
    ("show_cache", "show_settings", "show_sampling", "move_panel", "float_panel"),
    ("next_theme", "show_preferences", "show_about", "full_screen", "quit"),
)
"""The window's menu: names of actions, a line between each two groups."""

_ICONS = {
    "show_palette": "command",
    "new_chat": "new-chat",
    "attach_files": "attach",
    "toggle_sidebar": "panel-left",
    "search_chats": "search",
    "rename_chat": "edit",
    "pin_chat": "pin",
    "delete_chat": "trash",
    "export_chat": "save",
    "export_chats": "save",
    "import_chats": "download",
    "send": "send",
    "stop": "stop",
    "regenerate": "regenerate",
    "continue_answer": "continue",
    "edit_last": "edit",
    "copy_last": "copy",
    "copy_chat": "copy",
    "jump_to_end": "arrow-down",
    "open_model": "folder",
    "show_models": "memory",
    "find_models": "download",
    "choose_model": "memory",
    "cancel_load": "close",
    "show_engine": "info",
    "toggle_panel": "panel-right",
    "show_cache": "memory",
    "show_settings": "settings",
    "show_sampling": "thinking",
    "close_notices": "close",
    "show_preferences": "settings",
}


class Actions(QObject):
    """All actions by name; each has a text, a key and a tooltip that says what it does."""

    def __init__(self, window: QWidget, theme: Theme) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        for name, keys in KEYS.items():
            action = QAction(window)
            action.setObjectName(name)
            action.setShortcuts([QKeySequence(key) for key in keys])
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            if name in _ICONS:
                action.setIcon(theme.icon(_ICONS[name]))
            self._actions[name] = action
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

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the language of the window."""
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        return super().eventFilter(watched, event)

    def retranslate(self) -> None:
        """Take the words of the language in force."""
        for name, (text, tip) in self._words().items():
            action = self._actions[name]
            action.setText(text)
            key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(f"{tip} ({key})")
            action.setStatusTip(tip)

    def _words(self) -> dict[str, tuple[str, str]]:
        return {
            "show_palette": (self.tr("All commands…"), self.tr("Find a command by typing part of its name")),
            "new_chat": (
                self.tr("New chat"),
                self.tr("Start with an empty chat; this one stays in the list"),
            ),
            "send": (self.tr("Send"), self.tr("Send what is typed; only its own tokens are read")),
            "stop": (self.tr("Stop"), self.tr("Stop the answer; its text stays")),
            "regenerate": (
                self.tr("Answer again"),
                self.tr("Another version of the last answer; the prompt stays in the cache, so it starts at once"),
            ),
            "continue_answer": (
                self.tr("Continue the answer"),
                self.tr("Let the last answer go on where it ended; nothing is read again"),
            ),
            "edit_last": (
                self.tr("Edit your last message"),
                self.tr("Put your last message back into the composer; what follows the change is read again"),
            ),
            "copy_last": (self.tr("Copy the last answer"), self.tr("Copy the last answer as Markdown")),
            "copy_chat": (self.tr("Copy the whole chat"), self.tr("Copy all messages as Markdown")),
            "focus_composer": (self.tr("Go to the composer"), self.tr("Move the keyboard to the composer")),
            "focus_transcript": (self.tr("Go to the messages"), self.tr("Move the keyboard to the messages")),
            "jump_to_end": (self.tr("Jump to the end"), self.tr("Show the newest message and follow it")),
            "attach_files": (
                self.tr("Attach files…"),
                self.tr("Put the text of files into the message; their tokens are counted before it is sent"),
            ),
            "toggle_sidebar": (self.tr("Show or hide the chats"), self.tr("Show or hide the list of chats")),
            "search_chats": (self.tr("Search in all chats"), self.tr("Find words in titles, messages and files")),
            "previous_chat": (self.tr("Chat above"), self.tr("Open the chat above this one in the list")),
            "next_chat": (self.tr("Chat below"), self.tr("Open the chat below this one in the list")),
            "rename_chat": (self.tr("Rename this chat"), self.tr("Type another title for this chat")),
            "pin_chat": (self.tr("Pin or unpin this chat"), self.tr("Keep this chat at the top of the list, or not")),
            "delete_chat": (self.tr("Delete this chat"), self.tr("Delete this chat; it can be undone for a while")),
            "export_chat": (self.tr("Export this chat…"), self.tr("Write this chat to a Markdown or JSON file")),
            "export_chats": (self.tr("Export all chats…"), self.tr("Write all chats to one file, losing nothing")),
            "import_chats": (
                self.tr("Import chats…"),
                self.tr("Read chats exported from Kvasir, ChatGPT or llama.cpp's web page"),
            ),
            "finish_when_left": (
                self.tr("Finish an answer when another chat is opened"),
                self.tr("On: the answer goes on being written. Off: it is stopped, and its text stays"),
            ),
            "choose_model": (self.tr("Choose a model…"), self.tr("Show the starter and the recent models")),
            "open_model": (
                self.tr("Open a model file…"),
                self.tr("Load a GGUF file in place of the model; the chat is read again by the new one"),
            ),
            "show_models": (
                self.tr("Models on this computer…"),
                self.tr("Show all models that are here, and which fit"),
            ),
            "find_models": (
                self.tr("Find and download models…"),
                self.tr("Search the model hub; what fits is known before anything is downloaded"),
            ),
            "cancel_load": (self.tr("Cancel loading"), self.tr("Give up loading the model")),
            "unload_model": (self.tr("Unload the model"), self.tr("Give all of the model's memory back")),
            "show_engine": (
                self.tr("About the engine…"),
                self.tr("Show versions, back ends, devices and the log"),
            ),
            "toggle_panel": (
                self.tr("Show or hide the panel"),
                self.tr("Show or hide the panel at the side"),
            ),
            "show_cache": (self.tr("Show the cache"), self.tr("Show what the KV cache holds")),
            "show_settings": (
                self.tr("Model and cache settings"),
                self.tr("Show what the model is loaded with, and what other settings would take"),
            ),
            "show_sampling": (
                self.tr("Sampling and system prompt"),
                self.tr("Show how the next answer is sampled"),
            ),
            "float_panel": (
                self.tr("Detach or attach the panel"),
                self.tr("Give the panel a window of its own"),
            ),
            "move_panel": (
                self.tr("Move the panel to the other side"),
                self.tr("Move the panel left or right"),
            ),
            "close_notices": (self.tr("Close all notices"), self.tr("Close all notices")),
            "show_preferences": (
                self.tr("Preferences…"),
                self.tr("Theme, text size, accent colour and language"),
            ),
            "show_about": (self.tr("About Kvasir…"), self.tr("Show the version and all licences")),
            "next_theme": (self.tr("Next theme"), self.tr("Go from system to light to dark")),
            "larger_text": (self.tr("Larger text"), self.tr("Make all text larger")),
            "smaller_text": (self.tr("Smaller text"), self.tr("Make all text smaller")),
            "normal_text": (self.tr("Normal text size"), self.tr("Take text back to its normal size")),
            "next_language": (self.tr("Next language"), self.tr("Switch between English and Chinese")),
            "full_screen": (self.tr("Full screen"), self.tr("Fill the screen, or go back to a window")),
            "quit": (self.tr("Quit"), self.tr("Close Kvasir; an answer under way is stopped")),
        }
