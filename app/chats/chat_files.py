"""Writes chats to files that a person chooses, and reads them from such."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.chats.chat_saver import ChatSaver
from app.link.background import Background
from app.store.files import Imported, ImportProblem, ImportRefusedError, read_chats
from app.store.records import MAX_TITLE
from app.widgets.notices import Level, Notices

TIMEOUT_S = 2.0
"""The end of the program waits no longer for a file that is being read or written."""

log = logging.getLogger("kvasir")


class ChatFiles(QObject):
    """Files are read and written in the background; what became of them is in the notices."""

    def __init__(self, saver: ChatSaver, notices: Notices, window: QWidget) -> None:
        super().__init__(window)
        self._saver = saver
        self._notices = notices
        self._window = window
        self._background = Background("chat-files", self)

    def close(self) -> None:
        """Wait a moment for what is under way."""
        self._background.close(TIMEOUT_S)

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
        unwritten = self._saver.unwritten()
        chat_ids = None if chat_id is None else [chat_id]

        def write() -> None:
            try:
                outcome: tuple[int | None, Exception | None] = self._saver.export(path, chat_ids, unwritten)
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
            self._saver.check()

    def import_file(self, path: Path) -> None:
        """Read a file of chats in the background, and put them into the list."""

        def read() -> None:
            try:
                found = read_chats(path)
            except ImportRefusedError as error:
                self._background.post(self._on_refused, path.name, error)
            else:
                self._background.post(lambda: self._saver.add(found, partial(self._on_imported, found)))

        self._background.run(read)

    def ask_to_import(self) -> None:
        """Ask for a file of chats."""
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
        title = next((chat.title for chat in self._saver.chats() if chat.id == chat_id), "")
        safe = "".join(one if one.isalnum() or one in " -_.," else "_" for one in title[:MAX_TITLE]).strip(" .")
        return f"{safe[:60] or 'chat'}.md"
