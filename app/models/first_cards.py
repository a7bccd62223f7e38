"""The cards of models to begin with: one that is here already, and one that can be downloaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from app.look import language
from app.look.retranslating import Retranslating
from app.look.theme import Theme
from app.models import download_text, fit_text
from app.models.fit_text import FitText
from app.models.model_card import ModelCard
from engine.api.sentences import Sentence
from engine.models.hub.downloads import Download, DownloadState
from engine.models.hub.suggestions import CPU_BYTES_PER_S, N_CTX, Purpose, Suggested

if TYPE_CHECKING:
    # The main window is to be there first.
    from engine.models.library import LibraryModel


class FirstCard(Retranslating, ModelCard):
    """A model to begin with."""


class FoundCard(FirstCard):
    """A model that is on this computer."""

    def __init__(
        self, theme: Theme, model: LibraryModel, open_model: Callable[[str], object], *, is_first: bool
    ) -> None:
        super().__init__(theme, model.name)
        self._model = model
        path = str(model.path)
        self.title.set_line(model.name, path)
        self._open = self.add_button("openFirst", lambda: open_model(path), "primary" if is_first else "")
        self.retranslate()

    def retranslate(self) -> None:
        """Its size, and where it lies."""
        info = self._model.info
        facts = [info.quantization, language.bytes_text(info.size_bytes)] if info is not None else []
        self.set_facts(" · ".join([*facts, str(self._model.path.parent)]))
        self._open.setText(self.tr("Open"))
        self._open.setToolTip(self.tr("Load it with settings that fit the free memory"))
        self.offer([self._open])


class SuggestedCard(FirstCard):
    """A model that can be downloaded, on its way, or here. Pausing and resuming carry the key of its download."""

    download_wanted = Signal(object)
    pause_wanted = Signal(str)
    resume_wanted = Signal(str)
    open_wanted = Signal(str)

    def __init__(self, theme: Theme, suggested: Suggested, *, is_first: bool) -> None:
        super().__init__(theme, suggested.model.name)
        self.model = suggested.model
        self._suggested = suggested
        self._free_bytes = 0
        self._download: Download | None = None
        self._problem: Sentence | None = None
        self._is_asking = False
        kind = "primary" if is_first else ""
        self._get = self.add_button("downloadFirst", lambda: self.download_wanted.emit(self.model), kind)
        self._pause = self.add_button("pauseFirst", lambda: self.pause_wanted.emit(self._key))
        self._resume = self.add_button("resumeFirst", lambda: self.resume_wanted.emit(self._key))
        self._open = self.add_button("openFirst", lambda: self.open_wanted.emit(self._path), "primary")
        self.retranslate()

    @property
    def _key(self) -> str:
        return self._download.key if self._download is not None else ""

    @property
    def _path(self) -> str:
        return str(self._download.path) if self._download is not None else ""

    @property
    def is_download(self) -> bool:
        """Whether it is on its way, or here."""
        return self._download is not None

    def has_download(self, key: str) -> bool:
        """Whether it shows this one."""
        return self._key == key

    def set_free(self, gpu_bytes: int, ram_bytes: int) -> None:
        """What is free where it would go."""
        self._free_bytes = gpu_bytes if self._suggested.is_on_gpu else ram_bytes
        self.retranslate()

    def set_asking(self) -> None:
        """The hub is asked for it."""
        self._is_asking, self._problem = True, None
        self.retranslate()

    def set_problem(self, sentence: Sentence) -> None:
        """Why it could not begin."""
        self._is_asking, self._problem = False, sentence
        self.retranslate()

    def set_download(self, download: Download | None) -> None:
        """How far it is; None where it is no download."""
        if download is not None:
            self._is_asking, self._problem = False, None
        self._download = download
        self.retranslate()

    def retranslate(self) -> None:
        """What it is, and either whether it fits or how far it is."""
        download = self._download
        state = download.state if download is not None else None
        size = language.bytes_text(self.model.size_bytes)
        self.set_facts(f"{size} · {self._purpose()}")
        self._get.setText(self.tr("Try again") if self._problem else self.tr("Download"))
        self._get.setToolTip(self.tr("Download {0}").format(size))
        self._pause.setText(self.tr("Pause"))
        self._pause.setToolTip(self.tr("Stop for now; what is there stays"))
        self._resume.setText(self.tr("Try again") if state is DownloadState.FAILED else self.tr("Resume"))
        self._resume.setToolTip(self.tr("Go on where it stopped; what is there is checked and kept"))
        self._open.setText(self.tr("Open"))
        self._open.setToolTip(self.tr("Load it with settings that fit the free memory"))
        if state is None:
            self.offer(*([], [self._get]) if self._is_asking else ([self._get],))
        elif state is DownloadState.DONE:
            self.offer([self._open])
        else:
            self.offer([self._resume if state in (DownloadState.PAUSED, DownloadState.FAILED) else self._pause])
        is_under_way = download is not None and state is not DownloadState.DONE
        self.set_progress(download.n_done / max(1, download.n_total) if download and is_under_way else None)
        self.set_fit(self._state(download))

    def _state(self, download: Download | None) -> FitText:
        if download is not None:
            words = download_text.state(download)
            return words if words.line else FitText(download_text.progress(download), "text_2")
        if self._problem is not None:
            return fit_text.of_problem(self._problem)
        return FitText(self.tr("Asking…"), "text_3") if self._is_asking else self._judgement()

    def _judgement(self) -> FitText:
        needed, free = language.bytes_text(self.model.needed_bytes), language.bytes_text(self._free_bytes)
        tips = [
            self.tr("{0} are free. What it takes is worked out from the size of its file, for {1} tokens.").format(
                free, language.number(N_CTX)
            ),
            self.tr("It is planned to the byte when it is opened: the context then gets what room there is."),
            self.tr("Licence: {0}").format(self.model.licence),
        ]
        if not self._suggested.fits:
            words = self.tr("About {0} are needed, and {1} are free: close other programs first")
            return FitText(words.format(needed, free), "warning", "\n".join(tips))
        if self._suggested.is_on_gpu:
            words = self.tr("Fits on the GPU · takes about {0}")
            return FitText(words.format(needed), "success", "\n".join(tips))
        tips.append(
            self.tr(
                "The speed is a guess: for every token a processor reads the whole file, at about {0} per second."
            ).format(language.bytes_text(CPU_BYTES_PER_S))
        )
        speed = language.number(round(self.model.cpu_tokens_per_s))
        words = self.tr("Fits, on the processor · takes about {0} · perhaps {1} tokens/s")
        return FitText(words.format(needed, speed), "success", "\n".join(tips))

    def _purpose(self) -> str:
        return {
            Purpose.ANYWHERE: self.tr("short answers, on any computer"),
            Purpose.EVERYDAY: self.tr("everyday questions in many languages"),
            Purpose.ENGLISH: self.tr("everyday questions in English"),
            Purpose.REASONING: self.tr("thinks before it answers; many languages"),
            Purpose.WRITING: self.tr("writing and conversation"),
            Purpose.EXACT: self.tr("mathematics, logic and code"),
            Purpose.ALL_ROUND: self.tr("knows a lot, writes well, many languages"),
            Purpose.STRONGEST: self.tr("the strongest here; thinks before it answers"),
        }[self.model.purpose]
