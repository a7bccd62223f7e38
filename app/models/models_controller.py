"""Brings together the models on this machine, those on the hub, the downloads, and the window that shows them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLineEdit

from app.link.file_check import held
from app.link.model_loader import ModelLoader
from app.link.status import EngineState
from app.look.language import in_words
from app.look.theme import Theme
from app.models import fit_text
from app.models.first_run import free_memory
from app.models.fit_text import FitText
from app.models.workers import Workers
from app.store.preferences_store import PreferencesStore
from app.widgets.notices import Level, Notices
from engine.api.errors import EngineError
from engine.api.messages import ChooseSettings, Failed, PlanAnswer, SettingsChosen
from engine.api.plan import Choice
from engine.api.sentences import Sentence
from engine.api.settings import LoadSettings
from engine.models.hub.downloads import Download, DownloadState
from engine.models.hub.remote import RemoteModel
from engine.models.hub.suggestions import suggestions_for

if TYPE_CHECKING:
    # The main window is to be there first.
    from app.models.models_window import ModelsWindow
    from engine.models.library import Listing

log = logging.getLogger("kvasir")
ACTIVE = (DownloadState.WAITING, DownloadState.RUNNING, DownloadState.CHECKING)


class ModelsController(QObject):
    """``loader`` loads files; ``notices`` show in the main window what was downloaded.

    ``shows_elsewhere`` says whether the end of a download can be seen without a notice, by its key.

    The window is made when it is first wanted, and nothing is asked of the disk or the hub before.
    """

    def __init__(
        self,
        theme: Theme,
        loader: ModelLoader,
        store: PreferencesStore,
        workers: Workers,
        notices: Notices,
    ) -> None:
        super().__init__()
        session = loader.session
        self._theme, self._session, self._store = theme, session, store
        self._library, self._hub, self._plans = workers.library, workers.hub, workers.plans
        self._workers = workers
        self._loader, self._notices = loader, notices
        self._window: ModelsWindow | None = None
        self._choices: dict[str, Choice] = {}
        self._failures: dict[str, Failed] = {}
        self._header_keys: dict[str, str] = {}
        self._listing: Listing | None = None
        self._states: dict[str, DownloadState] = {}
        self.shows_elsewhere: Callable[[str], bool] = lambda _key: False
        self._library.listed.connect(self._on_listed)
        self._hub.judged.connect(self._on_judged)
        self._hub.downloads_changed.connect(self._on_downloads)
        session.status_changed.connect(lambda _status: self._show_loaded())
        loader.failed.connect(lambda path, error: self._on_not_loaded(path, error.sentence))

    def start(self) -> None:
        """Go on with the downloads of the last time."""
        self._hub.queue.start()

    def close(self) -> None:
        """Stop everything that works in the background."""
        self._workers.close()

    def close_window(self) -> None:
        """Give the window up; another one is made when it is wanted again."""
        if self._window is not None:
            self._window.close()
            self._window.deleteLater()
            self._window = None

    def show_library(self) -> None:
        """Show the models on this machine."""
        window = self._make_window()
        window.show_page(window.library)

    def show_finder(self) -> None:
        """Show where models are found."""
        window = self._make_window()
        window.show_page(window.finder)
        window.finder.field.setFocus()

    # Building

    def _make_window(self) -> ModelsWindow:
        if self._window is not None:
            return self._window
        from app.models.models_window import ModelsWindow

        window = self._window = ModelsWindow(self._theme, self._notices.window())
        window.shown.connect(self._on_shown)
        window.retranslated.connect(self._show_again)
        library, finder, downloads = window.library, window.finder, window.downloads
        library.load_wanted.connect(self._loader.open)
        library.add_folder_wanted.connect(self.ask_for_folder)
        library.remove_folder_wanted.connect(self.remove_folder)
        library.open_folder_wanted.connect(self._open_folder)
        finder.asked.connect(self._hub.ask)
        finder.repo_wanted.connect(self._hub.open)
        finder.judge_wanted.connect(self._hub.judge)
        finder.download_wanted.connect(self._download)
        finder.token_wanted.connect(self._ask_for_token)
        self._hub.found.connect(finder.show_found)
        self._hub.opened.connect(finder.show_repo)
        self._hub.failed.connect(lambda error: finder.show_problem(in_words(self._sentence(error))))
        self._hub.token_not_kept.connect(lambda error: finder.show_problem(in_words(self._sentence(error))))
        self._hub.not_judged.connect(
            lambda key, error: finder.show_not_judged(key, fit_text.of_problem(self._sentence(error)))
        )
        queue = self._hub.queue
        downloads.pause_wanted.connect(queue.pause)
        downloads.resume_wanted.connect(queue.resume)
        downloads.remove_wanted.connect(queue.remove)
        downloads.load_wanted.connect(self._loader.open)
        self._show_loaded()
        self._show_downloads(queue.downloads)
        return window

    # What happens

    def _on_shown(self) -> None:
        """Free memory may have changed since the last time, and so may the disk."""
        self._choices.clear()
        self._failures.clear()
        self.look()
        if self._window is not None:
            self._window.library.set_folders(self._store.current.model_folders)
            self._window.finder.suggest(suggestions_for(*free_memory(self._session.status.engine)))

    def look(self) -> None:
        """Look for models on this machine; the library then emits what it found."""
        self._library.set_added([Path(folder) for folder in self._store.current.model_folders])
        self._library.look()

    def _on_listed(self, listing: Listing) -> None:
        known = {one.path: one for one in self._listing.models} if self._listing is not None else {}
        for model in listing.models:
            if known.get(model.path) != model:
                self._choices.pop(str(model.path), None)
                self._failures.pop(str(model.path), None)
        self._listing = listing
        self._show_listing()
        if self._window is None or not self._window.isVisible():
            # How they fit is found out when somebody looks.
            return
        for model in listing.models:
            path = str(model.path)
            if model.problem is None and path not in self._choices and path not in self._failures:
                self._ask_what_fits(path, self._settings_for(path))

    def _on_judged(self, key: str, path: str) -> None:
        self._header_keys[path] = key
        self._ask_what_fits(path, LoadSettings(), is_urgent=True)

    def _ask_what_fits(self, path: str, settings: LoadSettings, *, is_urgent: bool = False) -> None:
        question = ChooseSettings(path, settings, held(self._session.status))
        self._plans.ask(f"library {path}", question, partial(self._on_fit, path), is_urgent=is_urgent)

    def _on_fit(self, path: str, answer: PlanAnswer) -> None:
        if isinstance(answer, SettingsChosen):
            self._choices[path] = answer.choice
            self._failures.pop(path, None)
            self._show_choice(path)
        elif isinstance(answer, Failed):
            self._failures[path] = answer
            self._show_fit(path, fit_text.of_problem(answer.sentence))

    def _show_listing(self) -> None:
        if self._window is not None and self._listing is not None:
            self._window.library.show_listing(self._listing)

    def _show_again(self) -> None:
        """Say in the language in force how the models fit."""
        for path in self._choices:
            self._show_choice(path)
        for path, failed in self._failures.items():
            self._show_fit(path, fit_text.of_problem(failed.sentence))

    def _show_choice(self, path: str) -> None:
        self._show_fit(path, fit_text.of_choice(self._choices[path]))

    def _show_fit(self, path: str, fit: FitText) -> None:
        if self._window is None:
            return
        if path in self._header_keys:
            self._window.finder.show_fit(self._header_keys[path], fit)
        else:
            self._window.library.show_fit(path, fit)

    def _download(self, model: RemoteModel) -> None:
        try:
            self._hub.queue.add(model)
        except EngineError as error:
            # Its name would lead out of the folder.
            if self._window is not None:
                self._window.finder.show_problem(in_words(self._sentence(error)))

    def _on_downloads(self, downloads: tuple[Download, ...]) -> None:
        before, self._states = self._states, {one.key: one.state for one in downloads}
        for one in downloads:
            if one.state is DownloadState.DONE and before.get(one.key) in ACTIVE:
                self._on_downloaded(one)
            if one.problem is not None and before.get(one.key) is not DownloadState.FAILED:
                log.warning("download of %s: %s %s", one.key, one.problem.code, one.problem.detail)
        self._show_downloads(downloads)

    def _on_downloaded(self, download: Download) -> None:
        if self._window is not None and self._window.isVisible():
            self.look()
        elif not self.shows_elsewhere(download.key):
            words = self.tr("“{0}” is downloaded.").format(download.model.name)
            path = str(download.path)
            self._notices.tell(Level.INFO, words, action=(self.tr("Load"), lambda: self._loader.open(path)))

    def _show_downloads(self, downloads: tuple[Download, ...]) -> None:
        if self._window is None:
            return
        self._window.downloads.show_downloads(downloads)
        self._window.finder.set_queued(frozenset(one.key for one in downloads))
        self._window.set_n_active(sum(one.state in ACTIVE for one in downloads))

    def _show_loaded(self) -> None:
        status = self._session.status
        loading = status.model_path if status.state is EngineState.LOADING else None
        if self._window is not None:
            self._window.library.set_loaded(self._loaded_path(), loading)

    def _on_not_loaded(self, path: str, sentence: Sentence) -> None:
        """The main window says so too, but may lie behind."""
        if self._window is not None and self._window.isVisible():
            self._window.library.show_fit(path, fit_text.of_problem(sentence))
            self._window.downloads.show_not_loaded(path, sentence)

    # What there is

    def _settings_for(self, path: str) -> LoadSettings:
        return self._store.current.setup(path).load

    def _loaded_path(self) -> str | None:
        facts = self._session.status.facts
        return facts.path if facts is not None else None

    def _sentence(self, error: EngineError) -> Sentence:
        log.info("models: %s %s", error.code, error.detail)
        return error.sentence

    # Asking

    def ask_for_folder(self) -> None:
        """Ask for a folder whose models are listed too."""
        dialog = QFileDialog(self._window or self._notices.window(), self.tr("Add a folder of models"))
        dialog.setObjectName("addFolderDialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.add_folder)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def add_folder(self, folder: str) -> None:
        """List the models of a folder too."""
        known = self._store.current.model_folders
        self._set_folders((*(one for one in known if one != folder), folder))

    def remove_folder(self, folder: str) -> None:
        """List the models of an added folder no more; they stay where they are."""
        self._set_folders(tuple(one for one in self._store.current.model_folders if one != folder))

    def _set_folders(self, folders: tuple[str, ...]) -> None:
        self._store.update(model_folders=folders)
        if self._window is not None:
            self._window.library.set_folders(folders)
        self.look()

    def _open_folder(self) -> None:
        folder = self._hub.models
        folder.mkdir(parents=True, exist_ok=True)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _ask_for_token(self) -> None:
        dialog = QInputDialog(self._window)
        dialog.setObjectName("tokenDialog")
        dialog.setWindowTitle(self.tr("Access token"))
        dialog.setLabelText(
            self.tr("For gated and private models. It is kept in the system's keyring; leave it empty to forget it.")
        )
        dialog.setTextEchoMode(QLineEdit.EchoMode.Password)
        dialog.textValueSelected.connect(self._hub.set_token)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
