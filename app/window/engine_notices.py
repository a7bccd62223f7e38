"""Says in notices what went wrong or was done differently."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QDesktopServices

from app.link.model_loader import ModelLoader
from app.link.session import EngineSession
from app.look.language import in_words
from app.look.links import Link
from app.store.preferences_store import Problem, ProblemKind
from app.widgets.notices import Level, Notices
from engine.api.errors import EngineError, ErrorCode
from engine.api.messages import EngineLost, Event, Failed, Notice, NoticeCode

_LEVELS = {
    NoticeCode.CPU_FALLBACK: Level.WARNING,
    NoticeCode.ENGINE_RESTARTED: Level.WARNING,
    NoticeCode.SETTING_ADJUSTED: Level.WARNING,
    NoticeCode.TEMPLATE: Level.INFO,
    NoticeCode.CACHE: Level.INFO,
    NoticeCode.BACKEND_UNUSABLE: Level.INFO,
}
"""CPU_ONLY is not among them: it is no news at each start, and the engine's details say it."""


class EngineNotices(QObject):
    """``read_log`` gives the end of the engine's log, the detail of an error that brings none itself."""

    def __init__(
        self,
        notices: Notices,
        session: EngineSession,
        loader: ModelLoader,
        read_log: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._notices = notices
        self._read_log = read_log
        session.event_received.connect(self._on_event)
        loader.failed.connect(lambda _path, error: self.tell_failed(error))

    def tell_failed(self, error: Failed | EngineError) -> None:
        """A request could not be done, or a file not be opened."""
        level = Level.WARNING if error.code is ErrorCode.PROMPT_TOO_LONG else Level.ERROR
        detail = error.detail
        if level is Level.ERROR and isinstance(error, Failed):
            detail = "\n\n".join(filter(None, (detail, self._read_log())))
        self._notices.tell(level, in_words(error.sentence), detail)

    def tell_choose_model(self) -> None:
        """Ask for a model: there is none to answer."""
        self._notices.tell(
            Level.INFO, self.tr("There is no model to answer yet: choose one above. What you typed stays.")
        )

    def tell_problem(self, problem: Problem) -> None:
        """The preferences file could not be read or written."""
        kept = str(problem.kept_as) if problem.kept_as else str(problem.path)
        sentence = {
            ProblemKind.DAMAGED: self.tr(
                "The preferences could not be read, so the defaults hold. The old file is {0}."
            ),
            ProblemKind.FROM_THE_FUTURE: self.tr(
                "The preferences were written by a newer Kvasir, so the defaults hold. The old file is {0}."
            ),
            ProblemKind.WRONG_VALUES: self.tr(
                "Some preferences made no sense and are at their defaults. The file as it was is {0}."
            ),
            ProblemKind.UNREADABLE: self.tr(
                "The preferences file {0} can't be read, so the defaults hold and changes are not kept. "
                "Check who may read it."
            ),
            ProblemKind.NOT_SAVED: self.tr(
                "The preferences can't be saved in {0}, so changes hold only until Kvasir closes. "
                "Check the folder's permissions and free space."
            ),
        }[problem.kind]
        self._notices.tell(Level.WARNING, sentence.format(kept), problem.detail)

    def offer_link(self, address: str) -> None:
        """A link was pressed: it is shown, and opens only when that is confirmed."""
        link = Link(address)
        if not link.can_open:
            self._notices.tell(Level.WARNING, self.tr("This link is not opened: {0}").format(link.address))
            return
        question = self.tr("Open this link outside of Kvasir? It leads to {0}.").format(link.target)
        self._notices.tell(
            Level.INFO,
            f"{question}\n{link.address}",
            action=(self.tr("Open"), lambda: QDesktopServices.openUrl(link.url)),
        )

    def tell_internal(self, detail: str) -> None:
        """The window itself made a mistake."""
        self._notices.tell(
            Level.ERROR,
            self.tr("Something went wrong in the window. Your text is safe; the details help to report it."),
            detail,
        )

    def _on_event(self, event: Event) -> None:
        if isinstance(event, EngineLost):
            self._notices.tell(Level.ERROR, in_words(event.sentence), event.log_tail)
        elif isinstance(event, Notice) and event.code in _LEVELS:
            self._notices.tell(_LEVELS[event.code], in_words(event.sentence), event.detail)
        elif isinstance(event, Failed) and event.request_id is None:
            self.tell_failed(event)
