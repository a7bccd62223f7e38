"""Attaches files to the next message: reads them in the background, counts their tokens, says why one can't be read."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QToolButton, QWidget

from app.composer.composer import Composer
from app.link.background import Background
from app.link.session import EngineSession
from app.store.attachments import AttachmentProblem, AttachmentRefusedError, read_attachment
from app.store.records import Attachment, composed
from app.widgets.notices import Level, Notices
from engine.api.messages import Event, TokensCounted
from engine.api.valid import valid_text

MAX_FILES = 20
CLOSE_SECONDS = 2.0
log = logging.getLogger("kvasir")


class Attaching(QObject):
    """What files hold arrives in the composer once they are read."""

    def __init__(
        self, composer: Composer, session: EngineSession, notices: Notices, window: QWidget, action: QAction
    ) -> None:
        super().__init__(window)
        button = QToolButton()
        button.setObjectName("attachButton")
        button.setDefaultAction(action)
        button.setIconSize(QSize(18, 18))
        composer.add_tool(button)
        self._composer = composer
        self._session = session
        self._notices = notices
        self._window = window
        self._background = Background("attachments", self)
        self._asked: dict[int, Attachment] = {}
        self._counted: dict[int, TokensCounted] = {}
        composer.attachments_changed.connect(self._count)
        composer.too_large.connect(lambda name: self._refuse(AttachmentProblem.TOO_LARGE, name))
        session.event_received.connect(self._on_event)
        session.status_changed.connect(self._count)

    def ask(self) -> None:
        """Let the person choose files."""
        dialog = QFileDialog(self._window, self.tr("Attach files"))
        dialog.setObjectName("attachDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([self.tr("Text, Markdown, code and PDF (*)")])
        dialog.filesSelected.connect(self.attach)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def attach(self, paths: Iterable[str]) -> None:
        """Read files, and add them to the message when they are read."""
        chosen = [Path(path) for path in paths][:MAX_FILES]
        self._background.run(partial(self._read_all, chosen))

    def close(self) -> None:
        """Wait a moment for what is still being read."""
        self._background.close(CLOSE_SECONDS)

    def _read_all(self, paths: list[Path]) -> None:
        for path in paths:
            try:
                self._background.post(self._on_read, read_attachment(path))
            except AttachmentRefusedError as error:
                self._background.post(self._on_refused, error)
            except Exception as error:
                log.exception("a file could not be read")
                refused = AttachmentRefusedError(AttachmentProblem.UNREADABLE, path.name, repr(error))
                self._background.post(self._on_refused, refused)

    def _on_read(self, attachment: Attachment) -> None:
        self._composer.attach(attachment)
        self._composer.focus()

    def _on_refused(self, error: AttachmentRefusedError) -> None:
        self._refuse(error.problem, error.name, error.detail)

    def _refuse(self, problem: AttachmentProblem, name: str, detail: str = "") -> None:
        self._notices.tell(Level.WARNING, self._sentence(problem).format(valid_text(name)), detail)

    def _sentence(self, problem: AttachmentProblem) -> str:
        return {
            AttachmentProblem.UNREADABLE: self.tr("“{0}” can't be read. Check that it is there and who may read it."),
            AttachmentProblem.TOO_LARGE: self.tr("“{0}” is too large to attach. Attach the part of it that matters."),
            AttachmentProblem.NOT_TEXT: self.tr(
                "“{0}” is not text. Text, Markdown, code and PDF files can be attached."
            ),
            AttachmentProblem.EMPTY: self.tr("“{0}” is empty."),
            AttachmentProblem.LOCKED_PDF: self.tr("“{0}” is locked with a password. Save a copy without one."),
            AttachmentProblem.DAMAGED_PDF: self.tr("“{0}” is a damaged PDF. Save it again with another program."),
            AttachmentProblem.PICTURES_ONLY: self.tr(
                "“{0}” holds pictures of text and no text. Run text recognition on it first."
            ),
        }[problem]

    def _count(self) -> None:
        """Ask for the tokens of what was not counted yet; the engine answers between two answers of its own."""
        if not self._session.status.can_answer:
            return
        waiting = {id(one) for one in self._asked.values()}
        for attachment in self._composer.attachments:
            if (known := self._counted.get(id(attachment))) is not None:
                self._show(attachment, known)
            elif id(attachment) not in waiting:
                request_id = self._session.count_tokens((), composed((attachment,), ""))
                self._asked[request_id] = attachment

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TokensCounted) and (attachment := self._asked.pop(event.request_id, None)) is not None:
            kept = {id(one) for one in self._composer.attachments}
            self._counted = {key: known for key, known in self._counted.items() if key in kept}
            self._counted[id(attachment)] = event
            self._show(attachment, event)

    def _show(self, attachment: Attachment, counted: TokensCounted) -> None:
        facts = self._session.status.facts
        share = counted.n_draft / facts.n_ctx if facts and facts.n_ctx else None
        self._composer.show_tokens(attachment, counted.n_draft, share, is_estimate=counted.is_estimate)
