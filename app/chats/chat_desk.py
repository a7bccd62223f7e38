"""Brings together the chats on disk, the sidebar that lists them, and the one that is open."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QWidget

from app.chats.chat_session import ChatSession
from app.chats.keeper import ChatKeeper
from app.chats.sidebar import Sidebar
from app.chats.turn_actions import TurnActions
from app.commands.actions import Actions
from app.link.background import Background
from app.link.session import EngineSession
from app.settings.sampling_panel import SamplingPanel
from app.store.files import Imported, ImportProblem, ImportRefusedError, read_chats
from app.store.preferences import PreferencesStore
from app.store.records import MAX_TITLE, Turn, WholeChat
from app.store.writer import StoreProblem, StoreProblemKind
from app.widgets.notices import Level, Notices
from engine.api.messages import EngineReady, Event
from engine.api.settings import SamplingSettings

SIDEBAR_MENU = ("search_chats", "import_chats", "export_chats")
_LEVELS = {
    StoreProblemKind.DAMAGED: Level.WARNING,
    StoreProblemKind.EXCHANGED: Level.WARNING,
    StoreProblemKind.FROM_THE_FUTURE: Level.WARNING,
    StoreProblemKind.DISK_FULL: Level.ERROR,
    StoreProblemKind.NOT_WRITABLE: Level.ERROR,
    StoreProblemKind.SAVED_AGAIN: Level.INFO,
    StoreProblemKind.LEFT_OUT: Level.WARNING,
}
FILE_TIMEOUT_S = 2.0
"""The end of the program waits no longer for a file that is being read or written."""

log = logging.getLogger("kvasir")


class ChatDesk(QObject):
    """``keeper`` has the chats, ``sidebar`` shows them."""

    def __init__(
        self,
        path: Path,
        chat: ChatSession,
        turn_actions: TurnActions,
        sidebar: Sidebar,
        notices: Notices,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._chat = chat
        self._turn_actions = turn_actions
        self._notices = notices
        self._window = window
        self._background = Background("chat-files", self)
        self._settings_panel: SamplingPanel | None = None
        self._listed: date | None = None
        self._refusal = ""
        self.sidebar = sidebar
        self.keeper = ChatKeeper(path, chat, self)
        self.keeper.problem.connect(self._on_problem)
        self.keeper.chats_changed.connect(self._on_chats_changed)
        chat.opened.connect(self._on_opened)
        turn_actions.deleted.connect(self._on_turns_deleted)
        turn_actions.copied.connect(self._on_copied)
        sidebar.open_requested.connect(self.open)
        sidebar.rename_requested.connect(self.keeper.rename)
        sidebar.pin_requested.connect(self.keeper.pin)
        sidebar.delete_requested.connect(self.delete)
        sidebar.export_requested.connect(self.ask_to_export)
        sidebar.set_source(self.keeper.chats, self.keeper.search)

    def connect_actions(self, actions: Actions, engine: EngineSession, store: PreferencesStore) -> None:
        """Say what the actions about chats do."""
        self.keeper.purged.connect(partial(_forget, engine))
        self.sidebar.forget_requested.connect(engine.forget_chat)
        engine.event_received.connect(partial(_tell_known, engine, self.keeper))
        open_id = lambda: self._chat.open_chat.head.id  # noqa: E731
        for name, do in {
            "new_chat": self.new_chat,
            "toggle_sidebar": lambda: self.sidebar.setVisible(self.sidebar.isHidden()),
            "search_chats": self.sidebar.focus_search,
            "previous_chat": lambda: self._open_neighbour(-1),
            "next_chat": lambda: self._open_neighbour(1),
            "rename_chat": lambda: self.sidebar.rename(open_id()),
            "pin_chat": self._pin_open,
            "delete_chat": lambda: self.delete(open_id()),
            "export_chat": lambda: self.ask_to_export(open_id()),
            "export_chats": lambda: self.ask_to_export(None),
            "import_chats": self._ask_to_import,
        }.items():
            actions[name].triggered.connect(partial(_do, do))
        for name in SIDEBAR_MENU:
            self.sidebar.menu.addAction(actions[name])
        self.sidebar.menu.addSeparator()
        finish: QAction = actions["finish_when_left"]
        finish.setCheckable(True)
        finish.setChecked(store.current.finish_when_left)
        finish.toggled.connect(lambda is_on: store.update(finish_when_left=is_on))
        self.sidebar.menu.addAction(finish)

    def connect_settings(self, panel: SamplingPanel, store: PreferencesStore) -> None:
        """What a person sets holds for the open chat, and for those that are begun after it."""
        self._settings_panel = panel

        def set_sampling(sampling: SamplingSettings) -> None:
            self._chat.set_settings(replace(self._chat.settings, sampling=sampling))
            store.update(sampling=sampling)

        def set_system_prompt(text: str) -> None:
            self._chat.set_settings(replace(self._chat.settings, system_prompt=text))
            store.update(system_prompt=text)

        panel.policy_edited.connect(lambda policy: self._chat.set_settings(replace(self._chat.settings, policy=policy)))
        panel.prompts.set_source(self.keeper.presets)
        panel.prompt_kept.connect(self.keeper.save_preset)
        panel.prompts.removed.connect(self.keeper.delete_preset)
        panel.sampling_edited.connect(set_sampling)
        panel.system_prompt_edited.connect(set_system_prompt)

    def new_chat(self) -> None:
        """Start an empty chat."""
        self._flush()
        self._chat.new_chat()

    def open(self, chat_id: str, turn_id: int | None = None) -> None:
        """Open a chat, at a turn if there is one."""
        self._flush()
        at_work = next((chat for chat in self._chat.chats if chat.head.id == chat_id), None)
        whole = WholeChat(at_work.head) if at_work is not None else self.keeper.load(chat_id)
        if whole is not None:
            self._chat.open(whole, turn_id)

    def open_draft(self) -> None:
        """Open the latest chat if it is one of which only a draft was kept."""
        chats = self.keeper.chats()
        latest = max(chats, key=lambda chat: chat.changed, default=None)
        whole = self.keeper.load(latest.id) if latest is not None else None
        if whole is not None and whole.chat.draft and not whole.turns:
            self._chat.open(whole)

    def delete(self, chat_id: str) -> None:
        """Delete a chat, and offer to undo it."""
        if self.sidebar.model.index_of(chat_id).isValid():
            was_open = self._chat.open_chat.head.id == chat_id
            self.keeper.delete(chat_id)
            self._chat.close_chat(chat_id)
            self._notices.tell(
                Level.INFO,
                self.tr("The chat was deleted."),
                action=(self.tr("Undo"), lambda: self._restore(chat_id, was_open=was_open)),
            )

    def close(self) -> None:
        """Write what is left."""
        self._background.close(FILE_TIMEOUT_S)
        self.keeper.close()

    # Files

    def ask_to_export(self, chat_id: str | None) -> None:
        """Ask where to write one chat, or all."""
        dialog = QFileDialog(self._window, self.tr("Export"))
        dialog.setObjectName("exportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        json_files, markdown_files = self.tr("All of it, to import again (*.json)"), self.tr("Markdown, to read (*.md)")
        dialog.setNameFilters([json_files] if chat_id is None else [markdown_files, json_files])
        dialog.setDefaultSuffix("json" if chat_id is None else "md")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("json" if chosen == json_files else "md"))
        dialog.selectFile(self._file_name(chat_id))
        dialog.fileSelected.connect(lambda path: self.export(Path(path), chat_id))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def export(self, path: Path, chat_id: str | None) -> None:
        """Write one chat, or all, to a file, in the background."""
        # As it is now: where the disk of the chats is full, a file on another one is the way to keep them.
        unwritten = self.keeper.unwritten()
        chat_ids = None if chat_id is None else [chat_id]

        def write() -> None:
            try:
                outcome: tuple[int | None, Exception | None] = self.keeper.export(path, chat_ids, unwritten)
            except Exception as error:
                log.info("the chats can't be exported", exc_info=True)
                outcome = (None, error)
            self._background.post(self._on_file_written, path, *outcome)

        self._background.run(write)

    def _on_file_written(self, path: Path, n_chats: int | None, error: Exception | None) -> None:
        if n_chats is None:
            sentence = self.tr("The chats could not be written to {0}. Choose another folder.").format(path)
            self._notices.tell(Level.ERROR, sentence, str(error))
            return
        sentence = self.tr("%Ln chat(s) exported to {0}.", "", n_chats).format(path)
        if error is None:
            self._notices.tell(Level.INFO, sentence)
        else:
            sentence += " " + self.tr(
                "The file of the chats is damaged, and what can't be read of it is missing there."
            )
            self._notices.tell(Level.WARNING, sentence, str(error))
            self.keeper.check()

    def import_file(self, path: Path) -> None:
        """Read a file of chats in the background, and put them into the list."""

        def read() -> None:
            try:
                found = read_chats(path)
            except ImportRefusedError as error:
                self._background.post(self._on_refused, path.name, error)
            else:
                self._background.post(lambda: self.keeper.add(found, partial(self._on_imported, found)))

        self._background.run(read)

    def _ask_to_import(self) -> None:
        dialog = QFileDialog(self._window, self.tr("Import chats"))
        dialog.setObjectName("importDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        kinds = self.tr("Chats of Kvasir, ChatGPT and llama.cpp, Markdown (*.json *.jsonl *.zip *.md)")
        dialog.setNameFilters([kinds, self.tr("All files (*)")])
        dialog.fileSelected.connect(lambda path: self.import_file(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_refused(self, name: str, error: ImportRefusedError) -> None:
        sentence = {
            ImportProblem.UNREADABLE: self.tr("“{0}” can't be read. Check that it is there and whole."),
            ImportProblem.TOO_LARGE: self.tr("“{0}” is too large to import. Export fewer chats at a time."),
            ImportProblem.UNKNOWN_FORMAT: self.tr(
                "“{0}” is no file of chats that Kvasir knows: its own, ChatGPT's, llama.cpp's, or Markdown."
            ),
            ImportProblem.FROM_THE_FUTURE: self.tr("“{0}” was written by a newer Kvasir. Update this one first."),
        }[error.problem]
        self._notices.tell(Level.WARNING, sentence.format(name), error.detail)

    def _on_imported(self, found: Imported, counts: tuple[int, int] | None) -> None:
        if counts is None:
            return
        n_new, n_known = counts
        text = self.tr("%Ln chat(s) imported.", "", n_new)
        if n_known:
            text += " " + self.tr("%Ln chat(s) were here already.", "", n_known)
        n_left_out = len(found.left_out) + len(found.chats) - n_new - n_known
        if n_left_out:
            text += " " + self.tr("%Ln part(s) of the file made no sense and were left out.", "", n_left_out)
        self._notices.tell(Level.WARNING if n_left_out else Level.INFO, text, "\n".join(found.left_out))

    def _file_name(self, chat_id: str | None) -> str:
        if chat_id is None:
            return "kvasir-chats.json"
        index = self.sidebar.model.index_of(chat_id)
        title = str(index.data()) if index.isValid() else ""
        safe = "".join(one if one.isalnum() or one in " -_.," else "_" for one in title[:MAX_TITLE]).strip(" .")
        return f"{safe[:60] or 'chat'}.md"

    # What happens

    def _open_neighbour(self, step: int) -> None:
        chat_id = self.sidebar.neighbour(self._chat.open_chat.head.id, step)
        if chat_id is not None:
            self.open(chat_id)

    def _pin_open(self) -> None:
        chat_id = self._chat.open_chat.head.id
        pinned = next((chat.is_pinned for chat in self.keeper.chats() if chat.id == chat_id), None)
        if pinned is not None:
            self.keeper.pin(chat_id, not pinned)

    def _restore(self, chat_id: str, *, was_open: bool) -> None:
        self.keeper.restore(chat_id)
        if was_open:
            self.open(chat_id)

    def _flush(self) -> None:
        """What was typed a moment ago belongs to the chat that is left."""
        if self._settings_panel is not None:
            self._settings_panel.flush()
        self.keeper.save()

    def _on_opened(self) -> None:
        if self._settings_panel is not None:
            settings = self._chat.settings
            self._settings_panel.show_settings(settings.system_prompt, settings.sampling, settings.policy)
        self.sidebar.set_opened(self._chat.open_chat.head.id)

    def look_again(self) -> None:
        """Another day may have begun."""
        if datetime.now().astimezone().date() != self._listed:
            self._on_chats_changed()

    def _on_chats_changed(self) -> None:
        self._listed = datetime.now().astimezone().date()
        self.sidebar.refresh()
        self.sidebar.set_opened(self._chat.open_chat.head.id)

    def _on_turns_deleted(self, chat_id: str, removed: tuple[Turn, ...]) -> None:
        self._notices.tell(
            Level.INFO,
            self.tr("%Ln message(s) deleted.", "", len(removed)),
            action=(self.tr("Undo"), lambda: self._turn_actions.restore(chat_id, removed)),
        )

    def _on_copied(self, whole: WholeChat) -> None:
        self.keeper.add_copy(whole)
        self._chat.open(whole)

    def _on_problem(self, problem: StoreProblem) -> None:
        log.warning("chats: %s %s %s", problem.kind, problem.path, problem.detail)
        level, sentence = _LEVELS[problem.kind], self._sentence(problem).format(problem.path)
        if level is Level.ERROR:
            self._refusal = sentence
        elif problem.kind is StoreProblemKind.SAVED_AGAIN:
            self._notices.take_back(self._refusal)
        self._notices.tell(level, sentence, problem.detail)

    def _sentence(self, problem: StoreProblem) -> str:
        return {
            StoreProblemKind.DAMAGED: self.tr(
                "The file of the chats was damaged. %Ln message(s) were brought over; the old file is {0}.",
                "",
                problem.n_messages,
            ),
            StoreProblemKind.EXCHANGED: self.tr(
                "The file of the chats was put aside or exchanged. What is open here is kept in the new one: {0}."
            ),
            StoreProblemKind.FROM_THE_FUTURE: self.tr(
                "The chats were written by a newer Kvasir, so this one leaves them alone and keeps nothing. "
                "Update Kvasir to see them."
            ),
            StoreProblemKind.DISK_FULL: self.tr(
                "The disk is full, so what is said now is not kept yet. "
                "Free some space: it is written as soon as there is room."
            ),
            StoreProblemKind.NOT_WRITABLE: self.tr(
                "The chats can't be written to {0}, so what is said now is not kept yet. "
                "Check the folder's permissions."
            ),
            StoreProblemKind.SAVED_AGAIN: self.tr("Everything that was said is kept again."),
            StoreProblemKind.LEFT_OUT: self.tr(
                "Something of this chat could not be kept, because of a mistake in Kvasir. "
                "Copy what matters to you before you close the window."
            ),
        }[problem.kind]


def _do(what: Callable[[], object], _is_checked: bool = False) -> None:
    what()


def _forget(engine: EngineSession, chat_ids: Iterable[str]) -> None:
    for chat_id in chat_ids:
        engine.forget_chat(chat_id)


def _tell_known(engine: EngineSession, keeper: ChatKeeper, event: Event) -> None:
    """A new engine hears which chats there are: what it kept of others was deleted while there was none to tell."""
    known = keeper.known_ids() if isinstance(event, EngineReady) else None
    if known is not None:
        engine.forget_other_chats(known)
